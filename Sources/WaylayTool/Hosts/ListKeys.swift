#if CommandLineTool
  import Foundation
  import WaylayHosts

  /// Keys of signed lists, as `name=file`.
  enum ListKeys {
    /// What stands before the 32 bytes of an Ed25519 key in DER (RFC 8410, sections 4 and 7).
    private static let publicPrefix = Data([0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00])
    private static let privatePrefix = Data([
      0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
    ])

    static func publicKey(_ text: String) throws -> HostListKey {
      let (name, bytes) = try bytes(text, label: "PUBLIC KEY", prefix: publicPrefix)
      return try HostListKey(name, bytes)
    }

    static func signer(_ text: String) throws -> HostListSigner {
      let (name, bytes) = try bytes(text, label: "PRIVATE KEY", prefix: privatePrefix)
      return try HostListSigner(name, privateKey: bytes)
    }

    private static func bytes(_ text: String, label: String, prefix: Data) throws -> (String, Data) {
      guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
        throw ToolFailure(.usage, "usage.key", "--key names a key and its file: write 2026=key.pem.")
      }
      let (name, path) = (String(text[..<equals]), String(text[text.index(after: equals)...]))
      let data: Data
      do { data = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
        throw ToolFailure(
          .files, "key.unreadable", "the key file \(path) cannot be read: \((error as NSError).localizedDescription)")
      }
      guard let bytes = raw(data, label, prefix) else {
        throw ToolFailure(
          .files, "key.invalid",
          "\(path) holds no Ed25519 \(label.lowercased()): give a PEM file, 32 bytes, or their Base64.")
      }
      return (name, bytes)
    }

    private static func raw(_ data: Data, _ label: String, _ prefix: Data) -> Data? {
      if data.count == 32 { return data }
      guard data.count <= 4096 else { return nil }
      let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
      if let start = text.range(of: "-----BEGIN \(label)-----"), let end = text.range(of: "-----END \(label)-----"),
        start.upperBound <= end.lowerBound
      {
        let der = Data(
          base64Encoded: String(text[start.upperBound..<end.lowerBound]), options: .ignoreUnknownCharacters)
        guard let der, der.starts(with: prefix), der.count == prefix.count + 32 else { return nil }
        return Data(der.dropFirst(prefix.count))
      }
      let bytes = Data(base64Encoded: text)
      return bytes?.count == 32 ? bytes : nil
    }
  }
#endif
