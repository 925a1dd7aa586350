import Foundation
import WaylayCore

/// A session's delegate that gives each task's events to the task that waits for them, and notices a second end.
final class Deliveries: NSObject, URLSessionDataDelegate, Sendable {
  private struct Delivery {
    var data = Data()
    var hasHead = false
    let continuation: CheckedContinuation<String, any Error>
  }

  struct OutOfOrder: Error {
    let what: String
  }

  private struct State {
    var open: [Int: Delivery] = [:]
    var strays = 0
  }

  private let state = Locked(State())

  /// Runs a task to its end; `act` may suspend, resume or cancel it meanwhile.
  func run(
    _ task: URLSessionTask, _ act: @escaping @Sendable (URLSessionTask) -> Void = { _ in }
  ) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      state.withLock { $0.open[task.taskIdentifier] = Delivery(continuation: continuation) }
      task.resume()
      act(task)
    }
  }

  /// Events that came when nobody waited: after an end, or a second end.
  var strays: Int { state.withLock { $0.strays } }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    state.withLock { state in
      if state.open[dataTask.taskIdentifier]?.hasHead != false { state.strays += 1 }
      state.open[dataTask.taskIdentifier]?.hasHead = true
    }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    state.withLock { state in
      if state.open[dataTask.taskIdentifier]?.hasHead != true { state.strays += 1 }
      state.open[dataTask.taskIdentifier]?.data.append(data)
    }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let delivery = state.withLock { state in
      if state.open[task.taskIdentifier] == nil { state.strays += 1 }
      return state.open.removeValue(forKey: task.taskIdentifier)
    }
    guard let delivery else { return }
    if let error { return delivery.continuation.resume(throwing: error) }
    guard delivery.hasHead else {
      return delivery.continuation.resume(throwing: OutOfOrder(what: "an end without a head"))
    }
    delivery.continuation.resume(returning: String(decoding: delivery.data, as: UTF8.self))
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    completionHandler(.useCredential, URLCredential(user: "stress", password: "test", persistence: .none))
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
  ) {
    completionHandler(task.originalRequest?.url.map { InputStream(data: Data($0.lastPathComponent.utf8)) })
  }
}
