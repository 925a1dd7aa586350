import ArgumentParser
import Foundation
import WaylayInspector

extension InspectorSizes {
  struct Bodies: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Load bodies, and see what an inspector keeps of them.")
    @Option(help: "How many loads.") var loads = 100_000
    @Option(help: "The bytes of all bodies together.") var bytes = 10 << 30
    @Option(help: "How many bytes the inspector may keep.") var room = Inspector.Limits().bytes
    @Option(help: "How much memory may come to that of the bare process, in megabytes.") var limit = 256

    func run() async throws {
      let inspector = Inspector(limits: Inspector.Limits(bytes: room))
      let (size, piece) = (max(1, bytes / loads), 16 << 10)
      let registry = InterceptorRegistry {
        inspector
        Answering { request in
          let pieces = AsyncStream<Data> { continuation in
            for start in stride(from: 0, to: size, by: piece) {
              continuation.yield(Data(repeating: 0x61, count: min(piece, size - start)))
            }
            continuation.finish()
          }
          return InterceptedResponse(to: request, fields: [.contentType: "text/plain"], body: .stream(pieces))
        }
      }
      let (before, allocatedBefore) = (InspectorSizes.peak, allocatedBytes() ?? 0)
      let begin = ContinuousClock.now
      var (total, allocated) = (0, 0)
      for number in 0..<loads {
        guard let url = URL(string: "https://api.example.com/\(number)") else { continue }
        for try await chunk in try await registry.load(URLRequest(url: url)).body { total += chunk.count }
        if number % 1_000 == 999 { allocated = max(allocated, (allocatedBytes() ?? 0) - allocatedBefore) }
      }
      let time = begin.duration(to: .now)
      await inspector.flush()
      let peak = InspectorSizes.peak
      print("\(loads) loads with \(total) bytes in \(time)")
      print(
        """
        memory: \(InspectorSizes.megabytes(allocated)) allocated at most, of which the inspector has \
        \(InspectorSizes.megabytes(inspector.bytes)) of \(InspectorSizes.megabytes(inspector.limits.bytes)) for \
        \(inspector.count) exchanges; \(InspectorSizes.megabytes(peak)) resident at most, \
        \(InspectorSizes.megabytes(before)) before the first
        """)
      registry.invalidate()
      // Beside what is kept there are the body that passes and the one that is being packed.
      let isOver = (peak ?? 0) - (before ?? 0) > limit * 1_000_000 || allocated > inspector.limits.bytes + (8 << 20)
      if isOver || inspector.bytes > inspector.limits.bytes || total != size * loads { throw ExitCode.failure }
    }
  }
}
