// See HostListKey.swift.
#if Cryptography
  import Foundation

  /// A list of rules with a signature, a serial number and an expiry date, which an app may load from an untrusted
  /// server.
  ///
  /// ```swift
  /// // On the server, or in a test:
  /// let rules = #"[{"host": "api.example.com", "addresses": ["203.0.113.7"]}]"#
  /// let file = try SignedHostList.sign(Data(rules.utf8), serial: 7, expires: date, by: [signer])
  ///
  /// // In the app:
  /// let list = try SignedHostList(file, keys: [signer.key])
  /// ```
  ///
  /// This type is one list only. To keep the last good list, and to reject older ones, pass it to a
  /// ``TrustedHostList``.
  ///
  /// The file is a JSON object: `payload` is the Base64 form of the signed bytes, `signatures` an array of objects with
  /// the `key`'s name and the Base64 `signature`. The payload is JSON too: `{"serial": 7, "expires":
  /// "2027-01-31T00:00:00Z", "rules": […]}`, with rules as in ``HostRules/init(json:)``. A signature is Ed25519 (RFC
  /// 8032) over the text `waylay host list, version 1`, a zero byte and the payload's bytes, so that a key with other
  /// uses cannot be tricked into signing a list. The payload is not parsed before a signature has been verified.
  public struct SignedHostList: Sendable {
    static let context = Data("waylay host list, version 1".utf8) + [0]

    /// The rules.
    public let rules: HostRules
    /// The list's serial number: a later list has a higher one.
    public let serial: UInt64
    /// When the list expires.
    public let expires: Date
    /// The name of the key that signed the list.
    public let keyName: String

    /// Parses a list and verifies its signature. It does not check whether the list has expired.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - keys: The trusted keys; one valid signature by one of them is enough.
    /// - Throws: `HostError.listForged` if no trusted key has signed it, `HostError.invalidRule` if one
    ///   has but the list is invalid.
    public init(_ file: Data, keys: [HostListKey]) throws {
      let envelope = try Envelope(file)
      guard let key = envelope.signer(among: keys) else {
        let named = envelope.signatures.map { "\"\($0.key)\"" }.joined(separator: ", ")
        let trusted = keys.map { "\"\($0.name)\"" }.joined(separator: ", ")
        throw HostError(
          .listForged,
          "no trusted key signed the list. Its keys: \(named.isEmpty ? "none" : named); trusted keys: \(trusted).")
      }
      let payload = try HostListDocument(envelope.payload)
      serial = try payload.number("serial")
      let text = try payload.text("expires")
      guard let date = try? Date(text, strategy: .iso8601) else {
        throw HostError(.invalidRule, "\"expires\" is \"\(text)\": write a date as 2027-01-31T00:00:00Z (RFC 3339).")
      }
      expires = date
      rules = try HostRules(entries: payload.entries("rules"))
      keyName = key.name
    }

    /// Makes the file of a list.
    ///
    /// - Parameters:
    ///   - rules: The rules as a JSON array: the value of `rules` in ``HostRules/init(json:)``.
    ///   - serial: The list's serial number; at most 2^53.
    ///   - expires: When the list expires; fractions of a second are dropped.
    ///   - signers: The signers.
    /// - Throws: `HostError.invalidRule` if the list could not be parsed again, `HostError.invalidKey`
    ///   without a signer.
    public static func sign(_ rules: Data, serial: UInt64, expires: Date, by signers: [HostListSigner]) throws -> Data {
      guard !signers.isEmpty else {
        throw HostError(.invalidKey, "no app would accept a list without a signature: give at least one signer.")
      }
      var payload = Data(#"{"serial":\#(serial),"expires":"\#(expires.formatted(.iso8601))","rules":"#.utf8)
      payload.append(rules)
      payload.append(UInt8(ascii: "}"))
      let signatures = try signers.map {
        ["key": $0.key.name, "signature": try $0.signature(for: context + payload).base64EncodedString()]
      }
      let envelope: JSONValue = ["payload": .init(payload.base64EncodedString()), "signatures": .init(signatures)]
      let file = Data(envelope.description.utf8)
      _ = try SignedHostList(file, keys: signers.map(\.key))
      return file
    }

    /// The file before anything in it is believed.
    private struct Envelope {
      let payload: Data
      let signatures: [(key: String, bytes: Data)]

      init(_ file: Data) throws {
        let list = try HostListDocument(file)
        guard let payload = Data(base64Encoded: try list.text("payload")) else {
          throw HostError(.invalidRule, "\"payload\" is not Base64.")
        }
        self.payload = payload
        signatures = try list.entries("signatures").compactMap { entry in
          guard let key = entry["key"]?.string,
            let bytes = entry["signature"]?.string.flatMap({ Data(base64Encoded: $0) })
          else { return nil }
          return (key, bytes)
        }
      }

      func signer(among keys: [HostListKey]) -> HostListKey? {
        // Enough for any rotation: somebody else's file must not keep the processor busy with its signatures.
        for (name, bytes) in signatures.prefix(16) {
          if let key = keys.first(where: { $0.name == name && $0.isValid(bytes, for: SignedHostList.context + payload) }
          ) {
            return key
          }
        }
        return nil
      }
    }
  }
#endif
