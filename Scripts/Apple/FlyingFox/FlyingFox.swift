// What WaylayInspectorServer uses of FlyingFox; see FlyingSocks beside it.

public import FlyingSocks
public import Foundation

public final actor HTTPServer {
  public init(
    address: some SocketAddress, timeout: TimeInterval = 15, logger: any Logging, handler: (any HTTPHandler)? = nil
  ) {}

  public var listeningAddress: Socket.Address? { fatalError() }

  public func run() async throws {}
  public func stop(timeout: TimeInterval = 0) async {}
  public func waitUntilListening(timeout: TimeInterval = 5) async throws {}
}

public protocol HTTPHandler: Sendable {
  func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse
}

public struct ClosureHTTPHandler: HTTPHandler {
  public init(_ closure: @Sendable @escaping (HTTPRequest) async throws -> HTTPResponse) {}

  public func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse { fatalError() }
}

public struct HTTPRequest: Sendable {
  public struct Target: Sendable {
    public func path(percentEncoded: Bool = true) -> String { fatalError() }
  }

  public var method: HTTPMethod
  public var target: Target
  public var headers: HTTPHeaders
}

public struct HTTPResponse: Sendable {
  public var headers: HTTPHeaders

  public init(statusCode: HTTPStatusCode, headers: HTTPHeaders = [:], body: Data = Data()) { fatalError() }
  public init(statusCode: HTTPStatusCode, headers: HTTPHeaders = [:], body: HTTPBodySequence) { fatalError() }
}

public struct HTTPBodySequence: Sendable {
  public init(from bytes: some AsyncBufferedSequence<UInt8>, suggestedBufferSize: Int = 4096) {}
}

public struct HTTPHeader: Sendable, RawRepresentable, Hashable {
  public var rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ rawValue: String) { self.rawValue = rawValue }
}

extension HTTPHeader {
  public static let contentType = HTTPHeader("Content-Type")
  public static let location = HTTPHeader("Location")
}

public struct HTTPHeaders: Hashable, Sendable, ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (HTTPHeader, String)...) {}

  public subscript(header: HTTPHeader) -> String? {
    get { fatalError() }
    set {}
  }
}

public struct HTTPMethod: Sendable, RawRepresentable, Hashable {
  public var rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }
}

extension HTTPMethod {
  public static let GET = HTTPMethod(rawValue: "GET")
  public static let POST = HTTPMethod(rawValue: "POST")
  public static let DELETE = HTTPMethod(rawValue: "DELETE")
}

public struct HTTPStatusCode: Sendable, Hashable {
  public var code: Int
}

extension HTTPStatusCode {
  public static let ok = HTTPStatusCode(code: 200)
  public static let permanentRedirect = HTTPStatusCode(code: 308)
  public static let forbidden = HTTPStatusCode(code: 403)
  public static let notFound = HTTPStatusCode(code: 404)
  public static let conflict = HTTPStatusCode(code: 409)
}
