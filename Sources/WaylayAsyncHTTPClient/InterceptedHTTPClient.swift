#if AsyncHTTPClient
  public import AsyncHTTPClient
  import HTTPTypes
  public import NIOCore
  import NIOHTTP1

  /// A client whose calls run through a registry's chains, for code that calls AsyncHTTPClient.
  ///
  /// ```swift
  /// let client = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
  /// let intercepted = InterceptedHTTPClient(client, InterceptorRegistry { inspector })
  /// let response = try await intercepted.execute(HTTPClientRequest(url: "https://api.example.com/"), timeout: .seconds(30))
  /// ```
  ///
  /// Errors of the client, and errors of interceptors that are not load errors, are thrown unchanged; any other failure
  /// is a `URLError` with its cause beneath. Repeated header fields of a request are joined into one, those of
  /// cookies by a semicolon. Cookies are not stored.
  public struct InterceptedHTTPClient: Sendable {
    private let load: @Sendable (URLRequest, MessageBody?) async throws -> InterceptedResponse

    /// Makes a client that sends its requests through another client, which you shut down.
    ///
    /// - Parameters:
    ///   - client: A client whose `redirectConfiguration` is `.disallow`: redirects are followed by the registry's rules,
    ///     and calls through a client that follows them itself fail.
    ///   - registry: The chains.
    public init(_ client: HTTPClient, _ registry: InterceptorRegistry) {
      let loads = DirectLoads(of: registry, over: AsyncHTTPClientTransport(client: client))
      load = { try await loads.load($0, body: $1) }
    }

    /// Makes a client that sends its requests through the registry's own transport.
    public init(_ registry: InterceptorRegistry) {
      load = { try await registry.load($0, body: $1) }
    }

    /// Sends a request; returns when the response's head arrives.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - timeout: The time limit for the head. Reading the body may take longer.
    public func execute(_ request: HTTPClientRequest, timeout: TimeAmount) async throws -> HTTPClientResponse {
      try await execute(request, deadline: .now() + timeout)
    }

    /// Sends a request; returns when the response's head arrives.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - deadline: The deadline for the head. Reading the body may take longer.
    public func execute(_ request: HTTPClientRequest, deadline: NIODeadline) async throws -> HTTPClientResponse {
      do {
        let message = try URLRequest(request)
        let body: MessageBody? = if let body = request.body { try await MessageBody(body) } else { nil }
        let response = try await inTime(deadline) { [load] in try await load(message, body) }
        return HTTPClientResponse(response, to: request)
      } catch {
        throw Self.clientError(error)
      }
    }

    private func inTime(
      _ deadline: NIODeadline, _ load: @escaping @Sendable () async throws -> InterceptedResponse
    ) async throws -> InterceptedResponse {
      guard deadline != .distantFuture else { return try await load() }
      let left = Duration.nanoseconds((deadline - .now()).nanoseconds)
      guard let response = try await ContinuousClock().value(within: left, of: load) else {
        throw HTTPClientError.deadlineExceeded
      }
      return response
    }

    /// The error that a caller of the client expects: the client's own error, if there is one beneath.
    fileprivate static func clientError(_ error: any Error) -> any Error {
      guard let error = error as? URLError else { return error }
      if error.code == .cancelled, Task.isCancelled { return CancellationError() }
      let cause = error.userInfo[NSUnderlyingErrorKey] as? any Error
      let own: (any Error)? =
        if let cause = cause as? TransportError { cause.underlying } else { error.code == .unknown ? cause : nil }
      guard let own, !(own is any LoadError), !(own is POSIXError) else { return error }
      return own
    }

    /// The body of a response, with the client's own errors.
    fileprivate struct Buffers: AsyncSequence, Sendable {
      let body: MessageBody

      func makeAsyncIterator() -> Iterator { Iterator(chunks: body.makeAsyncIterator()) }

      struct Iterator: AsyncIteratorProtocol {
        var chunks: MessageBody.AsyncIterator

        mutating func next() async throws -> ByteBuffer? {
          do {
            return try await chunks.next().map { ByteBuffer(bytes: $0) }
          } catch {
            throw InterceptedHTTPClient.clientError(error)
          }
        }
      }
    }
  }

  extension URLRequest {
    fileprivate init(_ request: HTTPClientRequest) throws {
      guard let url = URL(string: request.url) else { throw HTTPClientError.invalidURL }
      guard request.tlsConfiguration == nil, request.localAddress == nil else {
        throw WaylayError(
          .invalidRequest,
          "a request's own tlsConfiguration or localAddress cannot pass through a chain: set it on the client.",
          url: url)
      }
      self.init(url: url)
      httpMethod = request.method.rawValue
      httpShouldHandleCookies = false
      // The timeouts of the client and of the call apply.
      timeoutInterval = 0
      for (name, value) in request.headers {
        // A comma does not separate cookies (RFC 9113, section 8.2.3).
        if name.lowercased() == "cookie", let present = self.value(forHTTPHeaderField: name) {
          setValue("\(present); \(value)", forHTTPHeaderField: name)
        } else {
          addValue(value, forHTTPHeaderField: name)
        }
      }
    }
  }

  extension MessageBody {
    /// Converts the body of a call.
    ///
    /// The client does not expose whether a body is in memory, or its length: reflection reads both. If a later version
    /// renames these properties, the body is sent once, in chunks of unknown total length.
    fileprivate init(_ body: HTTPClientRequest.Body) async throws {
      let mode = Mirror(reflecting: body).children.first.map { Mirror(reflecting: $0.value) }?.children.first
      guard let mode, mode.label == "byteBuffer" || mode.label == "sequence" else {
        let parts = mode.map { Mirror(reflecting: $0.value).children }
        let length = parts?.first { $0.label == "length" }.map { Mirror(reflecting: $0.value) }?.children.first?.value
        self = .stream(body.map { Data($0.readableBytesView) }, length: length as? Int64)
        return
      }
      var data = Data()
      for try await buffer in body { data.append(contentsOf: buffer.readableBytesView) }
      self = .data(data)
    }
  }

  extension HTTPClientResponse {
    fileprivate init(_ response: InterceptedResponse, to request: HTTPClientRequest) {
      let head = HTTPResponseHead(
        version: response.metrics?.protocolName == "h2" ? .http2 : .http1_1,
        status: HTTPResponseStatus(statusCode: response.status.code, reasonPhrase: response.status.reasonPhrase),
        headers: HTTPHeaders(response.fields.map { ($0.name.rawName, $0.value) }))
      // `url` derives from the last request of the history.
      var last = request
      last.url = response.url.absoluteString
      let body: Body =
        if let data = response.body.inMemory { .bytes(ByteBuffer(bytes: data)) } else {
          .stream(InterceptedHTTPClient.Buffers(body: response.body))
        }
      self.init(
        version: head.version, status: head.status, headers: head.headers,
        body: body,
        history: [HTTPClientRequestResponse(request: last, responseHead: head)])
    }
  }
#else
  /// A client whose calls run through chains, which requires the package trait `AsyncHTTPClient`.
  @available(*, unavailable, message: "Enable the trait AsyncHTTPClient of the package waylay.")
  public struct InterceptedHTTPClient: Sendable {
    /// Unavailable: names the missing trait.
    public init(_ client: Any, _ registry: Any? = nil) {}
  }
#endif
