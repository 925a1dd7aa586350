import Foundation

/// The error a transport throws when the network gives no response.
///
/// An interceptor that retries checks ``requestBytesSent``: at zero, nothing has left this machine, so that even a
/// `POST` may be sent again.
///
/// ```swift
/// do {
///   return try await next(request)
/// } catch let error as TransportError where error.requestBytesSent == 0 {
///   return try await next(request)
/// }
/// ```
///
/// The app receives a `URLError` with ``urlErrorCode``, and this error under `NSUnderlyingErrorKey`.
public struct TransportError: LoadError {
  /// How far the exchange had progressed.
  public typealias Phase = OpenEnum<TransportError>

  /// Why there was no response.
  public let code: ErrorCode<TransportError>
  /// The `URLError` code that the app sees.
  public let urlErrorCode: URLError.Code
  /// How far the exchange had progressed.
  public let phase: Phase
  /// The number of request bytes that left this machine; `nil` if the transport cannot tell.
  public let requestBytesSent: Int64?
  /// The dialed address, as `ip:port`, if known.
  public let address: String?
  /// The transport's description of the failure.
  public let message: String
  /// The underlying library's error.
  public let underlying: (any Error)?
  /// The URL of the failed request, set after the error has left the transport at the end of a chain.
  public internal(set) var url: URL?
  /// The load of that request, set at the same time.
  public internal(set) var requestID: InterceptedRequest.ID?

  /// Makes a transport error.
  ///
  /// - Parameters:
  ///   - urlErrorCode: The `URLError` code that the app sees.
  ///   - code: Why there was no response; derived from that code or an underlying `POSIXError` by default.
  ///   - phase: How far the exchange had progressed.
  ///   - requestBytesSent: The number of request bytes that left this machine; `nil` if unknown.
  ///   - address: The dialed address, as `ip:port`.
  ///   - message: A description of the failure.
  ///   - underlying: The underlying library's error.
  public init(
    _ urlErrorCode: URLError.Code, code: ErrorCode<TransportError>? = nil, phase: Phase = .unknown,
    requestBytesSent: Int64? = nil, address: String? = nil, message: String, underlying: (any Error)? = nil
  ) {
    self.code = code ?? ErrorCode(urlErrorCode, underlying: underlying)
    self.urlErrorCode = urlErrorCode
    self.phase = phase
    self.requestBytesSent = requestBytesSent
    self.address = address
    self.message = message.withRedactedURLs
    self.underlying = underlying
  }
}

extension TransportError {
  /// Code, message, phase, address and `URLError` code on one line, with the URL and the load if known. URLs appear
  /// without user info, query values and fragment.
  public var description: String {
    let place = [phase == .unknown ? nil : phase.description, address, "URLError \(urlErrorCode.rawValue)"]
    var text =
      "TransportError.\(code): \(message) [\(place.compactMap { $0 }.joined(separator: ", "))]"
    if let url { text += " [\(url.redacted)]" }
    if let requestID { text += " [load \(requestID)]" }
    return text
  }

  /// Whether the error is about the network rather than about the request or the app.
  public var isNetworkFailure: Bool { !Self.ofRequest.contains(urlErrorCode) }

  /// Whether a system error is caused by a shortage on this machine, so that it reveals nothing about the address.
  ///
  /// `EADDRNOTAVAIL` means that no port is left; with IPv6 it may also mean that IPv6 is disabled.
  package static func isLocal(_ number: POSIXErrorCode, dialing address: String) -> Bool {
    [.EMFILE, .ENFILE, .ENOBUFS, .ENOMEM].contains(number)
      || number == .EADDRNOTAVAIL && address.filter { $0 == ":" }.count < 2
  }

  private static let ofRequest: Set<URLError.Code> = [
    .cancelled, .badURL, .unsupportedURL, .userCancelledAuthentication, .userAuthenticationRequired,
    .requestBodyStreamExhausted, .clientCertificateRejected, .clientCertificateRequired, .fileDoesNotExist,
    .noPermissionsToReadFile, .cannotOpenFile, .cannotWriteToFile, .cannotCreateFile, .dataLengthExceedsMaximum,
    .appTransportSecurityRequiresSecureConnection, .resourceUnavailable,
  ]
}

/// Why the network gave no response: the ``TransportError/code``.
///
/// ```swift
/// } catch let error as TransportError where error.code == .refused {
/// ```
extension ErrorCode where Domain == TransportError {
  /// No address was found for the host.
  ///
  /// Check the spelling of the host, the network and its DNS. `HostRewriter` can answer from addresses you trust.
  public static var hostNotFound: Self { Self("hostNotFound") }
  /// The host was reached, but nothing listens on the port.
  ///
  /// Check the port, and whether the server runs.
  public static var refused: Self { Self("refused") }
  /// There is no route to the host, or no network at all.
  ///
  /// Try again when the network is back; an archive can answer meanwhile.
  public static var unreachable: Self { Self("unreachable") }
  /// The connection was closed or reset before the response was complete.
  ///
  /// Retry if ``TransportError/requestBytesSent`` is zero or the method is idempotent. If it happens every time,
  /// check the server or a proxy in between.
  public static var reset: Self { Self("reset") }
  /// The attempt made no progress for too long.
  ///
  /// Check ``TransportError/phase``: a timeout while connecting points to the network or the address, one while
  /// receiving to the server.
  public static var timedOut: Self { Self("timedOut") }
  /// The peer does not speak TLS on this port.
  ///
  /// Check scheme and port: the cause may be `https` to a port that serves plain `http`, or a captive portal.
  public static var notTLS: Self { Self("notTLS") }
  /// The TLS handshake between client and server failed.
  ///
  /// Check the server's TLS versions and ciphers, and the server name that the client requests.
  public static var handshakeFailed: Self { Self("handshakeFailed") }
  /// The certificate is not signed by a trusted authority, or is invalid for another reason.
  ///
  /// Install the authority in the system, or pass your own with `CurlTransport.Options.additionalAuthorities` on Linux.
  /// Never disable verification.
  public static var certificateUntrusted: Self { Self("certificateUntrusted") }
  /// The certificate is valid, but for another host.
  ///
  /// The request reached another server: check DNS, the route and the virtual host. A hijacked connection looks the
  /// same.
  public static var certificateNameMismatch: Self { Self("certificateNameMismatch") }
  /// The certificate has expired.
  ///
  /// Renew the server's certificate; check the clock of this machine.
  public static var certificateExpired: Self { Self("certificateExpired") }
  /// The certificate is not valid yet.
  ///
  /// Check the clock of this machine, then the server's certificate.
  public static var certificateNotYetValid: Self { Self("certificateNotYetValid") }
  /// The certificate is valid, but its public key is not among the host's ``Pins``. Nothing of the request was sent.
  ///
  /// Either another server answers with a certificate that the system trusts, or the server has a new key: add its pin.
  public static var pinMismatch: Self { Self("pinMismatch") }
  /// The server requires a client certificate, or rejected the one it received.
  ///
  /// Provide a certificate that the server accepts.
  public static var clientCertificate: Self { Self("clientCertificate") }
  /// The response violates the rules of HTTP or of its content coding.
  ///
  /// Look at what the server sends, for example with `curl -v`: often the sender is a proxy, or a server that speaks
  /// another protocol.
  public static var protocolViolation: Self { Self("protocolViolation") }
  /// The response exceeds one of the ``MessageLimits``.
  ///
  /// Raise the limit that the message names if you trust the server.
  public static var limitExceeded: Self { Self("limitExceeded") }
  /// This side cancelled the exchange.
  ///
  /// Nothing to do: another attempt was faster, or the app cancelled.
  public static var cancelled: Self { Self("cancelled") }
  /// The transport cannot tell, or the request itself is the cause.
  ///
  /// Read ``TransportError/message`` and ``TransportError/underlying``.
  public static var unknown: Self { Self("unknown") }

  /// Whether the cause is the server's certificate.
  public var isCertificate: Bool {
    [
      .certificateUntrusted, .certificateNameMismatch, .certificateExpired, .certificateNotYetValid, .pinMismatch,
    ].contains(self)
  }
}

extension TransportError.Phase {
  /// The phase in which a load fails with a code; `unknown` for a code of several phases.
  package init(of code: URLError.Code) {
    self =
      switch code {
      case .cannotFindHost, .dnsLookupFailed: .resolving
      case .notConnectedToInternet, .cannotConnectToHost, .internationalRoamingOff, .callIsActive, .dataNotAllowed:
        .connecting
      case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
        .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
        .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
        .securing
      case .networkConnectionLost, .badServerResponse, .cannotParseResponse, .zeroByteResource, .cannotDecodeRawData,
        .cannotDecodeContentData:
        .receiving
      default: .unknown
      }
  }
}

extension ErrorCode where Domain == TransportError {
  /// The code for a `URLError` code; a known `errno` makes it more exact.
  init(_ code: URLError.Code, underlying: (any Error)?) {
    if let known = (underlying as? POSIXError).flatMap({ Self.numbers[$0.code] }) {
      self = known
      return
    }
    self =
      switch code {
      case .cannotFindHost, .dnsLookupFailed: .hostNotFound
      case .cannotConnectToHost, .notConnectedToInternet, .internationalRoamingOff, .dataNotAllowed: .unreachable
      case .networkConnectionLost: .reset
      case .timedOut: .timedOut
      case .secureConnectionFailed: .handshakeFailed
      case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot: .certificateUntrusted
      case .serverCertificateHasBadDate: .certificateExpired
      case .serverCertificateNotYetValid: .certificateNotYetValid
      case .clientCertificateRequired, .clientCertificateRejected: .clientCertificate
      case .badServerResponse, .cannotParseResponse, .cannotDecodeContentData, .cannotDecodeRawData, .zeroByteResource:
        .protocolViolation
      case .dataLengthExceedsMaximum: .limitExceeded
      case .cancelled: .cancelled
      default: .unknown
      }
  }

  private static var numbers: [POSIXErrorCode: Self] {
    [
      .ECONNREFUSED: .refused, .ECONNRESET: .reset, .EPIPE: .reset, .ETIMEDOUT: .timedOut,
      .EHOSTUNREACH: .unreachable, .ENETUNREACH: .unreachable, .ENETDOWN: .unreachable,
    ]
  }
}

extension OpenEnum where Domain == TransportError {
  /// Resolving the host's addresses.
  public static var resolving: Self { Self("resolving") }
  /// Opening the connection.
  public static var connecting: Self { Self("connecting") }
  /// Performing the TLS handshake and verifying the certificate.
  public static var securing: Self { Self("securing") }
  /// Sending the request.
  public static var sending: Self { Self("sending") }
  /// Waiting for the response's head or reading its body.
  public static var receiving: Self { Self("receiving") }
  /// The transport cannot tell.
  public static var unknown: Self { Self("unknown") }
}
