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

    /// The host has no address that could be found.
    public static let hostNotFound = Cause("hostNotFound")
    /// There is a host, and nobody listens at the port.
    public static let refused = Cause("refused")
    /// There is no way to the host, or no network.
    public static let unreachable = Cause("unreachable")
    /// The connection was closed or reset before the answer was whole.
    public static let reset = Cause("reset")
    /// Nothing happened for too long.
    public static let timedOut = Cause("timedOut")
    /// What answers in the place of TLS is not TLS.
    public static let notTLS = Cause("notTLS")
    /// TLS could not be agreed on.
    public static let handshakeFailed = Cause("handshakeFailed")
    /// The certificate's authority is not trusted, or something else is wrong with it.
    public static let certificateUntrusted = Cause("certificateUntrusted")
    /// The certificate is good, and for another name.
    public static let certificateNameMismatch = Cause("certificateNameMismatch")
    /// The certificate has expired.
    public static let certificateExpired = Cause("certificateExpired")
    /// The certificate is not valid yet.
    public static let certificateNotYetValid = Cause("certificateNotYetValid")
    /// The server wants a certificate of the client, or refuses the one it got.
    public static let clientCertificate = Cause("clientCertificate")
    /// The answer breaks the rules of HTTP or of its coding.
    public static let protocolViolation = Cause("protocolViolation")
    /// The answer is over one of the ``MessageLimits``.
    public static let limitExceeded = Cause("limitExceeded")
    /// The exchange was given up from this side.
    public static let cancelled = Cause("cancelled")
    /// The transport cannot tell, or it lies with the request.
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
