#if AsyncHTTPClient
  import AsyncHTTPClient
  import NIOCore
  import NIOHTTP1
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayAsyncHTTPClient
  import WaylayTesting

  /// A way in: code that makes requests, and knows nothing of the chains that they run through.
  ///
  /// A new client is a case here, and what it does with a request in ``send(_:through:)``.
  enum Door: CaseIterable, Sendable {
    /// A task of an ordinary session.
    case session
    /// `InterceptorRegistry.load`.
    case direct
    /// `HTTPClient.execute`, by `InterceptedHTTPClient`.
    case client

    /// What a caller sends.
    struct Request: Sendable {
      var method = "GET"
      var url: URL
      var fields: [String: String] = [:]
      var body: String?
    }

    /// What a caller gets.
    struct Response: Sendable, Equatable {
      var status: Int
      var type: String?
      var url: URL?
      var body: String
    }

    /// Sends a request through the chains of a registry.
    func send(_ request: Request, through registry: InterceptorRegistry) async throws -> Response {
      switch self {
      case .session:
        let configuration = URLSessionConfiguration.ephemeral
        let session = URLSession(configuration: configuration.intercepted(by: registry))
        defer { session.finishTasksAndInvalidate() }
        let (data, response) = try await session.data(for: request.urlRequest(withBody: true))
        return Response(try #require(response as? HTTPURLResponse), data)
      case .direct:
        let response = try await registry.load(
          request.urlRequest(withBody: false), body: request.body.map { .text($0) })
        return Response(response.head, try await response.body.collect(upTo: 100 << 20))
      case .client:
        let client = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
        do {
          let response = try await request.execute(by: InterceptedHTTPClient(client, registry))
          try await client.shutdown()
          return response
        } catch {
          try await client.shutdown()
          throw error
        }
      }
    }

    func send(_ url: URL, through registry: InterceptorRegistry) async throws -> Response {
      try await send(Request(url: url), through: registry)
    }

    /// What the caller's test sees of the current mock scope.
    func sendMocked(_ request: Request) async throws -> Response {
      switch self {
      case .session:
        let (data, response) = try await URLSession.mocked.data(for: request.urlRequest(withBody: true))
        return Response(try #require(response as? HTTPURLResponse), data)
      case .direct: return try await send(request, through: #require(MockScope.current).registry)
      case .client: return try await request.execute(by: .mocked)
      }
    }
  }

  extension Door.Request {
    func urlRequest(withBody: Bool) -> URLRequest {
      var request = URLRequest(url: url)
      request.httpMethod = method
      request.allHTTPHeaderFields = fields
      if withBody { request.httpBody = body.map { Data($0.utf8) } }
      return request
    }

    func execute(by client: InterceptedHTTPClient) async throws -> Door.Response {
      var request = HTTPClientRequest(url: url.absoluteString)
      request.method = HTTPMethod(rawValue: method)
      for (name, value) in fields { request.headers.add(name: name, value: value) }
      request.body = body.map { .bytes(ByteBuffer(string: $0)) }
      let response = try await client.execute(request, timeout: .seconds(60))
      let body = try await response.body.collect(upTo: 100 << 20)
      return Door.Response(
        status: Int(response.status.code), type: response.headers.first(name: "Content-Type"), url: response.url,
        body: String(buffer: body))
    }
  }

  extension Door.Response {
    init(_ head: HTTPURLResponse, _ data: Data) {
      self.init(
        status: head.statusCode, type: head.value(forHTTPHeaderField: "Content-Type"), url: head.url,
        body: String(decoding: data, as: UTF8.self))
    }
  }
#endif
