import FlyingFox
import FlyingSocks
public import Foundation
public import Logging
import WaylayCore
public import WaylayInspector

/// Shows what an `Inspector` sees in a browser beside the app, while it happens.
///
/// ```swift
/// let inspector = Inspector()
/// let session = URLSession(configuration: .default.intercepted(by: InterceptorRegistry { inspector }))
///
/// let server = InspectorServer(inspector, session: session)
/// let url = try await server.start()  // also logged, in one line: open it in a browser
/// ```
///
/// The page is that of `InspectorPage`: requests appear as they are made, can be sent again, and can be made stubs of.
/// The server is for the time of development: leave it out of what is released.
///
/// It listens on the loopback address alone, and answers only who knows the token, which is made anew by each start and
/// is in the URL. Pages of other origins cannot read anything or send anything, whatever names they have made lead to
/// this machine: a request whose `Host`, `Origin` or `Sec-Fetch-Site` is not that of the page is refused. Whoever runs
/// programs as the same user can read the log, and so the token.
public final class InspectorServer: Sendable {
  /// How a server listens.
  public struct Options: Sendable {
    /// The port; 0 for one that is free.
    public var port: UInt16 = 0
    /// How many pages may listen at once. One more is told so.
    public var listeners = 8
    /// Where the line with the URL goes; `nil` for nowhere.
    public var logger: Logger? = Logger(label: "waylay.inspector")

    /// A free port, eight listeners, a line in the log.
    public init() {}
  }

  private struct State {
    var isStarting = false
    var running: Running?
  }

  private struct Running {
    var url: URL
    var server: HTTPServer
    var task: Task<Void, any Error>
  }

  private let inspector: Inspector
  private let session: URLSession?
  private let options: Options
  private let state = Locked(State())

  /// Makes a server, which does nothing until it is started.
  ///
  /// - Parameters:
  ///   - inspector: What is shown.
  ///   - session: What requests are sent again with: the one that the app uses, for the same chain; without one they
  ///     cannot be.
  ///   - options: How it listens.
  public init(_ inspector: Inspector, session: URLSession? = nil, options: Options = Options()) {
    self.inspector = inspector
    self.session = session
    self.options = options
  }

  deinit {
    state.withLock { $0.running }?.task.cancel()
  }

  /// Where the page is, while the server runs. The URL holds the token: who knows it sees the traffic.
  public var url: URL? { state.withLock { $0.running?.url } }

  /// Begins to listen, and returns where the page is. A server that runs goes on, and says where.
  ///
  /// - Throws: ``InspectorServerError`` when it cannot listen, and `CancellationError`.
  public func start() async throws -> URL {
    let running = state.withLock { state -> URL? in
      guard let running = state.running else {
        defer { state.isStarting = true }
        return state.isStarting ? URL(fileURLWithPath: "/") : nil
      }
      return running.url
    }
    if let running {
      if !running.isFileURL { return running }
      throw InspectorServerError(.busy, "The server is being started or stopped by somebody else.")
    }
    do {
      let running = try await listen()
      state.withLock { $0 = State(running: running) }
      options.logger?.notice("The Inspector is at \(running.url.absoluteString)")
      return running.url
    } catch {
      state.withLock { $0.isStarting = false }
      throw error
    }
  }

  /// Stops listening, and ends what is open. Pages say so, and keep what they show.
  public func stop() async {
    let running = state.withLock { state -> Running? in
      defer { state.running = nil }
      return state.running
    }
    guard let running else { return }
    await running.server.stop(timeout: 0)
    running.task.cancel()
    _ = await running.task.result
  }

  /// Serves until the task is cancelled.
  ///
  /// - Parameter ready: Called once, with the URL of the page.
  /// - Throws: ``InspectorServerError`` when it cannot listen, and `CancellationError` in the end.
  public func run(_ ready: @Sendable (URL) -> Void = { _ in }) async throws {
    ready(try await start())
    guard let task = state.withLock({ $0.running?.task }) else { return }
    _ = await withTaskCancellationHandler {
      await task.result
    } onCancel: {
      task.cancel()
    }
    await stop()
    try Task.checkCancellation()
  }

  private func listen() async throws -> Running {
    let desk = Desk(inspector: inspector, session: session, listeners: options.listeners)
    let address = try sockaddr_in.inet(ip4: "127.0.0.1", port: options.port)
    // Its own log names paths, and paths have the token.
    let server = HTTPServer(
      address: address, timeout: 120, logger: .disabled, handler: ClosureHTTPHandler { await desk.answer($0) })
    let listening = Task { try await server.waitUntilListening(timeout: 10) }
    let task = Task {
      // When it cannot listen there is nothing to wait for.
      defer { listening.cancel() }
      try await server.run()
    }
    do {
      try await withTaskCancellationHandler {
        try await listening.value
      } onCancel: {
        task.cancel()
      }
      guard case .ip4(_, let port)? = await server.listeningAddress else { throw CancellationError() }
      return Running(url: desk.open(port: port), server: server, task: task)
    } catch {
      task.cancel()
      let result = await task.result
      try Task.checkCancellation()
      var cause: any Error = error
      if case .failure(let first) = result { cause = first }
      let reason =
        "The Inspector's server cannot listen on port \(options.port) of the loopback address: "
        + "\(cause.localizedDescription)"
      throw InspectorServerError(.cannotListen, reason, underlying: cause)
    }
  }
}
