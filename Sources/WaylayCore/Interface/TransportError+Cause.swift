import Foundation

extension TransportError {
  /// Why the network gave no response. A struct, so that new causes can be added.
  ///
  /// ```swift
  /// } catch let error as TransportError where error.cause == .refused {
  /// ```
  public struct Cause: Hashable, Sendable, CustomStringConvertible {
    /// The cause's name.
    public let description: String

    /// Makes a cause with the given name.
    public init(_ description: String) {
      self.description = description
    }

    /// No address was found for the host.
    ///
    /// Check the spelling of the host, the network and its DNS. `HostRewriter` can answer from addresses you trust.
    public static let hostNotFound = Cause("hostNotFound")
    /// The host was reached, but nothing listens on the port.
    ///
    /// Check the port, and whether the server runs.
    public static let refused = Cause("refused")
    /// There is no route to the host, or no network at all.
    ///
    /// Try again when the network is back; an archive can answer meanwhile.
    public static let unreachable = Cause("unreachable")
    /// The connection was closed or reset before the response was complete.
    ///
    /// Retry if ``TransportError/requestBytesSent`` is zero or the method is idempotent. If it happens every time,
    /// check the server or a proxy in between.
    public static let reset = Cause("reset")
    /// The attempt made no progress for too long.
    ///
    /// Check ``TransportError/phase``: a timeout while connecting points to the network or the address, one while
    /// receiving to the server.
    public static let timedOut = Cause("timedOut")
    /// The peer does not speak TLS on this port.
    ///
    /// Check scheme and port: the cause may be `https` to a port that serves plain `http`, or a captive portal.
    public static let notTLS = Cause("notTLS")
    /// The TLS handshake between client and server failed.
    ///
    /// Check the server's TLS versions and ciphers, and the server name that the client requests.
    public static let handshakeFailed = Cause("handshakeFailed")
    /// The certificate is not signed by a trusted authority, or is invalid for another reason.
    ///
    /// Install the authority in the system, or pass your own with `CurlTransport.Options` on Linux. Never disable
    /// verification.
    public static let certificateUntrusted = Cause("certificateUntrusted")
    /// The certificate is valid, but for another host.
    ///
    /// The request reached another server: check DNS, the route and the virtual host. A hijacked connection looks the
    /// same.
    public static let certificateNameMismatch = Cause("certificateNameMismatch")
    /// The certificate has expired.
    ///
    /// Renew the server's certificate; check the clock of this machine.
    public static let certificateExpired = Cause("certificateExpired")
    /// The certificate is not valid yet.
    ///
    /// Check the clock of this machine, then the server's certificate.
    public static let certificateNotYetValid = Cause("certificateNotYetValid")
    /// The server requires a client certificate, or rejected the one it received.
    ///
    /// Provide a certificate that the server accepts.
    public static let clientCertificate = Cause("clientCertificate")
    /// The response violates the rules of HTTP or of its content coding.
    ///
    /// Look at what the server sends, for example with `curl -v`: often the sender is a proxy, or a server that speaks
    /// another protocol.
    public static let protocolViolation = Cause("protocolViolation")
    /// The response exceeds one of the ``MessageLimits``.
    ///
    /// Raise the limit that the message names if you trust the server.
    public static let limitExceeded = Cause("limitExceeded")
    /// This side cancelled the exchange.
    ///
    /// Nothing to do: another attempt was faster, or the app cancelled.
    public static let cancelled = Cause("cancelled")
    /// The transport cannot tell, or the request itself is the cause.
    ///
    /// Read ``TransportError/message`` and ``TransportError/underlying``.
    public static let unknown = Cause("unknown")

    /// Whether the cause is the server's certificate.
    public var isCertificate: Bool {
      [.certificateUntrusted, .certificateNameMismatch, .certificateExpired, .certificateNotYetValid].contains(self)
    }
  }
}

extension TransportError.Cause {
  /// What a code of the loading system says, more exactly where the number of the system's call is known.
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

  private static let numbers: [POSIXErrorCode: TransportError.Cause] = [
    .ECONNREFUSED: .refused, .ECONNRESET: .reset, .EPIPE: .reset, .ETIMEDOUT: .timedOut, .EHOSTUNREACH: .unreachable,
    .ENETUNREACH: .unreachable, .ENETDOWN: .unreachable,
  ]
}
