import Foundation
import HTTPTypes

/// One request and its response on the inner session.
final class Exchange: Sendable {
  private struct State {
    var task: URLSessionTask?
    var pipe: BodyPipe?
    var isCancelled = false
    var requestBytesSent: Int64 = 0
  }

  let upload: PlatformExchange.Upload
  /// Whether the app has put the body into its request, where protocol classes see it.
  var showsBody: Bool { !request[UploadedBody.self] }
  private let request: InterceptedRequest
  /// Who hears of progress.
  var observer: TransportObserver? { request.observer }
  private let startedAt = ContinuousClock.now
  private let state = Locked(State())
  private let response = Promise<InterceptedResponse>()
  private let limits: MessageLimits

  init(_ request: InterceptedRequest, upload: PlatformExchange.Upload, limits: MessageLimits) {
    self.limits = limits
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

  /// Ends the exchange from our side.
  func cancel() {
    let task = state.withLock { state in
      state.isCancelled = true
      return state.task
    }
    guard let task else { return }
    // A body is dropped, and a load cancelled, on whatever thread; on the loader's own this would end the process.
    PlatformClient.leavingQueue { task.cancel() }
    end(throwing: CancellationError())
  }

  // MARK: What the inner session reports

  func sent(_ bytes: Int64) {
    observer?.sent(bytes)
    state.withLock { $0.requestBytesSent = bytes }
  }

  func received(_ response: URLResponse) {
    observer?.progressed()
    guard let response = response as? HTTPURLResponse else { return receivedForeign(response) }
    let fields: HTTPFields
    do { fields = try HTTPFields(response, limits: limits) } catch { return refuse(error) }
    let status = HTTPResponse.Status(code: min(max(response.statusCode, 0), 999))
    deliver(status: status, fields: fields, url: response.url, length: length(of: response, fields: fields))
  }

  /// Ends an exchange whose response is not to be taken.
  private func refuse(_ error: any Error) {
    let task = state.withLock { state in
      state.isCancelled = true
      return state.task
    }
    if let task { PlatformClient.leavingQueue { task.cancel() } }
    end(throwing: error)
  }

  /// A foreign protocol class may answer with something that is not HTTP.
  private func receivedForeign(_ response: URLResponse) {
    var fields = HTTPFields()
    if let type = response.mimeType {
      fields[.contentType] = response.textEncodingName.map { "\(type);charset=\($0)" } ?? type
    }
    deliver(status: .ok, fields: fields, url: response.url, length: nil)
  }

  private func length(of response: HTTPURLResponse, fields: HTTPFields) -> Int64? {
    if request.method == .head || [204, 304].contains(response.statusCode) { return 0 }
    // The session has decompressed the body, but its length is still that of the compressed one.
    guard fields[.contentEncoding] == nil else { return nil }
    return response.expectedContentLength >= 0 ? response.expectedContentLength : nil
  }

  private func deliver(status: HTTPResponse.Status, fields: HTTPFields, url: URL?, length: Int64?) {
    let pipe = BodyPipe(onAbandon: { [weak self] in self?.cancel() }, onDrain: { [weak self] in self?.resumeReading() })
    var metrics = LoadMetrics()
    metrics.firstByte = startedAt.duration(to: .now)
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
    guard let pipe, pipe.push(data) > PlatformExchange.highWater else { return }
    task?.suspend()
  }

  private func resumeReading() {
    guard PlatformExchange.highWater < .max else { return }
    let task = state.withLock { $0.task }
    if task?.state == .suspended { task?.resume() }
  }

  /// The response is complete: the inner session says so, or asks for credentials, which is all we shall get from it.
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
    // An error that is not the loading system's comes from a protocol class beneath, and whoever knows it is to find it
    // as it is.
    guard let error = error as? URLError else { return error }
    let phase: TransportError.Phase =
      switch error.code {
      case .cannotFindHost, .dnsLookupFailed: .resolving
      case .cannotConnectToHost, .notConnectedToInternet, .internationalRoamingOff: .connecting
      case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
        .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRequired:
        .securing
      case .networkConnectionLost, .badServerResponse, .zeroByteResource, .cannotParseResponse: .receiving
      default: .unknown
      }
    let nothingSent: Set<TransportError.Phase> = [.resolving, .connecting, .securing]
    return TransportError(
      error.code, phase: phase, requestBytesSent: nothingSent.contains(phase) ? 0 : sent > 0 ? sent : nil,
      message: "\(error.redacted).", underlying: error)
  }
}
