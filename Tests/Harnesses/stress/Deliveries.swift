import Foundation
import WaylayCore

/// A session's delegate that gives each task's events to the task that waits for them, and counts events out of order.
final class Deliveries: NSObject, URLSessionDataDelegate, Sendable {
  struct OutOfOrder: Error {
    let what: String
  }

  private struct Delivery {
    var data = Data()
    var response: URLResponse?
    let continuation: CheckedContinuation<(Data, URLResponse), any Error>
  }

  private struct State {
    var open: [ObjectIdentifier: Delivery] = [:]
    var strays = 0
  }

  private let state = Locked(State())

  /// Runs a task to its end; `act` may suspend, resume or cancel it meanwhile.
  func run(
    _ task: URLSessionTask, _ act: (URLSessionTask) -> Void = { _ in }
  ) async throws -> (Data, URLResponse) {
    try await withCheckedThrowingContinuation { continuation in
      state.withLock { $0.open[ObjectIdentifier(task)] = Delivery(continuation: continuation) }
      task.resume()
      act(task)
    }
  }

  /// Events before a head, after an end, and second ends.
  var strays: Int { state.withLock { $0.strays } }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    state.withLock { state in
      if state.open[ObjectIdentifier(dataTask)].map({ $0.response == nil }) != true { state.strays += 1 }
      state.open[ObjectIdentifier(dataTask)]?.response = response
    }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    state.withLock { state in
      if state.open[ObjectIdentifier(dataTask)]?.response == nil { state.strays += 1 }
      state.open[ObjectIdentifier(dataTask)]?.data.append(data)
    }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let delivery = state.withLock { state in
      if state.open[ObjectIdentifier(task)] == nil { state.strays += 1 }
      return state.open.removeValue(forKey: ObjectIdentifier(task))
    }
    guard let delivery else { return }
    if let error { return delivery.continuation.resume(throwing: error) }
    guard let response = delivery.response else {
      return delivery.continuation.resume(throwing: OutOfOrder(what: "an end without a head"))
    }
    delivery.continuation.resume(returning: (delivery.data, response))
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
