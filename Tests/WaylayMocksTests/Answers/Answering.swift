import Foundation
import Testing
import WaylayCore
import WaylayMocks

/// A mock of one answer, for the tests of answers.
struct Answering: RequestInterceptor {
  let respond: @Sendable (MockRequest) async throws -> MockResponse
  let environment: MockEnvironment
  let parameters: [String: String]
  let calls = Locked(0)

  init(
    _ response: MockResponse, clock: any Clock<Duration> = MockClock(isAutomatic: true), seed: UInt64 = 1,
    parameters: [String: String] = [:]
  ) {
    self.init(clock: clock, seed: seed, parameters: parameters) { _ in response }
  }

  /// A mock whose responses are computed.
  init(
    clock: any Clock<Duration> = MockClock(isAutomatic: true), seed: UInt64 = 1, parameters: [String: String] = [:],
    respond: @escaping @Sendable (MockRequest) async throws -> MockResponse
  ) {
    self.respond = respond
    self.parameters = parameters
    environment = MockEnvironment(clock: clock, seed: seed)
  }

  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    let index = calls.withLock { calls in
      defer { calls += 1 }
      return calls
    }
    var request = request
    let body = try await request.body.collect(upTo: 1 << 20)
    request.body = .data(body)
    let mocked = MockRequest(request, body: body, parameters: parameters, index: index)
    return try await respond(mocked).respond(to: mocked, next: next, in: environment)
  }

  /// A session whose every request gets the answer.
  func session(
    delegate: (any URLSessionDelegate)? = nil, _ change: (URLSessionConfiguration) -> Void = { _ in }
  ) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    change(configuration)
    return URLSession(
      configuration: configuration.intercepted(by: InterceptorRegistry { self }), delegate: delegate, delegateQueue: nil
    )
  }
}

extension Answering {
  /// Asks a session that gives the response.
  func answer(to request: URLRequest = URLRequest(url: .mocked)) async throws -> Answer {
    let session = session()
    defer { session.invalidateAndCancel() }
    let (data, response) = try await session.data(for: request)
    let head = try #require(response as? HTTPURLResponse)
    return Answer(status: head.statusCode, head: head, data: data)
  }
}

/// What came of a request.
struct Answer {
  let status: Int
  let head: HTTPURLResponse
  let data: Data

  var text: String { String(decoding: data, as: UTF8.self) }

  func field(_ name: String) -> String? { head.value(forHTTPHeaderField: name) }
}

extension MockResponse {
  /// Asks a session that gives this answer.
  func answer(
    to request: URLRequest = URLRequest(url: .mocked), clock: any Clock<Duration> = MockClock(isAutomatic: true),
    parameters: [String: String] = [:]
  ) async throws -> Answer {
    try await Answering(self, clock: clock, parameters: parameters).answer(to: request)
  }

  /// Asks the answer itself, without a loading system round it.
  func direct(
    to request: URLRequest = URLRequest(url: .mocked), clock: any Clock<Duration> = MockClock(isAutomatic: true),
    seed: UInt64 = 1,
    parameters: [String: String] = [:], next: InterceptorChain.Next = .none
  ) async throws -> InterceptedResponse {
    let intercepted = InterceptedRequest(request)
    let body = try await intercepted.body.collect(upTo: 1 << 20)
    return try await respond(
      to: MockRequest(intercepted, body: body, parameters: parameters), next: next,
      in: MockEnvironment(clock: clock, seed: seed))
  }

  /// The mistake that an answer fails with.
  func mistake(
    to request: URLRequest = URLRequest(url: .mocked), parameters: [String: String] = [:]
  ) async -> MockError? {
    do {
      let response = try await direct(to: request, parameters: parameters)
      _ = try await response.body.collect(upTo: 1 << 20)
      return nil
    } catch {
      return error as? MockError
    }
  }
}

extension InterceptorChain.Next {
  /// Nothing behind.
  static let none = InterceptorChain.Next { _ in throw URLError(.unsupportedURL) }
}

extension InterceptedResponse {
  /// The body as a text.
  var text: String {
    get async throws { String(decoding: try await body.collect(upTo: 1 << 24), as: UTF8.self) }
  }
}

extension URL {
  /// A host that is never dialled.
  static let mocked = URL(string: "http://api.example.com/v1/users/42?page=2&tag=a%20b")!
}

extension URLRequest {
  /// A request to the mocked URL.
  static func mocked(_ method: String = "GET", body: String? = nil, _ fields: [String: String] = [:]) -> URLRequest {
    var request = URLRequest(url: .mocked)
    request.httpMethod = method
    request.httpBody = body.map { Data($0.utf8) }
    for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
    return request
  }
}
