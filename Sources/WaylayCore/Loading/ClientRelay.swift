import Foundation

/// The way back to the loading system: a mailbox that is emptied where the client may be called.
///
/// Events come from whatever thread runs the chain. They are kept under a lock and delivered in order on the task's own
/// queue (Linux) or thread (Apple). There is one terminal event, even if two meet: after it, and after `stopLoading`
/// for a cancelled task, the client is never called again (P17).
final class ClientRelay: Sendable {
  enum Event: Sendable {
    case response(HTTPURLResponse)
    case data(Data)
    /// All of a download is in its file.
    case downloaded(DownloadFile)
    case finished
    case failed(URLError)
    /// Apple platforms: the loading system follows the redirect with a new protocol object.
    case redirected(URLRequest, HTTPURLResponse)

    var isTerminal: Bool {
      switch self {
      case .response, .data, .downloaded: false
      case .finished, .failed, .redirected: true
      }
    }
  }

  fileprivate struct State {
    var events: [Event] = []
    var phase = Phase.starting
    var isPaused = false
    /// The terminal event was posted, or the task was cancelled: nothing is added any more.
    var isClosed = false
    var task: Task<Void, Never>?
    /// Readers that wait for the task to be resumed.
    var waiters: [CheckedContinuation<Void, Never>] = []

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
    // Here the chain runs already, on another thread; an answer that comes meanwhile needs no way back.
    do {
      state.withLock { $0.task = task }
      try client.findWayBack()
      try watch()
    } catch {
      cancel(error)
      return client.fail(error, url: load.url)
    }
    deliver()
  }

  /// Puts the load under its timeouts and the registry's control, now that it outlives this call.
  private func watch() throws {
    let isAccepted = load.watch { [weak self] in self?.abort($0) }
    guard isAccepted else { throw InterceptorRegistry.invalidatedError(url: load.url) }
  }

  /// `startLoading` for the second time: the task was suspended and is resumed (P16).
  func resume() {
    setPaused(client.isSuspended)
  }

  /// `stopLoading`: the task is paused, cancelled, or was stopped and started again since (P16).
  func stop() {
    client.stop()
    guard !client.isCancelled else { return cancel(URLError(.cancelled)) }
    setPaused(client.isSuspended)
  }

  private func setPaused(_ isPaused: Bool) {
    load.setPaused(isPaused)
    let waiters = state.withLock { state in
      state.isPaused = isPaused
      return isPaused ? [] : state.takeWaiters()
    }
    for waiter in waiters { waiter.resume() }
    if !isPaused { schedule() }
  }

  /// Ends the load without a word to the client, who is told by somebody else.
  private func cancel(_ error: any Error) {
    state.withLock { state in
      state.isClosed = true
      state.events = []
    }
    endTask(error)
    client.end()
  }

  // MARK: Called from anywhere

  /// Fails the load from outside: a timeout, or the registry's end.
  private func abort(_ error: WaylayError) {
    let failure = load.urlError(for: error)
    post([.failed(failure)])
    endTask(failure)
  }

  /// Ends the chain and the load, whatever they are waiting for.
  private func endTask(_ error: any Error) {
    let (task, waiters) = state.withLock { ($0.task, $0.takeWaiters()) }
    // Cancellation handlers are anybody's code, and must not run on the loader's queue.
    PlatformClient.leavingQueue { task?.cancel() }
    for waiter in waiters { waiter.resume() }
    load.end(error: error)
  }

  private func post(_ events: [Event]) {
    let isNeeded = state.withLock { state in
      guard !state.isClosed else { return false }
      if state.events.isEmpty { state.events = events } else { state.events += events }
      state.isClosed = events.last?.isTerminal == true
      return state.shouldSchedule()
    }
    if isNeeded { client.schedule { self.drain() } }
  }

  private func schedule() {
    if state.withLock({ $0.shouldSchedule() }) { client.schedule { self.drain() } }
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
    if events.last?.isTerminal == true { client.end() }
  }

  /// Waits while the task is suspended.
  private func ready() async {
    guard state.withLock({ $0.isPaused && !$0.isClosed }) else { return }
    await withCheckedContinuation { continuation in
      let isPaused = state.withLock { state in
        guard state.isPaused, !state.isClosed else { return false }
        state.waiters.append(continuation)
        return true
      }
      if !isPaused { continuation.resume() }
    }
  }

  // MARK: The load itself

  private func run(_ respond: @Sendable () async throws -> InterceptedResponse) async {
    do {
      let response = try await respond()
      if let answer = Self.answer(response, to: client) {
        // The app first: what ends the load need not be waited for.
        post(answer)
        load.report(.responded, response: response)
      } else {
        load.report(.responded, response: response)
        try await stream(response)
      }
      load.end(response)
    } catch {
      post([Self.failure(error, of: load)])
    }
  }

  /// The events of a response whose body is in memory; `nil` for one that streams, or that goes into a file.
  static func answer(_ response: InterceptedResponse, to client: PlatformClient) -> [Event]? {
    guard !client.isDownload, let body = response.body.inMemory else { return nil }
    client.receivedWhole(body)
    return answer(PlatformClient.head(of: response), body)
  }

  /// The event of a failure, which ends the load.
  static func failure(_ error: any Error, of load: Load) -> Event {
    if let redirect = error as? ClientRedirect {
      load.end(redirect.response)
      return .redirected(redirect.request, redirect.response.head)
    }
    let failure = load.urlError(for: error)
    load.end(error: failure)
    return .failed(failure)
  }

  private func stream(_ response: InterceptedResponse) async throws {
    let head = PlatformClient.head(of: response)
    let body = WatchedBody(response, load, isOwnTask: true)
    client.expect(response.body.length)
    guard !client.isDownload else { return try await download(body, head) }
    guard client.reportsChunks else {
      // Only the last chunk reaches a task with a completion handler (P3).
      var whole = Data()
      client.collect()
      post([.response(head)])
      while let chunk = try await body.next() {
        whole.append(chunk)
        client.received(chunk)
        await ready()
      }
      return post(whole.isEmpty ? [.finished] : [.data(whole), .finished])
    }
    post([.response(head)])
    while let chunk = try await body.next() {
      client.received(chunk)
      post([.data(chunk)])
      await ready()
    }
    post([.finished])
  }

  /// Writes the body to a file as it comes, which is what a download task is for.
  private func download(_ body: WatchedBody, _ head: HTTPURLResponse) async throws {
    post([.response(head)])
    do {
      let file = try DownloadFile()
      while let chunk = try await body.next() {
        try file.write(chunk)
        client.received(chunk)
        await ready()
      }
      try file.close()
      post([.downloaded(file), .finished])
    } catch {
      // Before the body is dropped, which would end the load as cancelled.
      let failure = load.urlError(for: error)
      load.end(error: failure)
      throw failure
    }
  }

  private static func answer(_ head: HTTPURLResponse, _ data: Data) -> [Event] {
    data.isEmpty ? [.response(head), .finished] : [.response(head), .data(data), .finished]
  }
}

extension ClientRelay.State {
  /// Notes that a delivery is on its way, when one is needed and none is.
  fileprivate mutating func shouldSchedule() -> Bool {
    guard phase == .idle, !isPaused, !events.isEmpty else { return false }
    phase = .scheduled
    return true
  }

  fileprivate mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
    defer { waiters = [] }
    return waiters
  }
}

/// Thrown up the load when the loading system is to follow a redirect by itself (Apple platforms).
struct ClientRedirect: Error {
  let request: URLRequest
  let response: InterceptedResponse
}
