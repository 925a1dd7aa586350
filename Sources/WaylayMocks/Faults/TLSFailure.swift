extension MockFault {
  /// A reason why a TLS handshake fails. A struct, so that new reasons can be added.
  public struct TLSFailure: Hashable, Sendable, CustomStringConvertible {
    /// The reason's name.
    public let description: String
    let code: URLError.Code
    let message: String

    private init(_ name: String, _ code: URLError.Code, _ message: String) {
      description = name
      self.code = code
      self.message = message
    }

    /// No version or cipher in common: `secureConnectionFailed`.
    public static let handshake = TLSFailure(
      "handshake", .secureConnectionFailed, "the client and the server share no TLS version or cipher.")
    /// The certificate is for another host, or not trusted: `serverCertificateUntrusted`.
    public static let untrusted = TLSFailure(
      "untrusted", .serverCertificateUntrusted, "the server's certificate is not trusted.")
    /// The certificate comes from an unknown authority: `serverCertificateHasUnknownRoot`.
    public static let unknownRoot = TLSFailure(
      "unknownRoot", .serverCertificateHasUnknownRoot, "the server's certificate comes from an unknown authority.")
    /// The certificate has expired: `serverCertificateHasBadDate`.
    public static let expired = TLSFailure(
      "expired", .serverCertificateHasBadDate, "the server's certificate has expired.")
    /// The certificate is not valid yet: `serverCertificateNotYetValid`.
    public static let notYetValid = TLSFailure(
      "notYetValid", .serverCertificateNotYetValid, "the server's certificate is not valid yet.")
    /// The server requires a client certificate: `clientCertificateRequired`.
    public static let clientCertificateRequired = TLSFailure(
      "clientCertificateRequired", .clientCertificateRequired, "the server requires a client certificate.")
    /// The server rejects the client's certificate: `clientCertificateRejected`.
    public static let clientCertificateRejected = TLSFailure(
      "clientCertificateRejected", .clientCertificateRejected, "the server refused the client's certificate.")
    /// The system does not allow a plaintext connection: `appTransportSecurityRequiresSecureConnection`.
    public static let plainTextForbidden = TLSFailure(
      "plainTextForbidden", .appTransportSecurityRequiresSecureConnection,
      "the system does not allow connections without TLS.")
  }
}
