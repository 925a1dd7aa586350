#if AsyncHTTPClient
  import AsyncHTTPClient
  import HTTPTypes
  import NIOCore
  import NIOHTTP1

  /// One request and its response on a client.
  ///
  /// It retains the transport, so that the client lives while the body is read. Unchecked: `buffers` is used by one
  /// reader at a time, like any iterator.
  final class ClientExchange: @unchecked Sendable {
    let upload: Upload
    private let request: InterceptedRequest
    private let transport: AsyncHTTPClientTransport
    private let startedAt = ContinuousClock.now
    private var buffers: HTTPClientResponse.Body.AsyncIterator?

    init(_ request: InterceptedRequest, of transport: AsyncHTTPClientTransport) {
      self.request = request
      self.transport = transport
      upload = Upload(request)
    }

    deinit { upload.end() }

    /// Converts the head; reads the body from here on.
    func respond(_ response: HTTPClientResponse, _ limits: MessageLimits) async throws -> InterceptedResponse {
      request.observer?.progressed()
      if let count = request.body.inMemory?.count, count > 0 { request.observer?.sent(Int64(count)) }
      var fields = HTTPFields()
      var bytes = 0
      for (name, value) in response.headers {
        guard let fieldName = HTTPField.Name(name) else { continue }
        bytes += name.utf8.count + value.utf8.count + 4
        try limits.check(count: fields.count + 1, bytes: bytes, of: "the head of the response")
        fields.append(HTTPField(name: fieldName, value: value))
      }
      var metrics = LoadMetrics()
      metrics.firstByte = startedAt.duration(to: .now)
      metrics.requestBodyBytes = upload.sent
      metrics.protocolName =
        switch response.version {
        case .http2: "h2"
        case .http1_1: "http/1.1"
        default: "http/1.0"
        }
      // A decompressed body is longer than the field says, unless it is empty. A lookup by name would build an index.
      var length = fields.first { $0.name == .contentLength }.flatMap { Int64(decimal: $0.value) }
      if length != 0, fields.contains(where: { $0.name == .contentEncoding }) { length = nil }
      buffers = response.body.makeAsyncIterator()
      var body = MessageBody.relaying(.empty, length: length) { try await self.next() }
      if request.method == .head || [204, 304].contains(response.status.code) || length == 0 {
        // The response ends with its head; read to the end, so that the connection can be reused.
        _ = try? await next()
        try Task.checkCancellation()
        body = .empty
      }
      return InterceptedResponse(
        status: HTTPResponse.Status(code: Int(response.status.code), reasonPhrase: response.status.reasonPhrase),
        fields: fields, url: request.url, body: body, source: .network, metrics: metrics)
    }

    private func next() async throws -> Data? {
      do {
        guard let buffer = try await inTime({ try await self.buffers?.next() }) else {
          // A cancelled reading may end without an error, although it is incomplete.
          try Task.checkCancellation()
          upload.end()
          return nil
        }
        request.observer?.progressed()
        upload.touch()
        return Data(buffer.readableBytesView)
      } catch {
        throw failed(error)
      }
    }

    /// Waits; enforces the idle timeout of the request, unless the core already watches it.
    func inTime<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
      let limit = request.idleTimeout
      guard request.observer?.watchesTimeout != true, limit > 0, limit < 1e6 else { return try await work() }
      upload.touch()
      let value = try await race(until: { [upload] in upload.lastActivity + .seconds(limit) }, work)
      guard let value else { throw HTTPClientError.readTimeout }
      return value
    }

    /// Ends the exchange. Returns the error to throw: a cause known to this exchange, or the mapped error.
    func failed(_ error: any Error) -> any Error {
      upload.end()
      if let failure = upload.failure { return failure }
      if Task.isCancelled || error is CancellationError { return CancellationError() }
      if transport.isOver { return InterceptorRegistry.invalidatedError(url: request.url) }
      return TransportError.of(error, in: request, hasHead: buffers != nil)
    }
  }

  /// Runs work until a deadline, which may move; returns `nil` if the deadline passes first.
  private func race<Value: Sendable>(
    until end: @escaping @Sendable () -> ContinuousClock.Instant, _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value? {
    try await withThrowingTaskGroup(of: Value?.self) { group in
      group.addTask { try await work() }
      group.addTask {
        while true {
          let instant = end()
          guard instant > .now else { return nil }
          try await Task.sleep(until: instant, clock: .continuous)
        }
      }
      defer { group.cancelAll() }
      return try await group.next().flatMap(\.self)
    }
  }

  /// The upload of a request's body. AsyncHTTPClient reads it piece by piece in a separate task.
  ///
  /// Unchecked: `chunks` and `rest` are used by one reader at a time, like any iterator.
  final class Upload: @unchecked Sendable {
    private struct State {
      var reading: Task<Data?, any Error>?
      var lastActivity = ContinuousClock.now
      var sent: Int64 = 0
      var failure: (any Error)?
      var isOver = false
    }

    /// The maximum number of bytes per piece.
    private static let pieceSize = 256 * 1024

    private let request: InterceptedRequest
    private let origin = LoadOrigin()
    private let state = Locked(State())
    private var chunks: MessageBody.AsyncIterator
    private var rest = Data()

    init(_ request: InterceptedRequest) {
      self.request = request
      chunks = request.body.makeAsyncIterator()
    }

    var failure: (any Error)? { state.withLock { $0.failure } }
    var sent: Int64 { state.withLock { $0.sent } }
    var lastActivity: ContinuousClock.Instant { state.withLock { $0.lastActivity } }

    func touch() { state.withLock { $0.lastActivity = .now } }

    /// The length, if the body or the app's field states it.
    private var length: Int64? { request.body.length ?? request.fields[.contentLength].flatMap { Int64(decimal: $0) } }

    /// The body for the client. It is not read before the client requests a piece.
    var body: HTTPClientRequest.Body? {
      guard request.method != .head, !request.body.isEmpty else { return nil }
      if let data = request.body.inMemory, data.count <= Self.pieceSize {
        state.withLock { $0.sent = Int64(data.count) }
        return .bytes(ByteBuffer(bytes: data))
      }
      return .stream(Pieces(upload: self), length: length.map { .known($0) } ?? .unknown)
    }

    fileprivate func next() async throws -> ByteBuffer? {
      request.observer?.sent(sent)
      touch()
      if rest.isEmpty {
        // A separate task that `end` can cancel: the client's own task cannot be cancelled from here.
        let reading = Task { [origin] in try await origin.run { try await self.chunks.next() } }
        let isOver = state.withLock { state in
          state.reading = reading
          return state.isOver
        }
        if isOver { reading.cancel() }
        do {
          guard let chunk = try await reading.value else { return nil }
          rest = chunk
        } catch {
          state.withLock { if !$0.isOver { $0.failure = error } }
          throw error
        }
      }
      let piece = rest.prefix(Self.pieceSize)
      rest = rest.dropFirst(Self.pieceSize)
      state.withLock { $0.sent += Int64(piece.count) }
      return ByteBuffer(bytes: piece)
    }

    /// Stops reading the body.
    func end() {
      let reading = state.withLock { state in
        state.isOver = true
        return state.reading
      }
      reading?.cancel()
    }

    private struct Pieces: AsyncSequence, AsyncIteratorProtocol {
      let upload: Upload

      func makeAsyncIterator() -> Pieces { self }
      func next() async throws -> ByteBuffer? { try await upload.next() }
    }
  }
#endif
