import Foundation
import TestSupport
import WaylayCore

/// A session delegate that writes down what it is told.
final class DelegateLog: NSObject, URLSessionDataDelegate, Sendable {
  enum Entry: Sendable, Equatable {
    case sent(Int64, of: Int64)
    case response(Int)
    case data(String)
    case completed(URLError.Code?)
  }

  private struct State {
    var entries: [Entry] = []
    var failure: (any Error)?
    var waiters: [(count: Int, promise: Promise<Void>)] = []
  }

  private let state = Locked(State())
  /// The credential that challenges are answered with.
  let credential: URLCredential?

  init(credential: URLCredential? = nil) {
    self.credential = credential
  }

  var entries: [Entry] { state.withLock { $0.entries } }
  var failure: (any Error)? { state.withLock { $0.failure } }

  /// Waits until so many entries are there.
  func entries(_ count: Int) async throws -> [Entry] {
    let promise = Promise<Void>()
    try await withTaskCancellationHandler {
      try await promise.value {
        let isThere = state.withLock { state in
          if state.entries.count < count { state.waiters.append((count, promise)) }
          return state.entries.count >= count
        }
        if isThere { promise.settle(.success(())) }
      }
    } onCancel: {
      promise.settle(.failure(CancellationError()))
    }
    return entries
  }

  /// Waits for the end.
  func completed() async throws -> [Entry] {
    var count = 1
    while true {
      let entries = try await entries(count)
      if entries.contains(where: { if case .completed = $0 { true } else { false } }) { return entries }
      count = entries.count + 1
    }
  }

  private func add(_ entry: Entry, failure: (any Error)? = nil) {
    let due = state.withLock { state in
      state.entries.append(entry)
      state.failure = failure ?? state.failure
      let count = state.entries.count
      defer { state.waiters.removeAll { $0.count <= count } }
      return state.waiters.filter { $0.count <= count }
    }
    for waiter in due { waiter.promise.settle(.success(())) }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {
    add(.sent(totalBytesSent, of: totalBytesExpectedToSend))
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    add(.response((response as? HTTPURLResponse)?.statusCode ?? 0))
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    add(.data(String(decoding: data, as: UTF8.self)))
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    add(.completed(error.map { ($0 as? URLError)?.code ?? .unknown }), failure: error)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    guard let credential, challenge.previousFailureCount == 0 else {
      return completionHandler(.performDefaultHandling, nil)
    }
    completionHandler(.useCredential, credential)
  }
}
