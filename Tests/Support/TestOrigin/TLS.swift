import Crypto
import Foundation
import NIOCore
import NIOSSL

extension TestOrigin {
  /// How a server speaks TLS.
  ///
  /// ```swift
  /// let authority = try TestAuthority()
  /// let origin = try await TestOrigin.start(tls: .init(authority: authority, names: ["api.test", "127.0.0.1"]))
  /// ```
  ///
  /// With several certificates the client's server name (SNI) decides; a client that sends none, or one that none of
  /// them is for, gets the first.
  public struct TLS: Sendable {
    /// Who issues the certificates.
    public var authority: TestAuthority
    /// What the certificates are like.
    public var certificates: [Certificate]
    /// The versions that are spoken.
    public var versions: ClosedRange<Version> = .v1_2 ... .v1_3
    /// Whose certificates clients have to show; `nil` for none.
    public var clientAuthority: TestAuthority?
    /// The application protocols (ALPN), the preferred one first.
    public var applicationProtocols = ["h2", "http/1.1"]

    /// One certificate.
    public init(authority: TestAuthority, names: [String] = Certificate.loopback, kind: Certificate.Kind = .valid) {
      self.init(authority: authority, certificates: [Certificate(names: names, kind: kind)])
    }

    /// Several certificates, of which the client's server name selects one.
    public init(authority: TestAuthority, certificates: [Certificate]) {
      self.authority = authority
      self.certificates = certificates
    }

    /// A version of TLS.
    public enum Version: String, Sendable, CaseIterable, Comparable {
      /// TLS 1.0.
      case v1_0 = "1.0"
      /// TLS 1.1.
      case v1_1 = "1.1"
      /// TLS 1.2.
      case v1_2 = "1.2"
      /// TLS 1.3.
      case v1_3 = "1.3"

      /// Whether one is older than another.
      public static func < (left: Version, right: Version) -> Bool { left.rawValue < right.rawValue }
    }

    /// What a certificate is like.
    public struct Certificate: Sendable {
      /// The names of this machine: `localhost`, `127.0.0.1` and `::1`.
      public static let loopback = ["localhost", "127.0.0.1", "::1"]

      /// What it is for: DNS names, wildcards such as `*.test`, and IP addresses.
      public var names: [String]
      /// What is wrong with it.
      public var kind: Kind
      let key = P256.Signing.PrivateKey()

      /// The pin of its public key (RFC 7469).
      public var pin: String {
        "sha256/" + Data(SHA256.hash(data: key.publicKey.derRepresentation)).base64EncodedString()
      }

      /// Describes a certificate.
      public init(names: [String], kind: Kind = .valid) {
        self.names = names
        self.kind = kind
      }

      /// What is wrong with a certificate.
      public enum Kind: Sendable, CaseIterable {
        /// Nothing: issued by the authority.
        case valid
        /// Nothing: issued by an intermediate authority, whose certificate is sent along.
        case intermediate
        /// The intermediate authority's certificate is not sent.
        case missingIntermediate
        /// It was valid until yesterday.
        case expired
        /// It is valid from tomorrow.
        case notYetValid
        /// It is for `wrong.invalid` instead of its names.
        case wrongName
        /// It is signed with its own key.
        case selfSigned
        /// It is issued by another authority.
        case unknownAuthority
      }

      /// Whether a client that asks for a name should get this one.
      func matches(_ name: String) -> Bool {
        names.contains { pattern in
          let (pattern, name) = (pattern.lowercased(), name.lowercased())
          guard pattern.hasPrefix("*.") else { return pattern == name }
          // A wildcard stands for one label (RFC 9525, section 6.3).
          return name.drop { $0 != "." } == pattern.dropFirst() && !name.hasPrefix(".")
        }
      }
    }
  }
}

/// The TLS contexts of a server, one for each certificate.
struct SecureContexts: Sendable {
  private let contexts: [(certificate: TestOrigin.TLS.Certificate, context: NIOSSLContext)]

  init(_ tls: TestOrigin.TLS) throws {
    precondition(!tls.certificates.isEmpty, "TLS needs a certificate")
    contexts = try tls.certificates.map { certificate in
      let identity = try tls.authority.issue(certificate)
      var configuration = TLSConfiguration.makeServerConfiguration(
        certificateChain: try identity.chain.map { .certificate(try NIOSSLCertificate(bytes: $0, format: .der)) },
        privateKey: .privateKey(try NIOSSLPrivateKey(bytes: identity.key, format: .der)))
      configuration.minimumTLSVersion = TLSVersion(tls.versions.lowerBound)
      configuration.maximumTLSVersion = TLSVersion(tls.versions.upperBound)
      configuration.applicationProtocols = tls.applicationProtocols
      if let authority = tls.clientAuthority {
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .certificates([try NIOSSLCertificate(bytes: Array(authority.der), format: .der)])
      }
      // Clients often leave without saying so; nobody should wait for them.
      configuration.shutdownTimeout = .milliseconds(50)
      return (certificate, try NIOSSLContext(configuration: configuration))
    }
  }

  /// The context for a client that asks for this name.
  func context(for name: String?) -> NIOSSLContext {
    (contexts.first { entry in name.map(entry.certificate.matches) ?? false } ?? contexts[0]).context
  }
}

extension TLSVersion {
  init(_ version: TestOrigin.TLS.Version) {
    self =
      switch version {
      case .v1_0: .tlsv1
      case .v1_1: .tlsv11
      case .v1_2: .tlsv12
      case .v1_3: .tlsv13
      }
  }
}

extension TestOrigin.TLS.Version {
  init(_ version: TLSVersion) {
    self =
      switch version {
      case .tlsv1: .v1_0
      case .tlsv11: .v1_1
      case .tlsv12: .v1_2
      case .tlsv13: .v1_3
      }
  }
}
