import Foundation

/// The requirements of a transport for TLS connections beyond a valid certificate, and its client certificates.
///
/// ```swift
/// let security = TransportSecurity(
///   pins: try Pins(["api.example.com": ["sha256/…", "sha256/…"]]),
///   clientCertificates: [try .pem(certificate: certificate, key: key, for: "api.example.com")])
/// let registry = InterceptorRegistry(security: security) { … }
/// ```
///
/// It is an option of `CurlTransport` and of ``URLSessionTransport``, and a registry passes its own to the transports
/// that it makes. A transport that cannot meet the requirements sends nothing: the load fails with
/// `WaylayError.transportIncapable`. This applies to `URLSession` on Linux, to a libcurl whose TLS library lacks the
/// feature, and to your own transport in a registry with a `security`.
public struct TransportSecurity: Sendable, Hashable {
  /// The public keys that hosts may have.
  public var pins: Pins
  /// The certificates for servers that request one; the first that covers the host is used.
  public var clientCertificates: [ClientCertificate]

  /// Makes the options; by default there are no requirements.
  public init(pins: Pins = Pins(), clientCertificates: [ClientCertificate] = []) {
    (self.pins, self.clientCertificates) = (pins, clientCertificates)
  }

  /// The pins and the client certificate that apply to a URL; `nil` if none do.
  func demands(for url: URL) -> Demands? {
    guard url.scheme?.lowercased() == "https" else { return nil }
    let certificate = clientCertificates.first { $0.hosts.contains { $0.matches(url) } }
    guard let keys = pins.pins(for: url) else { return certificate.map { Demands(certificate: $0) } }
    return pins.isReportOnly
      ? Demands(reported: keys, certificate: certificate) : Demands(pins: keys, certificate: certificate)
  }

  struct Demands {
    /// The pinned keys: a request is sent only to a server with one of them.
    var pins: Set<Data>?
    /// The pinned keys whose absence is only reported.
    var reported: Set<Data>?
    var certificate: ClientCertificate?
  }

  static func incapable(_ transport: String, of request: InterceptedRequest) -> WaylayError {
    WaylayError(
      .transportIncapable,
      "\(transport) cannot check pins or present client certificates, so nothing was sent: use CurlTransport on Linux, "
        + "with a libcurl that is built with OpenSSL.",
      url: request.url, requestID: request.id)
  }
}

/// The public keys that the certificates of certain hosts may have: pins.
///
/// ```swift
/// let pins = try Pins(["*.example.com": ["sha256/\(current)", "sha256/\(backup)"]])
/// ```
///
/// A pin is the Base64 of the SHA-256 of the leaf certificate's public key, as in RFC 7469, section 2.4:
///
/// ```sh
/// openssl x509 -in leaf.pem -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64
/// ```
///
/// It is checked in addition to the certificate chain, never instead of it. A connection whose key is not among the
/// host's is closed before anything of a request is sent: with `TransportError.pinMismatch`. Pin a backup key as well:
/// otherwise the app cannot connect after the server has changed its key.
///
/// The pins of a host itself take precedence over those of a pattern. A connection over plain `http` has no key: use
/// `https`. On Apple platforms an HTTP/2 connection may serve several hosts of one certificate, and its key is checked
/// for the host that it was opened for; libcurl opens one for each.
public struct Pins: Sendable, Hashable {
  private var keys: [HostPattern: Set<Data>] = [:]
  /// When the pins expire: from then on, only the certificate chain is verified. `nil` for never.
  ///
  /// An expiry keeps an app that gets no updates from losing its server with the last key that it knows.
  public var expires: Date?
  /// Whether a mismatch is only reported: as `LoadEvent.pinMismatched`, in the log at `.warning`, and by
  /// `LoadMetrics.isPinned`. The request is sent nevertheless. A mismatch is not reported on a connection that was
  /// already open, nor by a libcurl without OpenSSL.
  public var isReportOnly = false

  /// Makes no pins.
  public init() {}

  /// Makes pins.
  ///
  /// - Parameters:
  ///   - pins: The pins of each host or ``HostPattern``, with or without `sha256/` before them.
  ///   - expires: When the pins expire. Default: never.
  ///   - isReportOnly: Whether a mismatch is only reported.
  /// - Throws: `WaylayError.invalidHost` and `WaylayError.invalidPin`.
  public init(
    _ pins: [String: [String]], expires: Date? = nil, isReportOnly: Bool = false
  ) throws(WaylayError) {
    (self.expires, self.isReportOnly) = (expires, isReportOnly)
    for (host, texts) in pins {
      let pattern = try HostPattern(host)
      guard !texts.isEmpty else { throw WaylayError(.invalidPin, "\(host) has no pins: write one and a backup.") }
      for text in texts {
        let value = text.hasPrefix("sha256/") ? String(text.dropFirst(7)) : text
        guard let key = Data(base64Encoded: value), key.count == 32 else {
          throw WaylayError(
            .invalidPin, "\"\(text)\" is not a pin: write \"sha256/\" and the Base64 of the 32 bytes of a SHA-256.")
        }
        keys[pattern, default: []].insert(key)
      }
    }
  }

  /// The pins of the URL's host; `nil` if it has none, or if they have expired.
  func pins(for url: URL) -> Set<Data>? {
    if let expires, expires <= Date() { return nil }
    let matching = keys.filter { $0.key.matches(url) }
    let exact = matching.filter { !$0.key.isWildcard }
    let found = (exact.isEmpty ? matching : exact).values
    return found.isEmpty ? nil : found.reduce(into: []) { $0.formUnion($1) }
  }
}

/// A client certificate with its private key, for servers that request one.
public struct ClientCertificate: Sendable, Hashable {
  enum Form: Sendable, Hashable {
    case pem(certificate: Data, key: Data)
    case pkcs12(Data, passphrase: String)
  }

  let form: Form
  let hosts: [HostPattern]

  /// A certificate and its key as PEM text. On Linux; on Apple platforms use ``pkcs12(_:passphrase:for:)``.
  ///
  /// - Throws: `WaylayError.invalidHost`; `WaylayError.invalidCertificate` if the text has no certificate or no key.
  public static func pem(
    certificate: Data, key: Data, for hosts: String...
  ) throws(WaylayError) -> ClientCertificate {
    if let fault = PEM.fault(of: certificate, without: "CERTIFICATE", as: "the client certificate")
      ?? PEM.fault(of: key, without: "PRIVATE KEY", as: "the client certificate's key")
    {
      throw fault
    }
    return ClientCertificate(form: .pem(certificate: certificate, key: key), hosts: try patterns(hosts))
  }

  /// A certificate and its key as a PKCS #12 file.
  ///
  /// - Throws: `WaylayError.invalidHost`.
  public static func pkcs12(
    _ data: Data, passphrase: String, for hosts: String...
  ) throws(WaylayError) -> ClientCertificate {
    ClientCertificate(form: .pkcs12(data, passphrase: passphrase), hosts: try patterns(hosts))
  }

  private static func patterns(_ texts: [String]) throws(WaylayError) -> [HostPattern] {
    var patterns: [HostPattern] = []
    for text in texts { patterns.append(try HostPattern(text)) }
    return patterns
  }
}

extension ClientCertificate: CustomStringConvertible, CustomReflectable {
  /// The hosts: the rest is secret.
  public var description: String { "ClientCertificate for \(hosts.map(\.description).joined(separator: ", "))" }
  /// Empty, because the contents are secret.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
