#if CORELIBS_FOUNDATION
  import Foundation

  extension URLSession {
    /// The bytes of a response as they arrive, by the name that they have on Apple platforms.
    ///
    /// They can be read once. Dropping them before the end cancels the task.
    ///
    /// ```swift
    /// let (bytes, _) = try await session.bytes(from: url)
    /// let timer = Task { try await Task.sleep(for: .seconds(60)); bytes.task.cancel() }
    /// defer { timer.cancel() }
    /// for try await line in bytes.lines where line.hasPrefix("data: ") { print(line.dropFirst(6)) }
    /// ```
    ///
    /// After `task.cancel()`, or `invalidateAndCancel()` of the session, reading fails with `URLError.cancelled`. Do not
    /// use them for a body that fits into memory: `data(for:)` costs less.
    public struct AsyncBytes: AsyncSequence, Sendable {
      /// The task that loads the bytes. While it is suspended, no bytes are passed on.
      public let task: URLSessionDataTask
      let body: MessageBody

      /// The same bytes line by line, without the line endings, which may be LF, CR LF or CR.
      public var lines: MessageBody.Lines { body.lines }

      /// Starts reading.
      public func makeAsyncIterator() -> MessageBody.Bytes.AsyncIterator { body.bytes.makeAsyncIterator() }
    }

    /// Loads a request through the registry of this session, and returns its bytes as they arrive. Foundation on Linux has
    /// no such function.
    ///
    /// ```swift
    /// let (bytes, _) = try await session.bytes(from: url)
    /// for try await line in bytes.lines where line.hasPrefix("data: ") { print(line.dropFirst(6)) }
    /// ```
    ///
    /// It returns when the head has arrived. A slow reader slows the server down. The task is one of this session:
    /// suspending or cancelling it, invalidating the session and cancelling the calling Swift task have the effect that
    /// they have on Apple platforms. In a session that is invalidated, the call fails with `URLError.cancelled`.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - delegate: Is asked about redirects and challenges instead of the session's delegate.
    /// - Throws: `WaylayError.notIntercepted` for a session that no registry intercepts; otherwise a `URLError`, with the
    ///   cause under `NSUnderlyingErrorKey`. Reading the bytes throws the same.
    public func bytes(
      for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
      guard let ours = configuration.protocolClasses?.lazy.compactMap({ $0 as? InterceptingProtocol.Type }).first else {
        throw InterceptionProbe.notIntercepted("its configuration has no protocol class of Waylay")
      }
      guard let installation = ProtocolClasses.installation(of: ours) else {
        throw URLError(.resourceUnavailable, underlying: InterceptorRegistry.invalidatedError(url: request.url))
      }
      let bytes = TaskBytes()
      let task = try BytesSession(for: self, bytes).task(for: request, in: installation, delegate)
      return try await bytes.response(of: task)
    }

    /// Like ``bytes(for:delegate:)``, for a URL.
    public func bytes(
      from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
      try await bytes(for: URLRequest(url: url), delegate: delegate)
    }
  }

  /// The stand-in of an app's session that makes the task of one ``URLSession/bytes(for:delegate:)``.
  ///
  /// It lets its one task be loaded by ``BytesProtocol`` whatever else the session has for protocol classes, and leads
  /// ``PlatformClient`` from the task to the reader.
  ///
  /// Unchecked like its superclass; it adds constants.
  final class BytesSession: URLSession, @unchecked Sendable {
    let original: URLSession
    let bytes: TaskBytes
    private let parts: SessionParts

    init(for original: URLSession, _ bytes: TaskBytes) throws {
      guard let parts = SessionParts.known else { throw TaskInternals.changed("URLSession", isEssential: false) }
      (self.original, self.bytes, self.parts) = (original, bytes, parts)
      let configuration = original.configuration.copied
      configuration.protocolClasses = [BytesProtocol.self]
      // With a cache, the protocol object is made on another thread than the one that resumes the task (P22).
      configuration.urlCache = nil
      super.init(configuration: configuration, delegate: nil, delegateQueue: original.delegateQueue)
      try parts.lend(from: original, to: self)
    }

    /// Makes the task, and starts it.
    func task(
      for request: URLRequest, in installation: Installation, _ delegate: (any URLSessionTaskDelegate)?
    ) throws -> URLSessionDataTask {
      let ownership = Installation.Ownership(
        request, in: installation, context: installation.settings(of: original).context, for: BytesProtocol.self,
        bySession: false)
      let task = try parts.dataTask(of: original, in: self, request) { [bytes] in bytes.end($0, $1, $2) }
      if let delegate { task.delegate = delegate }
      BytesProtocol.keep(ownership)
      task.resume()
      return task
    }
  }

  /// The protocol class of the tasks of `bytes(for:)`. Their request was looked at before: no chain may want it, and it is
  /// loaded all the same.
  final class BytesProtocol: InterceptingProtocol {
    override class func canInit(with request: URLRequest) -> Bool { true }
  }

  /// The bytes of a task between its load, which waits for the reader after each chunk, and the reader.
  final class TaskBytes: Sendable {
    private struct State {
      /// The task, until its end.
      var task: URLSessionTask?
      var hasEnded = false
      /// The load, which waits until its chunk is read.
      var waiters = Waiters()
    }

    private let state: Locked<State>
    private let head = Promise<URLResponse>()
    private let pipe: BodyPipe

    init() {
      let state = Locked(State())
      self.state = state
      pipe = BodyPipe(
        onAbandon: { state.withLock { $0.task.take() }.map(PlatformClient.cancel) },
        onDrain: { state.change(waking: \.waiters) { _ in } })
    }

    // MARK: Called by the load

    func begin(_ response: URLResponse) { head.settle(.success(response)) }

    /// Passes on a chunk, and waits until it is read.
    func take(_ chunk: Data) async {
      pipe.push(chunk)
      await state.wait(at: \.waiters) { [pipe] _ in pipe.isDrained }
    }

    /// The task's completion handler: the last call. A body that was in memory comes here.
    func end(_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) {
      let task = state.withLock { state in
        state.hasEnded = true
        return state.task.take()
      }
      if let error { head.settle(.failure(error)) }
      if let response { begin(response) }
      if let data { pipe.push(data) }
      pipe.finish(error.map { .failure($0) } ?? .success(()))
      // Released outside of the lock.
      _ = task
    }

    // MARK: Called by the reader

    /// Waits for the response's head.
    func response(of task: URLSessionDataTask) async throws -> (URLSession.AsyncBytes, URLResponse) {
      let reader = BodyPipe.Reader(pipe)
      state.withLock { if !$0.hasEnded { $0.task = task } }
      let response = try await withTaskCancellationHandler {
        try await head.value()
      } onCancel: {
        head.settle(.failure(URLError(.cancelled)))
        PlatformClient.cancel(task)
      }
      let body = MessageBody(
        storage: .source(
          MessageBody.Source(length: nil) {
            MessageBody.Chunks {
              do { return try await reader.next() } catch is CancellationError { throw URLError(.cancelled) }
            }
          }))
      return (URLSession.AsyncBytes(task: task, body: body), response)
    }
  }
#endif
