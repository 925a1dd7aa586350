// Signatures are swift-crypto's: a package that turns the trait `Cryptography` off has no signed lists.
#if Cryptography
  internal import Crypto
  import Foundation

  /// A public key that an app trusts to sign lists of hosts, with the name that lists call it by.
  ///
  /// ```swift
  /// let keys = [try HostListKey("2026", base64: "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")]
  /// ```
  ///
  /// An app that ships with two keys can be served lists signed by either: sign with the old one until enough
  /// installations know the new one.
  public struct HostListKey: Hashable, Sendable {
    /// The name that a list gives beside its signature.
    public let name: String
    /// The key: 32 bytes (Ed25519, RFC 8032, section 5.1.5).
    public let publicKey: Data

    /// Makes a key.
    ///
    /// - Throws: ``HostError/Code/invalidKey`` for what is not 32 bytes.
    public init(_ name: String, _ publicKey: Data) throws {
      do {
        _ = try Curve25519.Signing.PublicKey(rawRepresentation: publicKey)
      } catch {
        throw HostError(
          .invalidKey, "the key \"\(name)\" has \(publicKey.count) bytes, and an Ed25519 public key has 32.",
          underlying: error)
      }
      self.name = name
      self.publicKey = publicKey
    }

    /// Makes a key from the Base64 form of its bytes.
    ///
    /// - Throws: ``HostError/Code/invalidKey``.
    public init(_ name: String, base64: String) throws {
      guard let bytes = Data(base64Encoded: base64) else {
        throw HostError(.invalidKey, "the key \"\(name)\" is not Base64.")
      }
      try self.init(name, bytes)
    }

    func isValid(_ signature: Data, for message: Data) -> Bool {
      let key = try? Curve25519.Signing.PublicKey(rawRepresentation: publicKey)
      return key?.isValidSignature(signature, for: message) ?? false
    }
  }

  /// The other half of a ``HostListKey``: for servers that sign lists, and for tests. It does not belong into an app.
  public struct HostListSigner: Sendable {
    /// The half that apps have.
    public let key: HostListKey
    private let privateKey: Data

    /// Makes a new key.
    public static func random(_ name: String) throws -> HostListSigner {
      try HostListSigner(name, privateKey: Curve25519.Signing.PrivateKey().rawRepresentation)
    }

    /// Makes a signer from a private key of 32 bytes (RFC 8032, section 5.1.5), as `openssl genpkey -algorithm ed25519`
    /// makes them.
    ///
    /// - Throws: ``HostError/Code/invalidKey``.
    public init(_ name: String, privateKey: Data) throws {
      do {
        key = try HostListKey(
          name, Curve25519.Signing.PrivateKey(rawRepresentation: privateKey).publicKey.rawRepresentation)
      } catch let error as HostError {
        throw error
      } catch {
        throw HostError(
          .invalidKey, "the private key \"\(name)\" has \(privateKey.count) bytes, and an Ed25519 private key has 32.")
      }
      self.privateKey = privateKey
    }

    func signature(for message: Data) throws -> Data {
      try Curve25519.Signing.PrivateKey(rawRepresentation: privateKey).signature(for: message)
    }
  }

  extension HostListSigner: CustomStringConvertible {
    /// The name of the key; never the key.
    public var description: String { "HostListSigner(\(key.name))" }
  }
#endif
