import Crypto
public import Foundation
import SwiftASN1
import X509

/// A private certificate authority, made on the spot: clients that trust its certificate trust the servers of its
/// making.
///
/// ```swift
/// let authority = try TestAuthority()
/// let origin = try await TestOrigin.start(tls: .init(authority: authority))
/// // A client takes `authority.pem`, `authority.der`, or a file: `try authority.file()`.
/// ```
public final class TestAuthority: Sendable {
  /// Its own certificate as text.
  public let pem: String
  /// Its own certificate in binary form.
  public let der: Data

  private let root: CertificateAuthority
  /// One that nobody trusts.
  private let stranger: CertificateAuthority
  private let intermediate: CertificateAuthority
  private let location: URL

  /// Makes an authority with a key of its own.
  public init(name: String = "Test Authority") throws {
    root = try CertificateAuthority(name)
    stranger = try CertificateAuthority("Unknown \(name)")
    intermediate = try CertificateAuthority("\(name) Intermediate", issuedBy: root.issuer)
    pem = try root.certificate.serializeAsPEM().pemString
    der = Data(try root.certificate.bytes)
    location = FileManager.default.temporaryDirectory.appendingPathComponent("test-authority-\(UUID().uuidString).pem")
  }

  deinit {
    try? FileManager.default.removeItem(at: location)
  }

  /// A file with its own certificate as text, for clients that take a path. It goes when the authority goes.
  public func file() throws -> URL {
    try Data(pem.utf8).write(to: location, options: .atomic)
    return location
  }

  /// A certificate with what leads up to it, and its key; all in binary form.
  struct Identity {
    let chain: [[UInt8]]
    let key: [UInt8]
  }

  /// A certificate for a client in both forms, and its key as text.
  public func clientIdentity(
    _ description: TestOrigin.TLS.Certificate
  ) throws -> (certificate: Data, key: Data, der: Data) {
    let der = Data(try issue(description).chain[0])
    let text = der.base64EncodedString(options: .lineLength64Characters)
    let pem = "-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n"
    return (Data(pem.utf8), Data(description.key.pemRepresentation.utf8), der)
  }

  func issue(_ description: TestOrigin.TLS.Certificate) throws -> Identity {
    let key = description.key
    let names = description.kind == .wrongName ? ["wrong.invalid"] : description.names
    let day: TimeInterval = 24 * 60 * 60
    let validity: (from: TimeInterval, until: TimeInterval) =
      switch description.kind {
      case .expired: (-30 * day, -day)
      case .notYetValid: (day, 30 * day)
      default: (-day, 30 * day)
      }
    let subject = try DistinguishedName { CommonName(names.first ?? "nameless") }
    let issuer: Issuer =
      switch description.kind {
      case .selfSigned: Issuer(name: subject, key: key)
      case .unknownAuthority: stranger.issuer
      case .intermediate, .missingIntermediate: intermediate.issuer
      default: root.issuer
      }
    let certificate = try Certificate(
      version: .v3,
      serialNumber: .init(),
      publicKey: Certificate.PublicKey(key.publicKey),
      notValidBefore: Date(timeIntervalSinceNow: validity.from),
      notValidAfter: Date(timeIntervalSinceNow: validity.until),
      issuer: issuer.name,
      subject: subject,
      signatureAlgorithm: .ecdsaWithSHA256,
      extensions: try Certificate.Extensions {
        Critical(BasicConstraints.notCertificateAuthority)
        Critical(KeyUsage(digitalSignature: true))
        try ExtendedKeyUsage([.serverAuth, .clientAuth])
        SubjectAlternativeNames(names.map(Self.generalName))
      },
      issuerPrivateKey: Certificate.PrivateKey(issuer.key))
    let chain = description.kind == .intermediate ? [certificate, intermediate.certificate] : [certificate]
    return Identity(chain: try chain.map { try $0.bytes }, key: Array(key.derRepresentation))
  }

  private static func generalName(_ name: String) -> GeneralName {
    for (family, size) in [(AF_INET, 4), (AF_INET6, 16)] {
      var bytes = [UInt8](repeating: 0, count: size)
      if inet_pton(family, name, &bytes) == 1 { return .ipAddress(ASN1OctetString(contentBytes: bytes[...])) }
    }
    return .dnsName(name)
  }
}

/// Who signs certificates.
private struct Issuer: Sendable {
  let name: DistinguishedName
  let key: P256.Signing.PrivateKey
}

/// An issuer that has a certificate itself.
private struct CertificateAuthority: Sendable {
  let issuer: Issuer
  let certificate: Certificate

  /// Makes an authority, a root unless somebody else vouches for it.
  init(_ name: String, issuedBy superior: Issuer? = nil) throws {
    issuer = Issuer(name: try DistinguishedName { CommonName(name) }, key: P256.Signing.PrivateKey())
    let superior = superior ?? issuer
    let year: TimeInterval = 365 * 24 * 60 * 60
    certificate = try Certificate(
      version: .v3,
      serialNumber: .init(),
      publicKey: Certificate.PublicKey(issuer.key.publicKey),
      notValidBefore: Date(timeIntervalSinceNow: -year),
      notValidAfter: Date(timeIntervalSinceNow: year),
      issuer: superior.name,
      subject: issuer.name,
      signatureAlgorithm: .ecdsaWithSHA256,
      extensions: try Certificate.Extensions {
        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
        Critical(KeyUsage(keyCertSign: true, cRLSign: true))
      },
      issuerPrivateKey: Certificate.PrivateKey(superior.key))
  }
}

extension Certificate {
  /// The binary form.
  fileprivate var bytes: [UInt8] {
    get throws {
      var serializer = DER.Serializer()
      try serializer.serialize(self)
      return serializer.serializedBytes
    }
  }
}
