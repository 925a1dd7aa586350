import Foundation

/// A network failure of an exchange, by the phase in which it happens.
///
/// Mocks respond with a fault, and `NetworkConditions` applies faults to live traffic:
///
/// ```swift
/// Stub(.get, "/users", .fault(.offline))
/// Stub(.get, "/photo", .file(photo).fault(.connectionReset(afterBytes: 1000)))
/// ```
///
/// A fault is thrown as the ``TransportError`` that a real transport throws, with the phase and the number of bytes
/// sent, so that interceptors see a realistic error; the app gets a `URLError` with the failing URL.
///
/// | fault | the app's `URLError` code | phase | anything sent |
/// |---|---|---|---|
/// | ``offline`` | `notConnectedToInternet` | connecting | no |
/// | ``hostNotFound`` | `cannotFindHost` | resolving | no |
/// | ``nameLookupFailed`` | `dnsLookupFailed` | resolving | no |
/// | ``connectionRefused`` | `cannotConnectToHost` | connecting | no |
/// | ``connectTimedOut`` | `timedOut` | connecting | no |
/// | ``tls(_:)`` | by the reason | securing | no |
/// | ``timedOut`` | `timedOut` | receiving | yes |
/// | ``connectionReset`` | `networkConnectionLost` | receiving | yes |
/// | ``emptyResponse`` | `networkConnectionLost` | receiving | yes |
/// | ``malformedResponse`` | `badServerResponse` | receiving | yes |
/// | ``connectionReset(afterBytes:)`` | `networkConnectionLost`, after the head | receiving | yes |
/// | ``truncated(afterBytes:)`` | `networkConnectionLost`, after the head | receiving | yes |
/// | ``malformedChunk(afterBytes:)`` | `networkConnectionLost`, after the head | receiving | yes |
/// | ``stalled(afterBytes:)``, ``stalledAtEnd`` | none: the body stalls | receiving | yes |
public struct NetworkFault: Sendable, CustomStringConvertible {
  /// The failure of an exchange.
  package struct Failure: Sendable {
    package let urlErrorCode: URLError.Code
    package let phase: TransportError.Phase
    let message: String
    var code: ErrorCode<TransportError>?
    /// The name of the fault, if one has this failure.
    package var fault: String?

    package init(
      urlErrorCode: URLError.Code, phase: TransportError.Phase, message: String, code: ErrorCode<TransportError>? = nil
    ) {
      (self.urlErrorCode, self.phase, self.message, self.code) = (urlErrorCode, phase, message, code)
    }

    /// The error that a transport throws; the request counts as sent from the phase `receiving` on.
    package func error(for request: InterceptedRequest) -> TransportError {
      let sent: Int64? =
        switch phase {
        case .unknown: nil
        case .receiving: request.bytesOnTheWire
        default: 0
        }
      return TransportError(urlErrorCode, code: code, phase: phase, requestBytesSent: sent, message: message)
    }
  }

  package enum Stage: Sendable {
    case head
    case body(afterBytes: Int)
  }

  /// The effect on a body.
  package struct Body: Sendable {
    package enum Ending: Sendable {
      case error(TransportError)
      case stall
    }

    package let bytes: Int
    let ending: Ending

    package init(bytes: Int, ending: Ending) {
      (self.bytes, self.ending) = (bytes, ending)
    }
  }

  /// The fault's name.
  public let description: String
  package let stage: Stage
  /// `nil` for a fault that only stalls.
  package private(set) var failure: Failure?
  /// Whether the head announces more bytes than arrive.
  package private(set) var promisesMore = false

  private init(
    _ name: String, _ urlErrorCode: URLError.Code, _ phase: TransportError.Phase, afterBytes bytes: Int? = nil,
    _ message: String,
    code: ErrorCode<TransportError>? = nil
  ) {
    description = name
    stage = bytes.map(Stage.body) ?? .head
    failure = Failure(urlErrorCode: urlErrorCode, phase: phase, message: message, code: code)
    failure?.fault = name
  }

  private init(stalledAfter bytes: Int) {
    description = "stalled(afterBytes: \(bytes))"
    stage = .body(afterBytes: bytes)
    failure = nil
  }

  /// Why the fault is invalid; `nil` if it is valid.
  package var defect: String? {
    guard case .body(let bytes) = stage, bytes < 0 else { return nil }
    return "the fault \(description) begins after a negative number of bytes: use 0 or more."
  }

  /// The error of a request without a response; `nil` for a fault after the head.
  public func error(for request: InterceptedRequest) -> TransportError? {
    guard case .head = stage else { return nil }
    return failure?.error(for: request)
  }

  /// The effect on the body of a response to `request`.
  package func body(for request: InterceptedRequest) -> Body? {
    guard case .body(let bytes) = stage else { return nil }
    return Body(bytes: bytes, ending: failure.map { .error($0.error(for: request)) } ?? .stall)
  }
}

extension NetworkFault {
  // MARK: Before any byte is sent

  /// The device has no network.
  public static let offline = NetworkFault(
    "offline", .notConnectedToInternet, .connecting, "the device has no network.")

  /// The DNS server does not know the host.
  public static let hostNotFound = NetworkFault(
    "hostNotFound", .cannotFindHost, .resolving, "the DNS server knows no such host.")

  /// The DNS server does not respond.
  public static let nameLookupFailed = NetworkFault(
    "nameLookupFailed", .dnsLookupFailed, .resolving, "the DNS server did not respond.")

  /// The server's port is closed.
  public static let connectionRefused = NetworkFault(
    "connectionRefused", .cannotConnectToHost, .connecting, "the server refused the connection.", code: .refused)

  /// The server does not respond to the first packet. The fault fails at once: add a `delay(_:)` for the wait.
  public static let connectTimedOut = NetworkFault(
    "connectTimedOut", .timedOut, .connecting, "the server did not respond in time.")

  /// The TLS handshake fails.
  public static func tls(_ reason: OpenEnum<NetworkFault>) -> NetworkFault {
    NetworkFault("tls(\(reason))", reason.failure.code, .securing, reason.failure.message)
  }

  // MARK: Before the head

  /// The response does not arrive in time. The fault fails at once: for the wait, add a `delay(_:)`, or use a response
  /// that never arrives and ends with the load's own timeout.
  public static let timedOut = NetworkFault("timedOut", .timedOut, .receiving, "the response did not arrive in time.")

  /// The server resets the connection before it responds.
  public static let connectionReset = NetworkFault(
    "connectionReset", .networkConnectionLost, .receiving, "the connection was reset before the response arrived.")

  /// The server closes the connection without sending a byte.
  public static let emptyResponse = NetworkFault(
    "emptyResponse", .networkConnectionLost, .receiving, "the server closed the connection without a response.")

  /// The response is not HTTP. The code is that of the transport on Linux; Apple's loading system uses
  /// `cannotParseResponse`.
  public static let malformedResponse = NetworkFault(
    "malformedResponse", .badServerResponse, .receiving, "the response is not HTTP.")

  // MARK: After the head

  /// The head and the given number of body bytes arrive, then the connection is reset. With a shorter body, it is reset
  /// at the body's end.
  public static func connectionReset(afterBytes bytes: Int) -> NetworkFault {
    NetworkFault(
      "connectionReset(afterBytes: \(bytes))", .networkConnectionLost, .receiving, afterBytes: bytes,
      "the connection was reset after \(bytes) bytes of the body.")
  }

  /// The body ends after the given number of bytes, though `Content-Length` announces more: the length of the whole
  /// body, or at least one byte more.
  public static func truncated(afterBytes bytes: Int) -> NetworkFault {
    var fault = NetworkFault(
      "truncated(afterBytes: \(bytes))", .networkConnectionLost, .receiving, afterBytes: bytes,
      "the body ended after \(bytes) bytes, before its announced length.")
    fault.promisesMore = true
    return fault
  }

  /// After the given number of body bytes, invalid chunk data arrives in a chunked body.
  public static func malformedChunk(afterBytes bytes: Int = 0) -> NetworkFault {
    NetworkFault(
      "malformedChunk(afterBytes: \(bytes))", .networkConnectionLost, .receiving, afterBytes: bytes,
      "a chunk without a length followed \(bytes) bytes of the body.")
  }

  /// After the given number of body bytes no more bytes arrive, until the load is cancelled or times out.
  public static func stalled(afterBytes bytes: Int) -> NetworkFault {
    NetworkFault(stalledAfter: bytes)
  }

  /// The body arrives completely, and the server keeps the connection open, as for pushed events.
  public static let stalledAtEnd = stalled(afterBytes: .max)
}

extension NetworkFault {
  /// The fault with a ``description``; `nil` if there is none.
  package static func named(_ name: String) -> NetworkFault? {
    if name.hasPrefix("tls("), name.hasSuffix(")") { return .tls(OpenEnum(String(name.dropFirst(4).dropLast()))) }
    let digits = name.drop { $0 != " " }.dropFirst().prefix { $0 != ")" }
    // Int has 32 bits on watchOS.
    let count = Int64(decimal: digits).map { Int(clamping: $0) }
    let known = count.map { name.replacing(digits, with: "\($0)") } ?? name
    let bytes = count ?? 0
    let faults = [
      offline, hostNotFound, nameLookupFailed, connectionRefused, connectTimedOut, timedOut, connectionReset,
      emptyResponse, malformedResponse, connectionReset(afterBytes: bytes), truncated(afterBytes: bytes),
      malformedChunk(afterBytes: bytes), stalled(afterBytes: bytes),
    ]
    return faults.first { $0.description == known }
  }
}

extension InterceptedRequest {
  /// The approximate size of the request in HTTP/1.1: the bytes sent when a transport waits for the response.
  fileprivate var bytesOnTheWire: Int64 {
    let line = method.rawValue.utf8.count + url.absoluteString.utf8.count + 12
    let fields = fields.reduce(2) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 4 }
    return Int64(line + fields).saturating(adding: body.length ?? 0)
  }
}

/// A reason why a TLS handshake fails.
extension OpenEnum where Domain == NetworkFault {
  /// No version or cipher in common: `secureConnectionFailed`.
  public static var handshake: Self { Self("handshake") }
  /// The certificate is for another host, or not trusted: `serverCertificateUntrusted`.
  public static var untrusted: Self { Self("untrusted") }
  /// The certificate comes from an unknown authority: `serverCertificateHasUnknownRoot`.
  public static var unknownRoot: Self { Self("unknownRoot") }
  /// The certificate has expired: `serverCertificateHasBadDate`.
  public static var expired: Self { Self("expired") }
  /// The certificate is not valid yet: `serverCertificateNotYetValid`.
  public static var notYetValid: Self { Self("notYetValid") }
  /// The server requires a client certificate: `clientCertificateRequired`.
  public static var clientCertificateRequired: Self { Self("clientCertificateRequired") }
  /// The server rejects the client's certificate: `clientCertificateRejected`.
  public static var clientCertificateRejected: Self { Self("clientCertificateRejected") }
  /// The system does not allow a plaintext connection: `appTransportSecurityRequiresSecureConnection`.
  public static var plainTextForbidden: Self { Self("plainTextForbidden") }

  fileprivate var failure: (code: URLError.Code, message: String) {
    switch self {
    case .handshake: (.secureConnectionFailed, "the client and the server share no TLS version or cipher.")
    case .untrusted: (.serverCertificateUntrusted, "the server's certificate is not trusted.")
    case .unknownRoot: (.serverCertificateHasUnknownRoot, "the server's certificate comes from an unknown authority.")
    case .expired: (.serverCertificateHasBadDate, "the server's certificate has expired.")
    case .notYetValid: (.serverCertificateNotYetValid, "the server's certificate is not valid yet.")
    case .clientCertificateRequired: (.clientCertificateRequired, "the server requires a client certificate.")
    case .clientCertificateRejected: (.clientCertificateRejected, "the server refused the client's certificate.")
    case .plainTextForbidden:
      (.appTransportSecurityRequiresSecureConnection, "the system does not allow connections without TLS.")
    default: (.secureConnectionFailed, "the TLS handshake failed.")
    }
  }
}
