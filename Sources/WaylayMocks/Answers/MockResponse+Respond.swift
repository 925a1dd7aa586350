import Foundation
import HTTPTypes

extension InterceptedResponse.Source {
  /// A stub of a mock.
  public static let mock = InterceptedResponse.Source("mock", storesCookies: true)
}

extension MockResponse {
  /// Answers a request.
  ///
  /// - Throws: ``MockError`` for a mistake in the answer; what the answer is to fail with; `CancellationError`.
  package func respond(
    to request: MockRequest, next: InterceptorChain.Next, in environment: MockEnvironment
  ) async throws -> InterceptedResponse {
    if let defect { throw defect }
    let isPaced = !timing.isImmediate || bodyFault != nil
    let stopwatch = isPaced ? Stopwatch(environment.clock) : nil
    // What is computed is computed when the request arrives; the rest happens when the answer is due.
    let computed: MockResponse? =
      switch content {
      case .computed(let make): try await environment.run { try make(request) }
      case .awaited(let make): try await environment.run { try await make(request) }
      default: nil
      }
    guard let stopwatch else {
      return finished(try await edited(answer(to: request, computed, next, environment), request, environment), request)
    }
    if timing.losesEverything { try await Never.comes() }
    try await timing.waitForFirstByte(stopwatch, sending: request.request.body.length ?? 0, environment.random)
    var response = finished(
      try await edited(answer(to: request, computed, next, environment), request, environment), request)
    let fault = bodyFault?.body(for: request.request)
    if let fault, bodyFault?.promisesMore == true { response.promise(moreThan: fault.bytes) }
    guard fault != nil || timing.pacesBody else { return response }
    let pace = timing.pace(stopwatch, length: response.body.length, environment.random)
    response.body = PacedBody.body(response.body, pace: pace, fault: fault)
    return response
  }

  private func answer(
    to request: MockRequest, _ computed: MockResponse?, _ next: InterceptorChain.Next, _ environment: MockEnvironment
  ) async throws -> InterceptedResponse {
    if let refusal = credentials?.refusal(of: request.request) { return refusal }
    switch content {
    case .message(let message):
      return InterceptedResponse(
        to: request.request, status: message.status, fields: message.fields, body: try message.body(for: request),
        source: .mock)
    case .error(let error): throw error
    case .failure(let failure): throw failure.error(for: request.request)
    case .never: try await Never.comes()
    case .live: return try await next(request.request)
    case .computed, .awaited:
      guard let computed else { throw MockError(.invalidResponse, "a response was not computed.") }
      return try await computed.respond(to: request, next: next, in: environment)
    }
  }

  private func edited(
    _ response: InterceptedResponse, _ request: MockRequest, _ environment: MockEnvironment
  ) async throws -> InterceptedResponse {
    guard !edits.isEmpty else { return response }
    var response = response
    for edit in edits {
      switch edit {
      case .message(let change):
        var message = Message(status: response.status, fields: response.fields)
        change(&message)
        response.status = message.status
        response.fields = message.fields
      case .response(let change):
        response = try await environment.run { [response] in try await change(response, request) }
      }
    }
    return response
  }

  /// The response as HTTP has it: the part that was asked for, no body where there is none, the length.
  private func finished(_ response: InterceptedResponse, _ request: MockRequest) -> InterceptedResponse {
    var response = response
    if servesRanges { response.serveRange(of: request.request) }
    guard response.source == .mock else { return response }
    if request.method != "HEAD", [204, 304].contains(response.status.code) { response.body = .empty }
    if let length = response.body.length, ![204, 304].contains(response.status.code),
      !response.fields.contains(where: { $0.name == .contentLength || $0.name == .transferEncoding })
    {
      response.fields.append(HTTPField(name: .contentLength, value: String(length)))
    }
    if request.method == "HEAD" { response.body = .empty }
    return response
  }
}

extension InterceptedResponse {
  /// Announces more bytes than will come.
  fileprivate mutating func promise(moreThan bytes: Int) {
    let length = max(body.length ?? 0, Int64(bytes).addingReportingOverflow(1).partialValue)
    fields[.transferEncoding] = nil
    fields[.contentLength] = String(length)
  }
}
