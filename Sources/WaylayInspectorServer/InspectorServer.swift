#if InspectorServer
  public import Foundation
  public import Logging
  import WaylayCore
  public import WaylayInspector

  /// Shows the traffic of an `Inspector` live in a browser, next to the app.
  ///
  /// ```swift
  /// let inspector = Inspector()
  /// let session = URLSession(configuration: .default.intercepted(by: InterceptorRegistry { inspector }))
  ///
  /// let server = InspectorServer(inspector, session: session)
  /// let url = try await server.start()  // also logged, in one line: open it in a browser
  /// ```
  ///
  /// The page is that of `InspectorPage`: requests appear as they are made, can be sent again, and can be turned into
  /// stubs. The server is a development tool: do not include it in releases.
  ///
  /// The server listens only on the loopback address, and responds only to clients with the token, which is generated
  /// at each start and is part of the URL. Pages of other origins can neither read nor send data, even under names that
  /// resolve to this machine: the server rejects requests whose `Host`, `Origin` or `Sec-Fetch-Site` is not that of the
  /// page. Programs of the same user can read the log, and with it the token.
  public final class InspectorServer: Sendable {
    /// The options of a server.
    public struct Options: Sendable {
      /// The port; 0 selects a free one.
      public var port: UInt16 = 0
      /// The maximum number of listening pages. Additional pages are refused with a message.
      public var maximumListeners = 8
      /// The logger for the line with the URL; `nil` for none.
      public var logger: Logger? = Logger(label: "waylay.inspector")

      /// Makes the default options: a free port, eight listeners, a line in the log.
      public init() {}
    }

    private struct State {
      var isStarting = false
      var running: Running?
    }

    private struct Running {
      var url: URL
      var task: Task<Void, Never>
    }

    private let inspector: Inspector
    private let session: URLSession?
    private let options: Options
    private let limits: ConnectionLimits
    private let state = Locked(State())

    /// Makes a server; call ``start()`` to use it.
    ///
    /// - Parameters:
    ///   - inspector: The inspector to show.
    ///   - session: The session to send requests again with: the app's own, to use the same chain. Without a session,
    ///     requests cannot be sent again.
    ///   - options: The options of the server.
    public convenience init(_ inspector: Inspector, session: URLSession? = nil, options: Options = Options()) {
      self.init(inspector, session: session, options: options, limits: ConnectionLimits())
    }

    init(_ inspector: Inspector, session: URLSession? = nil, options: Options, limits: ConnectionLimits) {
      self.inspector = inspector
      self.limits = limits
      self.session = session
      self.options = options
    }

    deinit {
      state.withLock { $0.running }?.task.cancel()
    }

    /// The URL of the page while the server runs. It contains the token: anybody with the URL can see the traffic.
    public var url: URL? { state.withLock { $0.running?.url } }

    /// Starts listening, and returns the URL of the page. No-op while the server is running.
    ///
    /// - Throws: `WaylayError` if it cannot listen, and `CancellationError`.
    public func start() async throws -> URL {
      let running = try state.withLock { state -> URL? in
        if let running = state.running { return running.url }
        guard !state.isStarting else {
          throw WaylayError(.busy, "Another call is starting or stopping the server.")
        }
        state.isStarting = true
        return nil
      }
      if let running { return running }
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

    /// Stops listening, and closes open connections. Open pages report the end, and keep their content.
    public func stop() async {
      let running = state.withLock { $0.running.take() }
      running?.task.cancel()
      await running?.task.value
    }

    /// Runs the server until the task is cancelled.
    ///
    /// - Parameter ready: Called once, with the URL of the page.
    /// - Throws: `WaylayError` if it cannot listen, and `CancellationError` at the end.
    public func run(_ ready: @Sendable (URL) -> Void = { _ in }) async throws {
      ready(try await start())
      guard let task = state.withLock({ $0.running?.task }) else { return }
      await withTaskCancellationHandler {
        await task.value
      } onCancel: {
        task.cancel()
      }
      await stop()
      try Task.checkCancellation()
    }

    private func listen() async throws -> Running {
      let handler = RequestHandler(inspector: inspector, session: session, listeners: options.maximumListeners)
      let token = String.random(bytes: 16)
      var limits = limits
      limits.events = RequestHandler.events
      let listener = try await Listener(port: options.port, token: token, limits: limits) {
        await handler.respond(to: $0, by: $1)
      }
      return Running(url: listener.url("\(token)/"), task: Task { await listener.run() })
    }
  }
#else
  /// The server, which requires the package trait `InspectorServer`.
  @available(*, unavailable, message: "Enable the trait InspectorServer of the package waylay.")
  public struct InspectorServer: Sendable {
    /// Unavailable: names the missing trait.
    public init(_ inspector: Any, session: Any? = nil, options: Any? = nil) {}
  }
#endif
