package import WaylayCore

/// Something that happens once, and can be waited for.
package final class Event: Sendable {
  private struct State {
    var hasHappened = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())

  package init() {}

  package func happen() {
    let waiters = state.withLock { state in
      state.hasHappened = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Waits. A task that is cancelled, as a time limit does, waits no longer.
  package func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          let isOver = state.hasHappened || Task.isCancelled
          if !isOver { state.waiters.append(continuation) }
          return isOver
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let waiters = state.withLock { state in
        defer { state.waiters = [] }
        return state.waiters
      }
      for waiter in waiters { waiter.resume() }
    }
  }

  package var hasHappened: Bool { state.withLock { $0.hasHappened } }
}

/// A session's delegate that records what it is told, in order.
package final class Recorder: NSObject, URLSessionDataDelegate, Sendable {
  package enum Entry: Sendable, Equatable {
    case sent(Int64, of: Int64)
    case response(Int)
    case data(String)
    case completed(URLError.Code?)
  }

  private struct State {
    var entries: [Entry] = []
    var failure: (any Error)?
    var proposedRedirects: [URLRequest] = []
    var watchers: [(count: Int, event: Event)] = []
  }

  private let state = Locked(State())
  package let finished = Event()
  private let recordsUploads: Bool
  private let credential: URLCredential?
  private let redirect: @Sendable (URLRequest) -> URLRequest?
  private let body: @Sendable () -> InputStream?

  /// - Parameters:
  ///   - recordsUploads: Whether bytes that were sent are entries, too.
  ///   - credential: The response to challenges.
  ///   - redirect: The response to a redirect.
  ///   - body: The stream for an upload task that was made without a body.
  package init(
    recordsUploads: Bool = false, credential: URLCredential? = nil,
    redirect: @escaping @Sendable (URLRequest) -> URLRequest? = { $0 },
    body: @escaping @Sendable () -> InputStream? = { nil }
  ) {
    (self.recordsUploads, self.credential, self.redirect, self.body) = (recordsUploads, credential, redirect, body)
  }

  package var entries: [Entry] { state.withLock { $0.entries } }
  package var failure: (any Error)? { state.withLock { $0.failure } }
  package var proposedRedirects: [URLRequest] { state.withLock { $0.proposedRedirects } }

  /// Waits until so many entries are there.
  package func entries(_ count: Int) async -> [Entry] {
    let event = Event()
    state.withLock { state in
      if state.entries.count >= count { event.happen() } else { state.watchers.append((count, event)) }
    }
    await event.wait()
    return entries
  }

  /// Waits for the end.
  package func completed() async -> [Entry] {
    await finished.wait()
    return entries
  }

  private func add(_ entry: Entry, failure: (any Error)? = nil) {
    let due = state.withLock { state in
      state.entries.append(entry)
      state.failure = failure ?? state.failure
      let count = state.entries.count
      defer { state.watchers.removeAll { $0.count <= count } }
      return state.watchers.filter { $0.count <= count }
    }
    for watcher in due { watcher.event.happen() }
  }

  package func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {
    if recordsUploads { add(.sent(totalBytesSent, of: totalBytesExpectedToSend)) }
  }

  package func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    add(.response((response as? HTTPURLResponse)?.statusCode ?? 0))
    completionHandler(.allow)
  }

  package func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    add(.data(String(decoding: data, as: UTF8.self)))
  }

  package func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    add(.completed(error.map { ($0 as? URLError)?.code ?? .unknown }), failure: error)
    finished.happen()
  }

  package func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    guard let credential, challenge.previousFailureCount == 0 else {
      return completionHandler(.performDefaultHandling, nil)
    }
    completionHandler(.useCredential, credential)
  }

  package func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    state.withLock { $0.proposedRedirects.append(request) }
    completionHandler(redirect(request))
  }

  package func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
  ) {
    completionHandler(body())
  }
}
