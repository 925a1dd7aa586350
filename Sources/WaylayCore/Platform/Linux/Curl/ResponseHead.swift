#if canImport(FoundationNetworking)
  import Foundation
  import HTTPTypes

  /// The head of a response as libcurl hands it over: line by line, interim responses and trailers included.
  struct ResponseHead {
    private(set) var status = 0
    private(set) var fields = HTTPFields()
    private(set) var trailers = HTTPFields()
    /// The final response's head is there.
    private(set) var isComplete = false

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
      var line = bytes[...]
      while let last = line.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { line = line.dropLast() }
      if isComplete { return addTrailer(line) }
      if line.starts(with: "HTTP/".utf8) {
        // An interim response, such as 103, is followed by another head.
        fields = HTTPFields()
        let code = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: true).dropFirst().first
        status = code.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
      } else if line.isEmpty {
        isComplete = status >= 200 || status == 101
      } else if let field = Self.field(line) {
        fields.append(field)
      } else if let first = line.first, first == UInt8(ascii: " ") || first == UInt8(ascii: "\t"), !fields.isEmpty {
        unfold(line)
      }
    }

    private mutating func addTrailer(_ line: Slice<UnsafeRawBufferPointer>) {
      if let field = Self.field(line) { trailers.append(field) }
    }

    /// A field that goes on in the next line (RFC 9112, section 5.2).
    private mutating func unfold(_ line: Slice<UnsafeRawBufferPointer>) {
      let more = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespaces)
      var last = fields[fields.endIndex - 1]
      last.value += " " + more
      fields[fields.endIndex - 1] = last
    }

    private static func field(_ line: Slice<UnsafeRawBufferPointer>) -> HTTPField? {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
      let name = trimmed(line[..<colon])
      guard let fieldName = HTTPField.Name(String(decoding: name, as: UTF8.self)) else { return nil }
      let value = trimmed(line[line.index(after: colon)...])
      // Bytes that are not UTF-8 are taken for ISO 8859-1, as fields once were (RFC 9110, section 5.5).
      let text = String(validating: value, as: UTF8.self) ?? String(String.UnicodeScalarView(value.map { Unicode.Scalar($0) }))
      return HTTPField(name: fieldName, value: text)
    }

    private static func trimmed(_ text: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
      func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
      var text = text.drop(while: isBlank)
      while let last = text.last, isBlank(last) { text = text.dropLast() }
      return text
    }

    /// Whether a response to that method has no body whatever it says (RFC 9110, section 6.4.1).
    func hasNoBody(for method: String) -> Bool {
      method == "HEAD" || status == 204 || status == 304 || length == 0
    }

    /// Codings that libcurl may be able to undo; whether it can, its features say.
    private static let codings: [String: Int32] = ["gzip": 3, "x-gzip": 3, "deflate": 3, "br": 23, "zstd": 26]

    /// Whether the body is coded in a way that this libcurl, which has `features`, does not know: it fails such a body rather than leave it alone.
    func hasUnknownCoding(features: Int32) -> Bool {
      fields[values: .contentEncoding].flatMap { $0.split(separator: ",") }.contains { coding in
        let name = coding.trimmingCharacters(in: .whitespaces).lowercased()
        guard !name.isEmpty, name != "identity" else { return false }
        return Self.codings[name].map { features & (1 << $0) == 0 } ?? true
      }
    }

    /// The number of bytes of the body as it is read: unknown where libcurl decodes it.
    var length: Int64? {
      // Where both are there, the coding counts (RFC 9112, section 6.3).
      guard fields[.contentEncoding] == nil, fields[.transferEncoding] == nil else { return nil }
      return fields[values: .contentLength].first.flatMap { Int64($0) }
    }
  }
#endif
