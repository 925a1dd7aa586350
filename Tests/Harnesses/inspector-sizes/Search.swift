import ArgumentParser
import Foundation
import WaylayInspector

extension InspectorSizes {
  struct Search: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Record exchanges, and count some of them.")
    @Option(help: "How many are recorded.") var exchanges = 1_000_000
    @Option(help: "How long it may take to count some of them, in seconds.") var limit = 60.0
    @Option(help: "How many loads run at once.") var width = 8

    func run() async throws {
      let inspector = Inspector(limits: Inspector.Limits(exchanges: exchanges, bytes: 4 << 30))
      let registry = InterceptorRegistry {
        inspector
        Answering { request in
          let status: HTTPResponse.Status = request.url.path.hasSuffix("77") ? .notFound : .ok
          return InterceptedResponse(
            to: request, status: status, fields: [.contentType: "application/json", .server: "sizes"],
            body: .text("{\"id\":\"\(request.url.lastPathComponent)\",\"name\":\"Ada\",\"list\":[1,2,3,4,5,6,7,8]}"))
        }
      }
      let before = allocatedBytes() ?? 0
      let begin = ContinuousClock.now
      let (all, width) = (exchanges, width)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for worker in 0..<width {
          group.addTask {
            for number in stride(from: worker, to: all, by: width) {
              let url = URL(string: "https://api\(number % 7).example.com/v1/things/\(number)?page=\(number % 9)")
              guard let url else { continue }
              var request = URLRequest(url: url)
              request.setValue("application/json", forHTTPHeaderField: "Accept")
              request.setValue("Bearer 0123456789abcdef", forHTTPHeaderField: "Authorization")
              _ = try await registry.data(for: request)
            }
          }
        }
        try await group.waitForAll()
      }
      let recorded = begin.duration(to: .now)
      print("\(inspector.count) exchanges recorded in \(recorded)")
      var isOver = account(of: inspector, since: before)
      await inspector.flush()
      print("as they are kept after \(begin.duration(to: .now))")
      isOver = account(of: inspector, since: before) || isOver || inspector.count != exchanges
      for (text, count) in [
        ("statistics", { inspector.statistics().count }),
        ("with status 404", { inspector.exchanges { $0.response?.status == 404 }.count }),
        ("with a URL that no one has", { inspector.exchanges { $0.request.url.contains("nowhere") }.count }),
      ] {
        let begin = ContinuousClock.now
        let found = count()
        let time = begin.duration(to: .now)
        isOver = isOver || time > .seconds(limit)
        print("\(text): \(found) in \(time)")
      }
      registry.invalidate()
      if isOver { throw ExitCode.failure }
    }

    /// Says what an inspector takes by its account, and what it does take.
    ///
    /// - Returns: Whether it takes more than it may, or a fifth more than it says.
    private func account(of inspector: Inspector, since before: Int) -> Bool {
      let (bytes, most) = (inspector.bytes, inspector.limits.bytes)
      let allocated = allocatedBytes().map { $0 - before }
      print(
        """
        memory: \(megabytes(bytes)) of \(megabytes(most)) by its account, \(megabytes(allocated)) allocated, \
        \(megabytes(InspectorSizes.memory)) resident, \(megabytes(InspectorSizes.peak)) at most
        """)
      return max(bytes, allocated ?? 0, InspectorSizes.memory ?? 0) > most
        || (allocated ?? 0) * 5 > bytes * 6 + (1 << 20)
    }

    private func megabytes(_ bytes: Int?) -> String { InspectorSizes.megabytes(bytes) }
  }
}
