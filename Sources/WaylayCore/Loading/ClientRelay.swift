import Foundation

/// The way back to the loading system: a mailbox that is emptied where the client may be called.
///
/// Events come from whatever thread runs the chain. They are kept under a lock and delivered in order on the task's own queue
/// (Linux) or thread (Apple). There is one terminal event, whatever crosses: after it, and after `stopLoading` for a cancelled task,
/// the client is never called again (P17).
final class ClientRelay: Sendable {
  enum Event: Sendable {
    case response(InterceptedResponse)
    case data(Data)
    case finished
    case failed(URLError)
    /// Apple platforms: the loading system follows the redirect with a new protocol object.
    case redirected(URLRequest, InterceptedResponse)

    var isTerminal: Bool {
      switch self {
      case .response, .data: false
      case .finished, .failed, .redirected: true
      }
    }
  }

  private struct State {
    var events: [Event] = []
    var phase = Phase.inline
    var isPaused = false
    /// The terminal event was posted, or the task was cancelled: nothing is added any more.
    var isClosed = false
    var task: Task<Void, Never>?
    var waiters: [CheckedContinuation<Void, Never>] = []

    enum Phase {
      /// Inside `startLoading`: events wait until the call is about to return.
      case inline
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

  func start(selection: ChainIndex.Selection?, inline: Bool) {
    if inline {
      let task = PlatformClient.immediateTask { await self.run(selection) }
      if deliverInline() { return }
      state.withLock { $0.task = task }
    }
    do {
      try client.findWayBack()
      try watch()
    } catch {
      cancel()
      return client.fail(error, url: load.url)
    }
    if !inline {
      let task = Task { await self.run(selection) }
      state.withLock { $0.task = task }
    }
    state.withLock { $0.phase = .idle }
    schedule()
  }

  /// Puts the load under its timeouts and the registry's control, now that it outlives this call.
  private func watch() throws {
    let isAccepted = load.watch { [weak self] in self?.abort($0) }
    guard isAccepted else { throw InterceptorRegistry.invalidatedError(url: load.url) }
  }

  /// Delivers an answer that came without a hop. `false` when there is more to come.
  private func deliverInline() -> Bool {
    let events = state.withLock { state -> [Event]? in
      guard state.isClosed, state.events.last?.isTerminal == true else { return nil }
      defer { state.events = [] }
      return state.events
    }
    guard let events else { return false }
    for event in events { client.deliver(event) }
    return true
  }

  /// `startLoading` for the second time: the task was suspended and is resumed (P16).
  func resume() {
    setPaused(client.isSuspended)
  }

  /// `stopLoading`: the task is paused, cancelled, or was stopped and started again since.
  func stop() {
    guard !client.isCancelled else { return cancel() }
    setPaused(client.isSuspended)
  }

  private func setPaused(_ isPaused: Bool) {
    load.setPaused(isPaused)
    let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.isPaused = isPaused
      guard !isPaused else { return [] }
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
    if !isPaused { schedule() }
  }

  private func cancel() {
    let (task, waiters) = state.withLock { state in
      state.isClosed = true
      state.events = []
      defer { state.waiters = [] }
      return (state.task, state.waiters)
    }
    task?.cancel()
    for waiter in waiters { waiter.resume() }
    load.end(error: URLError(.cancelled))
  }

  // MARK: Called from anywhere

  /// Fails the load from outside: a timeout, or the registry's end.
  private func abort(_ error: WaylayError) {
    let failure = load.urlError(for: error)
    post(.failed(failure))
    let (task, waiters) = state.withLock { state in
      defer { state.waiters = [] }
      return (state.task, state.waiters)
    }
    task?.cancel()
    for waiter in waiters { waiter.resume() }
    load.end(error: failure)
  }

  private func post(_ events: Event...) {
    let isOpen = state.withLock { state in
      guard !state.isClosed else { return false }
      state.events += events
      state.isClosed = events.last?.isTerminal == true
      return true
    }
    if isOpen { schedule() }
  }

  private func schedule() {
    let isNeeded = state.withLock { state in
      guard state.phase == .idle, !state.isPaused, !state.events.isEmpty else { return false }
      state.phase = .scheduled
      return true
    }
    if isNeeded { client.schedule { self.drain() } }
  }

  private func drain() {
    // A task that is being cancelled gets its one terminal event from the loading system itself.
    guard !client.isCancelled else { return cancel() }
    let events = state.withLock { state -> [Event] in
      state.phase = .idle
      guard !state.isPaused else { return [] }
      defer { state.events = [] }
      return state.events
    }
    for event in events { client.deliver(event) }
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

  private func run(_ selection: ChainIndex.Selection?) async {
    do {
      let response = try await load.respond(selection: .some(selection))
      load.report(.responded, response: response)
      try await deliver(response)
      load.end(response)
    } catch let redirect as ClientRedirect {
      post(.redirected(redirect.request, redirect.response))
      load.end(redirect.response)
    } catch {
      let failure = load.urlError(for: error)
      post(.failed(failure))
      load.end(error: failure)
    }
  }

  private func deliver(_ response: InterceptedResponse) async throws {
    if let data = response.body.inMemory {
      return data.isEmpty ? post(.response(response), .finished) : post(.response(response), .data(data), .finished)
    }
    let body = WatchedBody(response, load, isOwnTask: true)
    guard client.reportsChunks else {
      // Only the last chunk reaches a task with a completion handler (P3).
      var whole = Data()
      while let chunk = try await body.next() {
        whole.append(chunk)
        await ready()
      }
      return whole.isEmpty ? post(.response(response), .finished) : post(.response(response), .data(whole), .finished)
    }
    post(.response(response))
    while let chunk = try await body.next() {
      post(.data(chunk))
      await ready()
    }
    post(.finished)
  }
}

/// Thrown up the load when the loading system is to follow a redirect by itself (Apple platforms).
struct ClientRedirect: Error {
  let request: URLRequest
  let response: InterceptedResponse
}
