import Foundation
import WaylayTesting

/// A session's delegate that gathers one body.
final class Completion: NSObject, URLSessionDataDelegate, Sendable {
  private let chunks = Locked<[Data]>([])
  private let stream = AsyncStream<(any Error)?>.makeStream()

  /// The body as text, once the task has completed.
  var body: String {
    get async throws {
      for await error in stream.stream {
        if let error { throw error }
        break
      }
      return chunks.withLock { String(decoding: Data($0.joined()), as: UTF8.self) }
    }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    chunks.withLock { $0.append(data) }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    stream.continuation.yield(error)
    stream.continuation.finish()
  }
}
