#if canImport(FoundationNetworking)
  import Foundation
  import HTTPTypes

  /// The head of a response as libcurl hands it over: line by line, interim responses and trailers included, within
  /// limits.
  struct ResponseHead {
    private(set) var status = 0
    /// The final response's head is there.
    private(set) var isComplete = false
    private let limits: MessageLimits
    private var head = FieldSection()
    private var end = FieldSection()
    private var interimCount = 0
    private var interimBytes = 0

    init(limits: MessageLimits = MessageLimits()) {
      self.limits = limits
    }

    /// Bytes of heads that have come.
    var bytesReceived: Int { interimBytes + head.bytes }
    var fields: HTTPFields { head.fields }
    var trailers: HTTPFields { end.fields }

    /// Takes the next line, with its end.
    ///
    /// - Throws: An error that names the limit that the response is over.
    mutating func add(_ bytes: UnsafeRawBufferPointer) throws(TransportError) {
      var line = bytes[...]
      while let last = line.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { line = line.dropLast() }
      if isComplete {
        try end.add(line, of: bytes.count, limits, "the trailer section of the response")
      } else if line.starts(with: "HTTP/".utf8) {
        // An interim response, such as 103, is followed by another head.
        if status != 0 { try leaveInterim() }
        head = FieldSection(bytes: bytes.count)
        let code = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: true).dropFirst()
          .first
        status = code.flatMap { Int(String(decoding: $0, as: UTF8.self)) }.map { min(max($0, 0), 999) } ?? 0
      } else if line.isEmpty {
        isComplete = status >= 200 || status == 101
      } else {
        try head.add(line, of: bytes.count, limits, "the head of the response")
      }
    }

    private mutating func leaveInterim() throws(TransportError) {
      interimCount += 1
      interimBytes += head.bytes
      guard interimCount <= limits.interimResponseCount else {
        throw limits.excess(.interimResponseCount, of: "the response")
      }
      guard interimBytes <= limits.fieldBytes else {
        throw limits.excess(.fieldBytes, of: "the head of the interim responses")
      }
    }

    /// Whether a response to that method has no body whatever it says (RFC 9110, section 6.4.1).
    func hasNoBody(for method: HTTPRequest.Method) -> Bool {
      method == .head || status == 204 || status == 304 || length == 0
    }

    /// Codings that libcurl may be able to undo; whether it can, its features say.
    private static let codings: [String: Int32] = ["gzip": 3, "x-gzip": 3, "deflate": 3, "br": 23, "zstd": 26]

    /// Whether the body is coded in a way that this libcurl, which has `features`, does not know: it fails such a body
    /// rather than leave it alone.
    func hasUnknownCoding(features: Int32) -> Bool {
      fields[values: .contentEncoding].flatMap { $0.split(separator: ",") }.contains { coding in
        let name = coding.trimmingCharacters(in: .whitespaces).lowercased()
        guard !name.isEmpty, name != "identity" else { return false }
        return Self.codings[name].map { features & (1 << $0) == 0 } ?? true
      }
    }

    /// The number of bytes of the body as it is read: unknown where libcurl decodes it, and where the response
    /// contradicts itself.
    var length: Int64? {
      // Where both are there, the coding counts (RFC 9112, section 6.3).
      guard fields[.contentEncoding] == nil, fields[.transferEncoding] == nil else { return nil }
      let lengths = fields[values: .contentLength]
      guard let first = lengths.first, lengths.allSatisfy({ $0 == first }) else { return nil }
      return Int64(decimal: first)
    }
  }
#endif
