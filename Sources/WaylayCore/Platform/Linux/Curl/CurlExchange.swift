#if CORELIBS_FOUNDATION
  internal import CWaylayCurl
  import Foundation
  import HTTPTypes

  /// One request and its response on libcurl.
  ///
  /// Unchecked: all state but `shared` is used on the loop's thread only, from ``begin(_:_:)`` to
  /// ``ended(_:easy:)``.
  final class CurlExchange: @unchecked Sendable {
    /// The state of both the reader's thread and the loop's.
    private struct Shared {
      var pipe: BodyPipe?
      /// The reader has as much as it may.
      var isFull = false
      /// libcurl was told to wait for the reader.
      var isPaused = false
      var isCancelled = false
    }

    let request: InterceptedRequest
    let url: URL
    let transport: CurlTransport
    let loop: CurlLoop
    let fields: [String]
    private let response = Promise<InterceptedResponse>()
    private let shared = Locked(Shared())

    var easy: UnsafeMutableRawPointer?
    var lists: [UnsafeMutableRawPointer] = []
    let message = UnsafeMutablePointer<CChar>.allocate(capacity: 256)
    let upload: CurlUpload
    private(set) var head: ResponseHead
    /// Why the response was refused at its head: it is over a limit, or its end cannot be known.
    private(set) var refusal: TransportError?
    private(set) var isDelivered = false
    /// The response was handed over without a body, whatever the server sends.
    private var isBodyless = false
    let ticket: DialGate.Ticket
    private(set) var hasEnded = false
    /// Where its connection leads.
    let destination: CurlQueue.Destination
    /// The time limit for opening a connection; the loop also waits so long for another exchange's connection.
    let connectLimit: Duration?
    /// How long it may wait in the queue at all; `nil` where the load watches over that.
    let waitLimit: Duration?
    /// The connection that it is on.
    var connectionState = CurlConnectionState()
    /// How often it was begun anew on another connection.
    var departures = 0
    /// Where it is in the loop's queue, to which this belongs.
    var position = CurlQueue.Position.none
    /// The bytes that arrived since the last flush.
    private var pending = Data()
    /// Whether the loop knows that something has come.
    var hasArrivals = false
    /// Bytes of the request's body that libcurl has taken.
    private var sentBytes: Int64 = 0
    /// Whether libcurl undoes a coding of the body.
    var decodes = true

    init(_ request: InterceptedRequest, of transport: CurlTransport, on loop: CurlLoop) throws {
      let url = request.url
      guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
        throw TransportError(
          .unsupportedURL, requestBytesSent: 0, message: "\(url.redacted) is neither http nor https.")
      }
      self.request = request
      ticket = DialGate.Ticket(request.route)
      self.url = url
      self.transport = transport
      self.loop = loop
      destination = CurlQueue.Destination(
        scheme: scheme, host: url.host?.lowercased(), port: url.port, address: request.route?.address,
        addressPort: request.route?.port)
      connectLimit = request.route?.connectTimeout ?? transport.options.connectTimeout.flatMap(Duration.init(limit:))
      waitLimit = request.observer?.watchesTimeout ?? false ? nil : Duration(limit: request.idleTimeout)
      try request.checkFraming(transport.options.limits)
      fields = CurlRequest.fields(of: request, isApps: request.observer?.load.id == request.id)
      head = ResponseHead(limits: transport.options.limits)
      upload = try CurlUpload(request.body, declared: CurlRequest.declaredLength(of: request))
      message.initialize(repeating: 0, count: 256)
    }

    deinit {
      message.deallocate()
    }

    /// Safe: the loop keeps an exchange for as long as libcurl has its handle.
    static func from(_ context: UnsafeMutableRawPointer?) -> CurlExchange {
      guard let context else { preconditionFailure("libcurl called back without a context") }
      return Unmanaged<CurlExchange>.fromOpaque(context).takeUnretainedValue()
    }

    // MARK: From any thread

    /// Starts the exchange and waits for the response's head.
    func start() async throws -> InterceptedResponse {
      try await response.value {
        do {
          if upload.isStream { upload.prepare { [weak self] in self.map { $0.loop.send(.resume($0)) } } }
          try loop.start(self)
        } catch {
          response.settle(.failure(error))
        }
      }
    }

    var isCancelled: Bool { shared.withLock { $0.isCancelled } }

    /// Whether another attempt has the request, or the request opens a connection that is not reused.
    var isOvertaken: Bool { request.route?.gate?.isClaimed ?? false || request.route?.opensNewConnection ?? false }

    /// Whether nothing more is taken from the connection, because the reader has as much as it may.
    var isHeldBack: Bool { shared.withLock { $0.isFull || $0.isPaused } }

    /// Ends the exchange from our side.
    func cancel() {
      let isFirst = shared.withLock { shared in
        defer { shared.isCancelled = true }
        return !shared.isCancelled
      }
      guard isFirst else { return }
      response.settle(.failure(CancellationError()))
      loop.send(.cancel(self))
    }

    /// The reader has taken everything.
    private func drained() {
      let wasPaused = shared.withLock { shared in
        shared.isFull = false
        defer { shared.isPaused = false }
        return shared.isPaused
      }
      if wasPaused { loop.send(.resume(self)) }
    }

    // MARK: On the loop's thread

    /// Something has come, which is handed over when libcurl has done all it can for now.
    private func noteArrival() {
      guard loop.arrivals.note(self) else { return }
      request.observer?.progressed()
      connectionState.connection?.lastActivity = .now
    }

    func receivedHead(_ bytes: UnsafeMutablePointer<CChar>, _ count: Int) -> Int {
      // An old libcurl does not say when the connection is open.
      if case .connecting = position { connectionState.connection = loop.noteBegun(self, from: 0) }
      noteArrival()
      let wasComplete = head.isComplete
      do {
        try head.add(UnsafeRawBufferPointer(start: bytes, count: count))
      } catch {
        refusal = error
        return breakOff()
      }
      guard !wasComplete, head.isComplete else { return count }
      if let easy {
        let isMultiplexed = waylay_curl_get_number(easy, CurlInfo.httpVersion) > 2
        // Now, and not when it is over: libcurl may begin the next request before it says that this one is.
        connectionState.connection?.isSequential = !isMultiplexed
        loop.queue.learned(self, isMultiplexed: isMultiplexed)
      }
      if decodes, CurlTransport.canStopDecoding, let easy, head.hasUnknownCoding(features: waylay_curl_features()) {
        decodes = false
        _ = waylay_curl_set_number(easy, CurlOption.contentDecoding, 0)
      }
      guard let fault = head.framingFault(for: request.method) else { return count }
      refusal = TransportError(
        .badServerResponse, phase: .receiving, requestBytesSent: easy.map { Int64(headBytesSent($0)) },
        address: easy.flatMap(LoadMetrics.address), message: "the response cannot be read: \(fault).")
      return breakOff()
    }

    func received(_ bytes: UnsafeMutablePointer<CChar>, _ count: Int) -> Int {
      guard !isBodyless else { return breakOff() }
      noteArrival()
      let mustWait = shared.withLock { shared in
        guard shared.isFull || pending.count >= transport.options.bufferSize else { return false }
        shared.isFull = true
        shared.isPaused = true
        return true
      }
      guard !mustWait else { return CurlReturn.pause }
      pending.append(UnsafeRawBufferPointer(start: bytes, count: count).bindMemory(to: UInt8.self))
      return count
    }

    func send(into buffer: UnsafeMutablePointer<CChar>, _ count: Int) -> Int {
      request.observer?.progressed()
      connectionState.connection?.lastActivity = .now
      let read = upload.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: count))
      guard read > 0, read <= count else { return read }
      sentBytes += Int64(read)
      request.observer?.sent(sentBytes)
      return read
    }

    func seek(to offset: Int64, origin: Int32) -> Bool {
      guard upload.seek(to: offset, origin: origin) else { return false }
      sentBytes = offset
      return true
    }

    /// Goes on in whichever direction can go on.
    func resume() {
      guard let easy, !hasEnded else { return }
      let isPaused = shared.withLock { $0.isPaused }
      _ = waylay_curl_pause(easy, (isPaused ? CurlPause.receiving : 0) | (upload.isWaiting ? CurlPause.sending : 0))
    }

    /// The body is coded in a way that libcurl does not know, and it would fail the response rather than hand it over
    /// as it is (P23). Where decoding cannot be stopped by then, the request is sent once more with nothing decoded, if
    /// it may be.
    var shouldRepeatUndecoded: Bool {
      decodes && head.isComplete && !isDelivered && !hasEnded && head.hasUnknownCoding(features: waylay_curl_features())
        && request.isIdempotent && upload.canSeek
    }

    /// Forgets the first response, so that the exchange can begin again with nothing decoded.
    func forgetResponse() {
      decodes = false
      head = ResponseHead(limits: transport.options.limits)
      refusal = nil
      pending = Data()
      forgetConnection()
    }

    /// Releases libcurl's handle, which has ended without a response, and the lists it was given.
    func forgetConnection() {
      easy = nil
      connectionState = CurlConnectionState()
      _ = seek(to: 0, origin: SEEK_SET)
      freeLists()
    }

    private func freeLists() {
      for list in lists { waylay_curl_list_free(list) }
      lists = []
    }

    /// Passes the pending bytes to the reader.
    func flush() {
      guard head.isComplete, !hasEnded else { return }
      if !isDelivered { deliver(body: open(), metrics: metrics(isOver: false)) }
      pushPending()
    }

    private func pushPending() {
      guard !pending.isEmpty else { return }
      let chunk = pending
      pending = Data()
      let pipe = shared.withLock { shared in
        shared.isFull = true
        return shared.pipe
      }
      guard let pipe, pipe.push(chunk) >= transport.options.bufferSize else { return drained() }
    }

    private func open() -> MessageBody {
      let pipe = BodyPipe(onAbandon: { [weak self] in self?.cancel() }, onDrain: { [weak self] in self?.drained() })
      shared.withLock { $0.pipe = pipe }
      isBodyless = head.hasNoBody(for: request.method)
      return isBodyless ? .empty : .pipe(BodyPipe.Reader(pipe), length: head.length)
    }

    private func deliver(body: MessageBody, metrics: LoadMetrics) {
      isDelivered = true
      var result = InterceptedResponse(
        status: HTTPResponse.Status(code: head.status), fields: head.fields, url: url, body: body, source: .network,
        metrics: metrics)
      if !head.trailers.isEmpty { result.trailers = head.trailers }
      response.settle(.success(result))
    }

    /// The exchange is over before it was begun.
    func fail(_ error: TransportError) {
      finish(error, easy: nil)
    }

    /// The exchange is over: by libcurl's code, or without one from our side.
    func ended(_ code: Int32?, easy: UnsafeMutableRawPointer?) {
      guard !hasEnded else { return }
      finish(failure(code, easy), easy: easy)
    }

    private func finish(_ error: (any Error)?, easy: UnsafeMutableRawPointer?) {
      guard !hasEnded else { return }
      if error == nil, head.isComplete, !isDelivered {
        // All of it has come at once: no stream is needed.
        deliver(body: .data(pending), metrics: metrics(isOver: true))
      } else if error != nil, head.isComplete, !isDelivered, !pending.isEmpty {
        flush()
      } else if isDelivered {
        pushPending()
      }
      hasEnded = true
      if let gate = request.route?.gate, !isDelivered, easy.map(headBytesSent) ?? 0 == 0 {
        gate.release(ticket)
      }
      let pipe = shared.withLock { shared in
        defer { shared.pipe = nil }
        return shared.pipe
      }
      if let pipe {
        pipe.finish(error.map { .failure($0) } ?? .success(()), trailers: head.trailers, metrics: metrics(isOver: true))
      }
      if !isDelivered {
        response.settle(
          .failure(
            error
              ?? TransportError(
                .badServerResponse, phase: .receiving, message: "the exchange ended without a response.")))
      }
      upload.end()
      freeLists()
      self.easy = nil
    }

    private func failure(_ code: Int32?, _ easy: UnsafeMutableRawPointer?) -> (any Error)? {
      if let error = upload.failure { return error }
      if let refusal { return refusal }
      guard let code else {
        return isCancelled ? CancellationError() : InterceptorRegistry.invalidatedError(url: url)
      }
      guard code != 0 else { return nil }
      if code == CurlCode.abortedByCallback, let gate = request.route?.gate, !gate.isClaimed(by: ticket) {
        return gate.lost(to: request.route)
      }
      // An abort without a gate: the request must not be sent twice, and its connection is gone.
      let isGone = code == CurlCode.abortedByCallback
      return TransportError(
        curl: isGone ? CurlCode.receiveFailed : code,
        message: isGone
          ? "the server had closed the kept connection, and \(request.method) is not sent twice"
          : String(cString: message),
        easy: easy, head: head,
        headBytesSent: easy.map(headBytesSent) ?? 0, isSecure: url.scheme?.lowercased() == "https")
    }

    private func metrics(isOver: Bool) -> LoadMetrics {
      guard let easy else { return LoadMetrics() }
      return LoadMetrics(easy: easy, isOver: isOver)
    }
  }

  extension Duration {
    /// A limit in seconds; `nil` for zero, less, and more than a day, which mean "no limit".
    fileprivate init?(limit seconds: TimeInterval) {
      guard seconds > 0, seconds < 86_400 else { return nil }
      self = .seconds(seconds)
    }
  }
#endif
