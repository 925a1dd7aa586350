#if AsyncHTTPClient
  import AsyncHTTPClient
  import HTTPTypes
  import NIOCore
  import NIOHTTP1

  /// One request and its response on a client.
  ///
  /// It holds the transport, so that the client lives as long as somebody reads from it. Unchecked: `buffers` is used by
  /// one reader at a time, like any iterator.
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

    /// Takes a response, whose body is read from here on.
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
      // What a client has decompressed is longer than the field says, unless there is nothing to decompress. Looking
      // fields up by name would make an index.
      var length = fields.first { $0.name == .contentLength }.flatMap { Int64(decimal: $0.value) }
      if length != 0, fields.contains(where: { $0.name == .contentEncoding }) { length = nil }
      buffers = response.body.makeAsyncIterator()
      var body = MessageBody.relaying(.empty, length: length) { try await self.next() }
      if request.method == .head || [204, 304].contains(response.status.code) || length == 0 {
        // It ends with its head, and is read to its end or the connection could not be kept.
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
          // A reading that is cancelled may end without an error, and is not whole.
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

    /// Waits; and not for longer than the idle timeout of an attempt that the core does not watch.
    func inTime<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
      let limit = request.idleTimeout
      guard request.observer?.watchesTimeout != true, limit > 0, limit < 1e6 else { return try await work() }
      upload.touch()
      let value = try await race(until: { [upload] in upload.lastActivity + .seconds(limit) }, work)
      guard let value else { throw HTTPClientError.readTimeout }
      return value
    }

    /// The exchange is over, for this reason, or for one that comes first.
    func failed(_ error: any Error) -> any Error {
      upload.end()
      if let failure = upload.failure { return failure }
      if Task.isCancelled || error is CancellationError { return CancellationError() }
      if transport.isOver { return InterceptorRegistry.invalidatedError(url: request.url) }
      return TransportError.of(error, in: request, hasHead: buffers != nil)
    }
  }

  /// Runs some work until an end, which may move on meanwhile; `nil` when that has come first.
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

  /// The body of a request on its way into AsyncHTTPClient, which reads it in a task of its own, piece by piece.
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

    /// Bytes that are handed over at once.
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

    /// The number of bytes, where the body or the app's field says it.
    private var length: Int64? { request.body.length ?? request.fields[.contentLength].flatMap { Int64(decimal: $0) } }

    /// What the client is given. Nothing is read before the client asks for it.
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
        // A task, for `end` to cancel: the client's own cannot be.
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

    /// Nobody wants the rest.
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
