import Foundation

/// The way back to the loading system: a mailbox that is emptied where the client may be called.
///
/// Events come from whatever thread runs the chain. They are kept under a lock and delivered in order on the task's own
/// queue (Linux) or thread (Apple). There is only one terminal event, even if two are posted at once: after it, and
/// after `stopLoading` for a cancelled task, the client is never called again (P17).
final class ClientRelay: Sendable {
  enum Event: Sendable {
    case response(HTTPURLResponse)
    case data(Data)
    /// The whole body, which was in memory and may be empty.
    case whole(Data)
    /// The whole body of a download, in its file.
    case downloaded(TemporaryFile)
    case finished
    case failed(URLError)
    /// Apple platforms: the loading system follows the redirect with a new protocol object and stops this one, unless the
    /// app refuses.
    case redirected(URLRequest, HTTPURLResponse)

    var isTerminal: Bool {
      switch self {
      case .response, .data, .whole, .downloaded, .redirected: false
      case .finished, .failed: true
      }
    }
  }

  private struct State {
    var events: [Event] = []
    var phase = Phase.starting
    var isPaused = false
    /// The terminal event was posted, or the task was cancelled: nothing is added any more.
    var isClosed = false
    var task: Task<Void, Never>?
    /// The chain, which waits for the task to be resumed. Cancelling the load ends the wait.
    var waiters = Waiters()

    enum Phase {
      /// Inside `startLoading`: events wait until the call is about to return.
      case starting
      case idle
      case scheduled
    }
  }

  private let client: PlatformClient
  private let load: Load
  private let state = Locked(State())

  init(_ client: PlatformClient, _ load: Load) {
    self.client = client
    self.load = load
  }

  // MARK: Called by the loading system, on the client's queue

  /// Starts waiting for the response, in a task that this object owns.
  func start(_ respond: @escaping @Sendable () async throws -> InterceptedResponse) {
    let task = Task { await self.run(respond) }
    // The task already runs, on another thread.
    state.withLock { $0.task = task }
    // The load outlives this call: from now on it has its timeouts, and the registry can end it.
    guard load.watch(fail: { [weak self] in self?.abort($0) }) else {
      let error = InterceptorRegistry.invalidatedError(url: load.url)
      cancel(error)
      return client.deliver(.failed(URLError(presenting: error, url: load.url)))
    }
    deliver()
  }

  /// `startLoading` for the second time: the task was suspended and is resumed (P16).
  func resume() {
    setPaused(client.isSuspended)
  }

  /// `stopLoading`: the task was suspended or cancelled, or was suspended and has already been resumed (P16).
  func stop() {
    client.stop()
    guard !client.isCancelled else { return cancel(URLError(.cancelled)) }
    setPaused(client.isSuspended)
  }

  private func setPaused(_ isPaused: Bool) {
    load.setPaused(isPaused)
    let waiters = state.withLock { state in
      state.isPaused = isPaused
      return isPaused ? [] : state.waiters.takeAll()
    }
    waiters.wake()
    if !isPaused { schedule() }
  }

  /// Ends the load without a call to the client: the loading system makes the terminal call.
  private func cancel(_ error: any Error) {
    state.withLock { state in
      state.isClosed = true
      state.events = []
    }
    endTask(error)
    client.loader.end()
  }

  // MARK: Called from anywhere

  /// Fails the load from outside: a timeout, or the registry's end.
  private func abort(_ error: WaylayError) {
    let failure = load.urlError(for: error)
    post([.failed(failure)], inChain: false)
    endTask(failure)
  }

  /// Ends the chain and the load, whatever they are waiting for.
  private func endTask(_ error: any Error) {
    let task = state.withLock { $0.task }
    // Cancellation handlers may be the app's code, which must not run on the loader's queue.
    PlatformClient.leavingQueue { task?.cancel() }
    load.end(error: error)
  }

  /// - Parameter inChain: Whether this is the chain's own task, which may wait for the client's queue.
  private func post(_ events: [Event], inChain: Bool = true) {
    schedule(isLast: inChain && events.last?.isTerminal == true) { state in
      guard !state.isClosed else { return }
      if state.events.isEmpty { state.events = events } else { state.events += events }
      state.isClosed = events.last?.isTerminal == true
    }
  }

  /// Changes the state, and schedules the delivery of the events on the client's queue, unless it is scheduled.
  private func schedule(isLast: Bool = false, _ change: (inout State) -> Void = { _ in }) {
    let isNeeded = state.withLock { state in
      change(&state)
      guard state.phase == .idle, !state.isPaused, !state.events.isEmpty else { return false }
      state.phase = .scheduled
      return true
    }
    guard isNeeded else { return }
    if isLast { client.conclude { self.drain() } } else { client.schedule { self.drain() } }
  }

  private func drain() {
    // A task that is being cancelled gets its one terminal event from the loading system itself (P17).
    guard !client.isCancelled else { return cancel(URLError(.cancelled)) }
    deliver()
  }

  private func deliver() {
    let events = state.withLock { state -> [Event] in
      state.phase = .idle
      guard !state.isPaused else { return [] }
      defer { state.events = [] }
      return state.events
    }
    for event in events { client.deliver(event) }
    if events.last?.isTerminal == true { client.loader.end() }
  }

  /// Waits while the task is suspended, or until the load is cancelled.
  private func ready() async {
    await state.wait(at: \.waiters) { !$0.isPaused || $0.isClosed }
  }

  // MARK: The load itself

  private func run(_ respond: @Sendable () async throws -> InterceptedResponse) async {
    do {
      let response = try await respond()
      if let events = Self.events(of: response, for: client) {
        // Post first, outside of the load's scope: the app need not wait for the end of the load.
        load.scope.withLock { $0 = nil }
        post(events)
        load.report(.responded, response: response)
      } else {
        load.report(.responded, response: response)
        try await stream(response)
      }
      load.end(response)
    } catch let redirect as ClientRedirect {
      await offer(redirect)
    } catch {
      post([.failed(load.ended(by: error))])
    }
  }

  /// Hands a redirect to the loading system, which stops this object when it follows; the app that refuses gets the
  /// redirect itself.
  private func offer(_ redirect: ClientRedirect) async {
    load.end(redirect.response)
    // From now on, only the app may retain the request.
    if let request = redirect.request.withLock({ $0.take() }) { post([.redirected(request, redirect.response.head)]) }
    do {
      try await redirect.untilRefused()
      try await stream(redirect.response)
    } catch {
      post([.failed(load.ended(by: error))])
    }
  }

  /// The events of a response whose body is in memory; `nil` for one that streams, or that goes into a file.
  static func events(of response: InterceptedResponse, for client: PlatformClient) -> [Event]? {
    guard !client.isDownload, let body = response.body.inMemory else { return nil }
    return [.response(response.platformHead), .whole(body), .finished]
  }

  private func stream(_ response: InterceptedResponse) async throws {
    let head = response.platformHead
    let body = WatchedBody(response, load)
    client.expect(response.body.length)
    guard !client.isDownload else { return try await download(body, head) }
    guard client.reportsChunks else {
      // Only the last chunk reaches a task with a completion handler (P3).
      var whole = Data()
      client.collect()
      let first = [Event.response(head)]
      if !client.tellsAtOnce { post(first) }
      while let chunk = try await body.next() {
        whole.append(chunk)
        client.received(chunk)
        await ready()
      }
      return post((client.tellsAtOnce ? first : []) + (whole.isEmpty ? [.finished] : [.data(whole), .finished]))
    }
    post([.response(head)])
    while let chunk = try await body.next() {
      client.received(chunk)
      if let pull = client.pull { await pull(chunk) } else { post([.data(chunk)]) }
      await ready()
    }
    post([.finished])
  }

  /// Writes the body of a download task to a file, chunk by chunk.
  private func download(_ body: WatchedBody, _ head: HTTPURLResponse) async throws {
    post([.response(head)])
    do {
      let file = try TemporaryFile("download")
      while let chunk = try await body.next() {
        try file.write(chunk)
        client.received(chunk)
        await ready()
      }
      try file.close()
      post([.downloaded(file), .finished])
    } catch {
      // End the load before the body is dropped, which would end the load as cancelled.
      throw load.ended(by: error)
    }
  }
}

/// Thrown through the load to let the loading system follow a redirect (Apple platforms).
struct ClientRedirect: Error {
  let request: Locked<URLRequest?>
  let response: InterceptedResponse
  /// Returns when the app has refused the redirect; is cancelled when the loading system follows it.
  let untilRefused: @Sendable () async throws -> Void
}

/// The body of a load's last response: the load ends when the body ends or is released.
///
/// The load's timeouts run while a reader waits for the next chunk. Errors are those that the app sees.
final class WatchedBody: Sendable {
  private let load: Load
  private let response: InterceptedResponse
  private let reading: MessageBody.Chunks
  /// Interrupts the reading; `nil` if the reader runs in the load's own task, which a timeout cancels.
  private let interruption: Interruptible?
  private let count = Locked<Int64>(0)

  init(_ response: InterceptedResponse, _ load: Load, _ interruption: Interruptible? = nil) {
    (self.response, self.load, self.interruption) = (response, load, interruption)
    reading = MessageBody.Chunks(response.body)
    load.state.withLock { $0.hasResponded = true }
    load.setWaiting(false)
  }

  deinit {
    // A no-op if the body was read to its end; otherwise its owner has dropped it.
    load.end(error: URLError(.cancelled))
  }

  func next() async throws -> Data? {
    load.setWaiting(true)
    defer { load.setWaiting(false) }
    do {
      let chunk = try await pull()
      let count = count.withLock { count in
        count += Int64(chunk?.count ?? 0)
        return count
      }
      guard chunk == nil else { return chunk }
      try load.checkLength(count, of: response, isHead: load.first.urlRequest.httpMethod == "HEAD")
      load.end(response)
      return nil
    } catch {
      throw load.ended(by: error)
    }
  }

  private func pull() async throws -> Data? {
    if let interruption { return try await interruption.run { [reading] in try await reading.next() } }
    try Task.checkCancellation()
    return try await reading.next()
  }

  /// The body for the caller of a direct load.
  var body: MessageBody {
    .wrapping(response.body, length: response.body.length) { try await self.next() }
  }
}
