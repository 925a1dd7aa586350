// Signatures are swift-crypto's: a package that turns the trait `Cryptography` off has no signed lists.
#if Cryptography
  internal import Crypto
  import Foundation

  /// A public key that an app trusts to sign host lists, with the name that lists use for it.
  ///
  /// ```swift
  /// let keys = [try HostListKey("2026", base64: "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")]
  /// ```
  ///
  /// An app that ships with two keys accepts lists signed by either: sign with the old key until enough installations
  /// know the new one.
  public struct HostListKey: Hashable, Sendable {
    /// The name of the key in a list's signatures.
    public let name: String
    /// The key: 32 bytes (Ed25519, RFC 8032, section 5.1.5).
    public let publicKey: Data

    /// Makes a key.
    ///
    /// - Throws: `HostError.invalidKey` unless there are 32 bytes.
    public init(_ name: String, _ publicKey: Data) throws {
      do {
        _ = try Curve25519.Signing.PublicKey(rawRepresentation: publicKey)
      } catch {
        throw HostError(
          .invalidKey, "the key \"\(name)\" has \(publicKey.count) bytes, but an Ed25519 public key has 32.",
          underlying: error)
      }
      self.name = name
      self.publicKey = publicKey
    }

    /// Makes a key from the Base64 form of its bytes.
    ///
    /// - Throws: `HostError.invalidKey`.
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

  /// The private half of a ``HostListKey``, for servers that sign lists, and for tests. It does not belong in an app.
  public struct HostListSigner: Sendable {
    /// The public half, for apps.
    public let key: HostListKey
    private let privateKey: Data

    /// Makes a new key.
    public static func random(_ name: String) throws -> HostListSigner {
      try HostListSigner(name, privateKey: Curve25519.Signing.PrivateKey().rawRepresentation)
    }

    /// Makes a signer from a private key of 32 bytes (RFC 8032, section 5.1.5), as `openssl genpkey -algorithm ed25519`
    /// generates it.
    ///
    /// - Throws: `HostError.invalidKey`.
    public init(_ name: String, privateKey: Data) throws {
      do {
        key = try HostListKey(
          name, Curve25519.Signing.PrivateKey(rawRepresentation: privateKey).publicKey.rawRepresentation)
      } catch let error as HostError {
        throw error
      } catch {
        throw HostError(
          .invalidKey, "the private key \"\(name)\" has \(privateKey.count) bytes, but an Ed25519 private key has 32.")
      }
      self.privateKey = privateKey
    }

    func signature(for message: Data) throws -> Data {
      try Curve25519.Signing.PrivateKey(rawRepresentation: privateKey).signature(for: message)
    }
  }

  extension HostListSigner: CustomStringConvertible {
    /// The name of the key, never the key itself.
    public var description: String { "HostListSigner(\(key.name))" }
  }
#else
  /// A public key for signed lists, which need the package trait `Cryptography`.
  @available(*, unavailable, message: "Signed lists of hosts: enable the trait Cryptography of the package waylay.")
  public struct HostListKey: Sendable {
    /// Says which trait is missing.
    public init(_ name: String, _ publicKey: Any) {}
    /// Says which trait is missing.
    public init(_ name: String, base64: String) {}
  }
#endif
