import Foundation
import HTTPTypes

/// A transport over one inner `URLSession`.
///
/// A registry uses it on Apple platforms, and on Linux if libcurl is not available or the configuration has foreign
/// protocol classes. There is one per installation, never one per request, so that connections are reused. The inner
/// session uses none of Waylay's protocol classes, follows no redirects, stores no cookies, caches nothing and answers
/// no challenges; the configuration's foreign protocol classes still take precedence over the network.
///
/// On Linux an inner session has limitations that cannot be worked around (platform facts U1 to U6): back pressure does
/// not reach the server, so a large body is buffered; IPv6 literals and private certificate authorities do not work;
/// and a streamed request body is first written to a temporary file, because the loading system reads it on the one
/// queue that all sessions share.
public final class URLSessionTransport: OwnTransport {
  private struct State {
    var session: URLSession?
    var isInvalidated = false
  }

  private let state = Locked(State())
  private let configuration: Locked<URLSessionConfiguration>
  private let exchanges = ExchangeTable()
  private let hasForeignClasses: Bool
  private let waitsForConnectivity: Bool
  private let limits: MessageLimits
  private let security: TransportSecurity
  private let makeSession: MakeSession

  package typealias MakeSession = @Sendable (URLSessionConfiguration, any URLSessionDelegate) -> URLSession

  /// Makes a transport, which opens its inner session on the first load.
  ///
  /// - Parameters:
  ///   - configuration: The timeouts, proxies, TLS settings and connection limits of the inner session. Its storages
  ///     are not used, except for that of credentials on Apple platforms.
  ///   - limits: The limits for heads, sent and received. They apply after the inner session has read a head.
  ///   - security: Pins and client certificates; on Apple platforms.
  public convenience init(
    configuration: URLSessionConfiguration = .default, limits: MessageLimits = MessageLimits(),
    security: TransportSecurity = TransportSecurity()
  ) {
    self.init(configuration: configuration, limits: limits, security: security) {
      URLSession(configuration: $0, delegate: $1, delegateQueue: nil)
    }
  }

  /// Makes a transport over a custom inner session, whose delegate calls are serialized.
  package init(
    configuration: URLSessionConfiguration, limits: MessageLimits, security: TransportSecurity = TransportSecurity(),
    makeSession: @escaping MakeSession
  ) {
    (self.limits, self.security) = (limits, security)
    self.makeSession = makeSession
    let inner = configuration.copied
    inner.httpCookieStorage = nil
    inner.httpShouldSetCookies = false
    inner.httpCookieAcceptPolicy = .never
    inner.urlCache = nil
    PlatformClient.adjust(inner)
    if !PlatformClient.transportAnswersChallenges { inner.urlCredentialStorage = nil }
    inner.httpAdditionalHeaders = nil
    hasForeignClasses = inner.hasForeignProtocolClasses
    waitsForConnectivity = inner.waitsForNetwork
    self.configuration = Locked(inner)
  }

  deinit {
    invalidate()
  }

  /// The capabilities: bodies of known length stream; see the type for the differences between platforms.
  public var capabilities: TransportCapabilities { PlatformExchange.capabilities }

  /// Sends `request`; returns when the response's head arrives.
  public func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
    guard request.route == nil else {
      throw WaylayError(
        .transportIncapable,
        "the request has a route, but URLSession cannot connect to any address but its host's: use CurlTransport, on "
          + "Linux.",
        url: request.url, requestID: request.id)
    }
    let demands = security.demands(for: request.url)
    if let demands, !PlatformExchange.supports(demands) {
      throw TransportSecurity.incapable("URLSession on this platform", of: request)
    }
    try request.checkFraming(limits)
    let upload = try await PlatformExchange.Upload(request)
    var urlRequest = request.untagged
    urlRequest.setValue(upload.contentLength, forHTTPHeaderField: "Content-Length")
    urlRequest.setValue(nil, forHTTPHeaderField: "Transfer-Encoding")
    // The core enforces the load's idle timeout; the inner session's timeout applies only to an attempt with its own
    // timeout.
    if request.observer?.watchesTimeout == true, !waitsForConnectivity { urlRequest.timeoutInterval = Self.never }
    // A foreign class may use an intercepted session: the tag identifies the load there.
    let beneath = hasForeignClasses ? request.observer?.lineage?.within(SharedWork.current).sent(by: .transport) : nil
    if let tag = beneath?.counting { RequestTag.tag(&urlRequest, with: tag) }
    let exchange = SessionExchange(request, upload: upload, limits: limits, demands: demands)
    return try await withTaskCancellationHandler { [urlRequest] in
      guard hasForeignClasses else { return try await exchange.head { try self.makeTask(urlRequest, for: exchange) } }
      return try await Lineage.$current.withValue(beneath) {
        try await Lineage.$origin.withValue(request.observer?.load.origin) {
          try await exchange.head { try self.makeTask(urlRequest, for: exchange) }
        }
      }
    } onCancel: {
      exchange.cancel()
    }
  }

  /// A week, in seconds.
  private static let never: TimeInterval = 7 * 24 * 60 * 60

  /// Ends all exchanges and closes all connections.
  public func invalidate() {
    let session = state.withLock { state in
      state.isInvalidated = true
      return state.session.take()
    }
    if let session { PlatformClient.leavingQueue { session.invalidateAndCancel() } }
  }

  /// Makes the inner task. Under the lock, because making a task on an invalidated session crashes the process.
  private func makeTask(_ request: URLRequest, for exchange: SessionExchange) throws -> URLSessionTask {
    try state.withLock { state -> URLSessionTask in
      guard !state.isInvalidated else { throw InterceptorRegistry.invalidatedError(url: request.url) }
      let session = state.session ?? configuration.withLock { makeSession($0, exchanges) }
      state.session = session
      let task = exchange.upload.makeTask(request, in: session, for: exchange, toForeignClasses: hasForeignClasses)
      exchanges.add(exchange, for: task)
      return task
    }
  }
}

extension URLSessionConfiguration {
  /// Whether the configuration has protocol classes that are not the system's own; only a session uses them.
  var hasForeignProtocolClasses: Bool {
    let native = URLSessionConfiguration.default.protocolClasses ?? []
    return (protocolClasses ?? []).contains { candidate in !native.contains { $0 == candidate } }
  }
}

/// One request and its response on the inner session.
final class SessionExchange: Sendable {
  private struct State {
    var task: URLSessionTask?
    var pipe: BodyPipe?
    var isCancelled = false
    /// Whether the task is suspended, once, because the reader is slow.
    var isHeld = false
    var requestBytesSent: Int64 = 0
    var isPinned: Bool?
  }

  let upload: PlatformExchange.Upload
  /// Whether the app's request contains the body, where protocol classes can read it.
  var showsBody: Bool { !request[UploadedBody.self] }
  private let request: InterceptedRequest
  /// Whether the server's key is among the pins; `nil` as long as it is not known.
  var isPinned: Bool? {
    get { state.withLock { $0.isPinned } }
    set { state.withLock { $0.isPinned = newValue } }
  }
  /// The observer of progress.
  var observer: TransportObserver? { request.observer }
  private let startedAt = ContinuousClock.now
  private let state = Locked(State())
  private let response = Promise<InterceptedResponse>()
  private let limits: MessageLimits
  /// Pins and a client certificate.
  let demands: TransportSecurity.Demands?

  init(
    _ request: InterceptedRequest, upload: PlatformExchange.Upload, limits: MessageLimits,
    demands: TransportSecurity.Demands?
  ) {
    self.limits = limits
    self.demands = demands
    self.request = request
    self.upload = upload
  }

  /// Starts the task and waits for the response's head.
  func head(_ makeTask: () throws -> URLSessionTask) async throws -> InterceptedResponse {
    try await response.value {
      do {
        let task = try makeTask()
        let isCancelled = state.withLock { state in
          state.task = task
          return state.isCancelled
        }
        if isCancelled { cancel() } else { task.resume() }
      } catch {
        end(throwing: error)
      }
    }
  }

  /// Cancels the exchange.
  func cancel() {
    let task = state.withLock { state in
      state.isCancelled = true
      return state.task
    }
    guard let task else { return }
    // A cancel may come from any thread; on the loading system's own thread it would crash the process.
    PlatformClient.cancel(task)
    end(throwing: CancellationError())
  }

  // MARK: Calls of the inner session

  /// The session waits for connectivity, up to the timeout of the whole load. Until the head arrives, the session's own
  /// timeout applies, which starts with the connection.
  func waitsForConnectivity() { observer?.load.setWaiting(false) }

  func sent(_ bytes: Int64) {
    observer?.sent(bytes)
    state.withLock { $0.requestBytesSent = bytes }
  }

  func received(_ response: URLResponse) {
    observer?.progressed()
    // The session reports one response per part of multipart/x-mixed-replace: treat all parts as one body.
    guard state.withLock({ $0.pipe == nil }) else { return }
    guard let response = response as? HTTPURLResponse else { return receivedForeign(response) }
    let fields: HTTPFields
    do { fields = try HTTPFields(response, limits: limits) } catch { return fail(error) }
    let status = HTTPResponse.Status(code: min(max(response.statusCode, 0), 999))
    deliver(status: status, fields: fields, url: response.url, length: length(of: response, fields: fields))
  }

  /// Fails an exchange whose request cannot be sent completely, or whose response must not be accepted.
  func fail(_ error: any Error) {
    let task = state.withLock { state in
      state.isCancelled = true
      return state.task
    }
    // End the exchange first: the cancellation would make the session report that the task was cancelled.
    end(throwing: error)
    if let task { PlatformClient.cancel(task) }
  }

  /// Handles the response of a foreign protocol class, which need not be HTTP.
  private func receivedForeign(_ response: URLResponse) {
    var fields = HTTPFields()
    if let type = response.mimeType {
      fields[.contentType] = response.textEncodingName.map { "\(type);charset=\($0)" } ?? type
    }
    deliver(status: .ok, fields: fields, url: response.url, length: nil)
  }

  private func length(of response: HTTPURLResponse, fields: HTTPFields) -> Int64? {
    if request.method == .head || [204, 304].contains(response.statusCode) { return 0 }
    // The session has decompressed the body, but the length is still that of the compressed one.
    guard fields[.contentEncoding] == nil else { return nil }
    return response.expectedContentLength >= 0 ? response.expectedContentLength : nil
  }

  private func deliver(status: HTTPResponse.Status, fields: HTTPFields, url: URL?, length: Int64?) {
    let pipe = BodyPipe(onAbandon: { [weak self] in self?.cancel() }, onDrain: { [weak self] in self?.resumeReading() })
    var metrics = LoadMetrics()
    metrics.firstByte = startedAt.duration(to: .now)
    if demands?.reported != nil { metrics.isPinned = isPinned }
    metrics.requestBodyBytes = state.withLock { state in
      state.pipe = pipe
      return state.requestBytesSent
    }
    let body: MessageBody = length == 0 ? .empty : .pipe(BodyPipe.Reader(pipe), length: length)
    response.settle(
      .success(
        InterceptedResponse(
          status: status, fields: fields, url: url ?? request.url, body: body, source: .network,
          metrics: metrics)))
  }

  func received(_ data: Data) {
    observer?.progressed()
    let (pipe, task) = state.withLock { ($0.pipe, $0.task) }
    guard let pipe, pipe.push(data) > PlatformExchange.highWater, let task else { return }
    hold(task, for: pipe)
  }

  /// Suspends the task until the reader has taken all chunks; delegate calls are serialized.
  ///
  /// Suspensions nest, and data may still arrive after one: the task is suspended at most once, and resumed once.
  /// https://developer.apple.com/documentation/foundation/urlsessiontask/suspend()
  private func hold(_ task: URLSessionTask, for pipe: BodyPipe) {
    guard !state.withLock({ $0.isHeld }) else { return }
    task.suspend()
    state.withLock { $0.isHeld = true }
    // A reader that has drained the pipe meanwhile found nothing to resume: resume here.
    if pipe.isDrained { resumeReading() }
  }

  private func resumeReading() {
    guard PlatformExchange.highWater < .max else { return }
    let task = state.withLock { exchange(&$0.isHeld, with: false) ? $0.task : nil }
    task?.resume()
  }

  /// Ends the exchange: the response is complete, or the inner session asks for credentials, which ends it too.
  func ended(_ error: (any Error)?) {
    end(throwing: error.map { transportError($0) })
  }

  private func end(throwing error: (any Error)?) {
    let pipe = state.withLock { state in
      defer { state.task = nil }
      return state.pipe
    }
    upload.discard()
    pipe?.finish(error.map { .failure($0) } ?? .success(()))
    response.settle(
      .failure(
        error
          ?? TransportError(.badServerResponse, phase: .receiving, message: "the exchange ended without a response.")))
  }

  private func transportError(_ error: any Error) -> any Error {
    let sent = state.withLock { $0.requestBytesSent }
    // An error of another type comes from a protocol class beneath: pass it on unchanged, for code that knows its type.
    guard let error = error as? URLError else { return error }
    let phase = TransportError.Phase(of: error.code)
    let nothingSent: Set<TransportError.Phase> = [.resolving, .connecting, .securing]
    return TransportError(
      error.code, phase: phase, requestBytesSent: nothingSent.contains(phase) ? 0 : sent > 0 ? sent : nil,
      message: message(of: error), underlying: error)
  }
}

extension SessionExchange {
  /// The session's message; for a scheme that no other transport supports, it also names the session.
  private func message(of error: URLError) -> String {
    let scheme = request.url.scheme?.lowercased() ?? ""
    guard URL.defaultPort(of: scheme) == nil else { return "\(error.redacted)." }
    let text = error.userInfo[NSLocalizedDescriptionKey] as? String ?? "unsupported URL"
    return "URLSession, to which URLs of the scheme \"\(scheme)\" are left, cannot load it: \(text)."
  }
}

/// The delegate of the inner session, with the table of its exchanges.
///
/// A session-level delegate, because data events do not reach a task-level one on Linux (U1).
final class ExchangeTable: NSObject, URLSessionDataDelegate, Sendable {
  private let exchanges = Locked<[ObjectIdentifier: SessionExchange]>([:])

  func add(_ exchange: SessionExchange, for task: URLSessionTask) {
    exchanges.withLock { $0[ObjectIdentifier(task)] = exchange }
  }

  private subscript(task: URLSessionTask) -> SessionExchange? {
    exchanges.withLock { $0[ObjectIdentifier(task)] }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    self[dataTask]?.received(response)
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    self[dataTask]?.received(data)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    exchanges.withLock { $0.removeValue(forKey: ObjectIdentifier(task)) }?.ended(error)
  }

  /// The core follows redirects, hop by hop: an inner session would send credentials to other hosts (U3).
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {
    self[task]?.sent(totalBytesSent)
  }

  /// Called on Apple platforms only.
  func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
    self[task]?.waitsForConnectivity()
  }

  /// A connection must send the body again: after a challenge, or because a reused connection was closed.
  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
  ) {
    completionHandler(self[task].flatMap { $0.upload.newStream(for: $0) })
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    PlatformExchange.answer(challenge, of: self[task], completionHandler)
  }
}
