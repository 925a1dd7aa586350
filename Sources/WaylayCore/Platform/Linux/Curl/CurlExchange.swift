#if CORELIBS_FOUNDATION
  internal import CWaylayCurl
  import Foundation
  import HTTPTypes

  /// One request and its response on libcurl.
  ///
  /// Unchecked: all state but `shared` is used on the loop's thread only, from ``begin(_:_:)`` to
  /// ``ended(_:easy:)``.
  final class CurlExchange: @unchecked Sendable {
    /// State that the reader's thread and the loop's thread share.
    private struct Shared {
      var pipe: BodyPipe?
      /// Whether the buffer of the reader is full.
      var isFull = false
      /// Whether libcurl has paused the transfer for the reader.
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
    /// Why the response was rejected at its head: it exceeds a limit, or its end cannot be determined.
    private(set) var refusal: TransportError?
    private(set) var isDelivered = false
    /// Whether the response was delivered without a body, whatever the server sends after the head.
    private var isBodyless = false
    let ticket: DialGate.Ticket
    private(set) var hasEnded = false
    /// The destination by which the queue admits it.
    let destination: CurlQueue.Destination
    /// The time limit for opening a connection. The loop also waits this long for the connection of another exchange.
    let connectLimit: Duration?
    /// The time limit for waiting in the queue; `nil` if the load keeps it.
    let waitLimit: Duration?
    /// The state of its connection.
    var connectionState = CurlConnectionState()
    /// The number of times that it moved to another connection.
    var departures = 0
    /// Its place in the loop's queue; only the queue sets it.
    var position = CurlQueue.Position.none
    /// The bytes that arrived since the last flush.
    private var pending = Data()
    /// Whether the loop's list of arrivals contains it.
    var hasArrivals = false
    /// The number of body bytes that libcurl has taken.
    private var sentBytes: Int64 = 0
    /// Whether libcurl decodes the content coding of the body.
    var decodes = true
    private var unframed: UnframedBody?

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

    /// Safe: the loop retains an exchange while libcurl has its handle.
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

    /// Whether another attempt of the route sends the request, or the request opens a connection that is not reused.
    var isOvertaken: Bool { request.route?.gate?.isClaimed ?? false || request.route?.opensNewConnection ?? false }

    /// Whether the transfer is paused because the buffer of the reader is full.
    var isHeldBack: Bool { shared.withLock { $0.isFull || $0.isPaused } }

    /// Cancels the exchange.
    func cancel() {
      let isFirst = shared.withLock { !exchange(&$0.isCancelled, with: true) }
      guard isFirst else { return }
      response.settle(.failure(CancellationError()))
      loop.send(.cancel(self))
    }

    /// Handles that the reader has taken all buffered bytes.
    private func drained() {
      let wasPaused = shared.withLock { shared in
        shared.isFull = false
        return exchange(&shared.isPaused, with: false)
      }
      if wasPaused { loop.send(.resume(self)) }
    }

    // MARK: On the loop's thread

    /// Notes that bytes have arrived; the loop delivers them after libcurl has done all that it can for now.
    private func noteArrival() {
      guard loop.arrivals.note(self) else { return }
      request.observer?.progressed()
      connectionState.connection?.lastActivity = .now
    }

    func receivedHead(_ bytes: UnsafeMutablePointer<CChar>, _ count: Int) -> Int {
      // An old libcurl does not report when the connection opens.
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
        // Set it here, because libcurl may begin the next request on the connection before it reports the end of this
        // one.
        connectionState.connection?.isSequential = !isMultiplexed
        loop.queue.learned(self, isMultiplexed: isMultiplexed)
      }
      if decodes, CurlTransport.canStopDecoding, let easy, head.hasUnknownCoding(features: waylay_curl_features()) {
        decodes = false
        _ = waylay_curl_set_number(easy, CurlOption.contentDecoding, 0)
      }
      if decodes, let easy, waylay_curl_get_number(easy, CurlInfo.httpVersion) < 3 {
        unframed = UnframedBody(head, of: request.method)
        if isDecodedHere { _ = waylay_curl_set_number(easy, CurlOption.contentDecoding, 0) }
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
      let chunk = UnsafeRawBufferPointer(start: bytes, count: count)
      guard isDecodedHere else {
        pending.append(chunk.bindMemory(to: UInt8.self))
        return count
      }
      guard let plain = unframed?.decode(Data(chunk)) else {
        refusal = TransportError(
          .cannotDecodeContentData, phase: .receiving, address: easy.flatMap(LoadMetrics.address),
          message: "the body is not coded as \(head.fields[.contentEncoding] ?? "") says.")
        return breakOff()
      }
      pending.append(plain)
      return count
    }

    private var isDecodedHere: Bool { CurlTransport.canStopDecoding && unframed?.canDecode ?? false }

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

    /// Resumes the direction of the transfer that is paused and can continue.
    func resume() {
      guard let easy, !hasEnded else { return }
      let isPaused = shared.withLock { $0.isPaused }
      _ = waylay_curl_pause(easy, (isPaused ? CurlPause.receiving : 0) | (upload.isWaiting ? CurlPause.sending : 0))
    }

    /// Whether to send the request again without decoding: libcurl does not know the content coding, and would fail the
    /// response instead of delivering it as it is (P23). Only for a request that may be sent twice, and where decoding
    /// can no longer be turned off.
    var shouldRepeatUndecoded: Bool {
      decodes && head.isComplete && !isDelivered && !hasEnded && head.hasUnknownCoding(features: waylay_curl_features())
        && request.isIdempotent && upload.canSeek
    }

    /// Discards the response, so that the exchange can begin again without decoding.
    func forgetResponse() {
      decodes = false
      head = ResponseHead(limits: transport.options.limits)
      (refusal, unframed) = (nil, nil)
      pending = Data()
      forgetConnection()
    }

    /// Releases the handle of libcurl and its lists, after an end without a response.
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

    /// Fails the exchange before it begins.
    func fail(_ error: TransportError) {
      finish(error, easy: nil)
    }

    /// Ends the exchange, with the code of libcurl, or without one if it was cancelled.
    func ended(_ code: Int32?, easy: UnsafeMutableRawPointer?) {
      guard !hasEnded else { return }
      finish(failure(code, easy), easy: easy)
    }

    private func finish(_ error: (any Error)?, easy: UnsafeMutableRawPointer?) {
      guard !hasEnded else { return }
      if error == nil, head.isComplete, !isDelivered {
        // The whole body has arrived, so it is delivered as data instead of a stream.
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
      if let pipe = shared.withLock({ $0.pipe.take() }) {
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
      // Cancelled without a gate: the request must not be sent twice, and its connection is gone.
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
      var metrics = LoadMetrics(easy: easy, isOver: isOver)
      metrics.isBodyCut = isOver && !(unframed?.isWhole ?? true)
      if transport.isSecured, let pins = transport.options.security.demands(for: url)?.reported {
        metrics.isPinned = waylay_curl_certificate(easy).map { String(cString: $0) }
          .flatMap(PublicKeyInfo.digest(ofPEM:)).map(pins.contains)
      }
      return metrics
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
