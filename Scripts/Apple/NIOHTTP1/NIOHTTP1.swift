// What WaylayInspectorServer uses of NIOHTTP1; see NIOCore beside it.

public import NIOCore

public enum HTTPMethod: Equatable, Sendable {
  case GET, POST, DELETE
  public var rawValue: String { fatalError() }
}

public struct HTTPHeaders: Sendable {
  public subscript(name: String) -> [String] { fatalError() }
  public func contains(name: String) -> Bool { fatalError() }
}

public struct HTTPRequestHead: Sendable {
  public var method: HTTPMethod
  public var uri: String
  public var headers: HTTPHeaders
}

public enum HTTPServerRequestPart: Sendable {
  case head(HTTPRequestHead)
  case body(ByteBuffer)
  case end(HTTPHeaders?)
}

public struct HTTPResponseStatus: Sendable {
  public var code: UInt { fatalError() }
  public var reasonPhrase: String { fatalError() }
  public static var ok: Self { fatalError() }
  public static var permanentRedirect: Self { fatalError() }
  public static var badRequest: Self { fatalError() }
  public static var forbidden: Self { fatalError() }
  public static var notFound: Self { fatalError() }
  public static var conflict: Self { fatalError() }
  public static var payloadTooLarge: Self { fatalError() }
  public static var requestHeaderFieldsTooLarge: Self { fatalError() }
  public static var serviceUnavailable: Self { fatalError() }
}

public enum HTTPParserError: Error, Equatable {
  case headerOverflow
}

public struct NIOHTTPDecoderLimitConfiguration: Sendable {
  public var maxHeaderFieldSize: Int
  public var maxHeaderListSize: Int
  public var maxHeaderFieldCount: Int
  public init() { fatalError() }
}

public struct HTTPRequestDecoder: ByteToMessageDecoder {
  public init(limitConfiguration: NIOHTTPDecoderLimitConfiguration = .init()) {}
}
