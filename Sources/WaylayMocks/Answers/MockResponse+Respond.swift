import Foundation

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
    if case .fixed(let delay)? = timing.firstByte?.law { try await environment.clock.sleep(for: delay) }
    var response: InterceptedResponse
    switch content {
    case .message(let message):
      response = InterceptedResponse(
        to: request.request, status: message.status, fields: message.fields, body: message.body, source: .mock)
    case .error(let error): throw error
    case .fault: throw URLError(.unknown)
    case .never:
      for await _ in AsyncStream<Never>(unfolding: {
        try? await Task.sleep(for: .seconds(1 << 30)); return nil
      }) {}
      throw CancellationError()
    case .live: response = try await next(request.request)
    case .computed(_, let make):
      response = try await make(request).respond(to: request, next: next, in: environment)
    case .awaited(let make):
      response = try await make(request).respond(to: request, next: next, in: environment)
    }
    for edit in edits {
      switch edit {
      case .message(let change):
        var message = Message(status: response.status, fields: response.fields, body: response.body)
        change(&message)
        response.status = message.status
        response.fields = message.fields
        response.body = message.body
      case .response(let change): response = try await change(response, request)
      }
    }
    return response
  }
}
