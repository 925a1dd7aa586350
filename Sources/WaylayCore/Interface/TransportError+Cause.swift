import Foundation

extension TransportError {
  /// Why a network gave no answer. A struct, so that causes may be added.
  ///
  /// ```swift
  /// } catch let error as TransportError where error.cause == .refused {
  /// ```
  public struct Cause: Hashable, Sendable, CustomStringConvertible {
    /// The cause's name.
    public let description: String

    /// Makes a cause of that name.
    public init(_ description: String) {
      self.description = description
    }

    /// No address was found for the host.
    ///
    /// Check the spelling of the host, the network and its DNS. `HostRewriter` can answer from addresses you trust.
    public static let hostNotFound = Cause("hostNotFound")
    /// The host was reached, and nothing listens at the port.
    ///
    /// Check the port, and whether the server runs.
    public static let refused = Cause("refused")
    /// There is no route to the host, or no network at all.
    ///
    /// Try again when the network is back; an archive can answer meanwhile.
    public static let unreachable = Cause("unreachable")
    /// The connection was closed or reset before the response was complete.
    ///
    /// Retry when ``TransportError/requestBytesSent`` is zero or the method is idempotent. If it happens each time,
    /// look at the server or a proxy between.
    public static let reset = Cause("reset")
    /// Nothing happened for too long in this attempt.
    ///
    /// Look at ``TransportError/phase``: a timeout while connecting points to the network or the address, one while
    /// receiving to the server.
    public static let timedOut = Cause("timedOut")
    /// The peer does not speak TLS at this port.
    ///
    /// Check scheme and port: `https` to a port that serves plain `http`, or a captive portal.
    public static let notTLS = Cause("notTLS")
    /// Client and server could not agree on TLS.
    ///
    /// Check the TLS versions and ciphers that the server offers, and the name the certificate is asked for.
    public static let handshakeFailed = Cause("handshakeFailed")
    /// The certificate is not signed by a trusted authority, or is not valid for another reason.
    ///
    /// Install the authority in the system, or pass your own with `CurlTransport.Options` on Linux. Never switch the
    /// check off.
    public static let certificateUntrusted = Cause("certificateUntrusted")
    /// The certificate is valid, but for another host.
    ///
    /// The request reached another server: check DNS, the route and the virtual host. It is also what a hijacked
    /// connection looks like.
    public static let certificateNameMismatch = Cause("certificateNameMismatch")
    /// The certificate has expired.
    ///
    /// Renew the certificate of the server; check the clock of this machine.
    public static let certificateExpired = Cause("certificateExpired")
    /// The certificate is not valid yet.
    ///
    /// Check the clock of this machine, then the server's certificate.
    public static let certificateNotYetValid = Cause("certificateNotYetValid")
    /// The server asks for a client certificate, or refuses the one it got.
    ///
    /// Provide a certificate the server accepts.
    public static let clientCertificate = Cause("clientCertificate")
    /// The response breaks the rules of HTTP or of its content coding.
    ///
    /// Look at what the server sends, with `curl -v` for example: often it is a proxy, or a server that speaks another
    /// protocol.
    public static let protocolViolation = Cause("protocolViolation")
    /// The response is over one of the ``MessageLimits``.
    ///
    /// Raise the limit that the message names if you trust the server.
    public static let limitExceeded = Cause("limitExceeded")
    /// The exchange was given up from this side.
    ///
    /// Nothing to do: another attempt was faster, or the app cancelled.
    public static let cancelled = Cause("cancelled")
    /// The transport cannot tell, or the cause lies in the request.
    ///
    /// Read ``TransportError/message`` and ``TransportError/underlying``.
    public static let unknown = Cause("unknown")

    /// Whether it is about the certificate that the server has shown.
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
