import Foundation
import WaylayCore

/// Writes a body to standard output, or to a file.
enum BodyPrinter {
  /// - Parameter progress: Is told how many bytes have come, after each piece.
  static func print(_ body: MessageBody, to output: OutputFile?, progress: (Int64) -> Void = { _ in }) async throws {
    var count: Int64 = 0
    guard let output else {
      for try await chunk in body {
        try Output.write(chunk)
        count += Int64(chunk.count)
        progress(count)
      }
      return
    }
    do {
      let handle = try output.open()
      for try await chunk in body {
        do { try handle.write(contentsOf: chunk) } catch { throw output.failure("written", error) }
        count += Int64(chunk.count)
        progress(count)
      }
      try handle.close()
      try output.place()
    } catch {
      output.discard()
      throw error
    }
  }
}
