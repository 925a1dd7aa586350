#if AsyncHTTPClient
  import AsyncHTTPClient
  import NIOConcurrencyHelpers
  import NIOCore
  import NIOHTTP1
  import NIOPosix
  import NIOSSL
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayAsyncHTTPClient

  /// An interceptor made of a closure, for tests.
  struct Link: RequestInterceptor {
    var load: @Sendable (InterceptedRequest, InterceptorChain.Next) async throws -> InterceptedResponse = {
      try await $1($0)
    }

    func startLoading(
      _ request: InterceptedRequest, next: InterceptorChain.Next
    ) async throws -> InterceptedResponse {
      try await load(request, next)
    }
  }

  extension HTTPClient.Configuration {
    /// One that trusts an authority's certificates alone.
    static func trusting(_ authority: TestAuthority) throws -> HTTPClient.Configuration {
      var tls = TLSConfiguration.makeClientConfiguration()
      tls.trustRoots = .certificates([try NIOSSLCertificate(bytes: Array(authority.der), format: .der)])
      return HTTPClient.Configuration(tlsConfiguration: tls)
    }
  }

  extension InterceptorRegistry {
    /// A chain of one interceptor over AsyncHTTPClient.
    static func overClient(
      _ configuration: HTTPClient.Configuration = HTTPClient.Configuration(), allowsHTTP2: Bool = false,
      limits: MessageLimits = MessageLimits(), link: Link = Link()
    ) -> InterceptorRegistry {
      InterceptorRegistry(
        transport: AsyncHTTPClientTransport(
          configuration: configuration, allowsHTTP2: allowsHTTP2, limits: limits), configuration: .ephemeral
      ) { link }
    }

    /// The whole body of a response, as text.
    func text(_ request: URLRequest, body: MessageBody? = nil) async throws -> String {
      String(decoding: try await load(request, body: body).body.collect(upTo: 10 << 20), as: UTF8.self)
    }

    func text(_ url: URL) async throws -> String { try await text(URLRequest(url: url)) }
  }

  extension URLRequest {
    static func post(_ url: URL, fields: [String: String] = [:]) -> URLRequest {
      var request = URLRequest(url: url)
      request.httpMethod = "POST"
      request.allHTTPHeaderFields = fields
      return request
    }
  }

  /// So many zeros, a mebibyte at a time.
  struct Zeros: AsyncSequence, AsyncIteratorProtocol, Sendable {
    private var left: Int

    init(_ count: Int) { left = count }

    func makeAsyncIterator() -> Zeros { self }

    mutating func next() async -> Data? {
      defer { left -= 1 << 20 }
      return left > 0 ? Data(count: Swift.min(left, 1 << 20)) : nil
    }
  }

  /// The `TransportError` beneath what an app sees.
  func transportError(_ error: (any Error)?) -> TransportError? {
    (error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? TransportError
  }

  /// A server that counts the bytes of a request's body, keeps none of them, and answers with their number.
  final class Sink: Sendable {
    let url: URL
    private let listener: any Channel

    init() async throws {
      listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .childChannelInitializer { channel in
          channel.pipeline.configureHTTPServerPipeline().flatMapThrowing {
            try channel.pipeline.syncOperations.addHandler(Counter())
          }
        }
        .bind(host: "127.0.0.1", port: 0).get()
      url = try #require(URL(string: "http://127.0.0.1:\(listener.localAddress?.port ?? 0)/"))
    }

    func stop() async throws { try await listener.close() }

    private final class Counter: ChannelInboundHandler {
      typealias InboundIn = HTTPServerRequestPart
      typealias OutboundOut = HTTPServerResponsePart
      private var count = 0

      func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: count = 0
        case .body(let buffer): count += buffer.readableBytes
        case .end:
          let body = ByteBuffer(string: "\(count)")
          let head = HTTPResponseHead(
            version: .http1_1, status: .ok, headers: ["Content-Length": "\(body.readableBytes)"])
          context.write(wrapOutboundOut(.head(head)), promise: nil)
          context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
          context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
      }
    }
  }
#endif
