import Foundation

/// The text form of certificates and keys (RFC 7468).
enum PEM {
  /// Returns the error of a PEM text; `nil` if the text is valid: it has a block with the label, or with one that ends
  /// with it, such as `EC PRIVATE KEY` for `PRIVATE KEY`, and all such blocks are valid.
  static func fault(of data: Data, without label: String, as name: String) -> WaylayError? {
    var found: Set<String> = []
    for block in String(decoding: data, as: UTF8.self).components(separatedBy: "-----BEGIN ").dropFirst() {
      let parts = block.components(separatedBy: "-----")
      found.insert(parts[0])
      guard parts[0].hasSuffix(label), parts.count < 3 || parts[2] != "END \(parts[0])" || !isWhole(parts[1]) else {
        continue
      }
      return WaylayError(.invalidCertificate, "\(name) is cut off or damaged: pass the whole file.")
    }
    guard !found.contains(where: { $0.hasSuffix(label) }) else { return nil }
    let content =
      found.min().map { "a \($0)" } ?? (data.isEmpty ? "nothing" : data.first == 0x30 ? "DER" : "no PEM text")
    return WaylayError(
      .invalidCertificate,
      "\(name) has no block BEGIN \(label), but \(content): pass PEM text, which `openssl` makes of DER.")
  }

  /// Whether a block contains the Base64 of a DER sequence. A key with header fields (RFC 1421) is encrypted.
  private static func isWhole(_ body: String) -> Bool {
    let lines = body.split(whereSeparator: \.isNewline).filter { !$0.contains(":") }
    let first = Data(base64Encoded: lines.joined(), options: .ignoreUnknownCharacters)?.first
    return first == 0x30 || first != nil && body.contains(":")
  }
}
