extension URLPattern {
  /// Parses a pattern in which every character stands for itself, as most do: an origin and a path, or a path alone.
  /// Byte by byte, because suites make stubs by the thousand.
  ///
  /// - Returns: Whether it was one. If not, nothing has changed.
  mutating func parsePlain(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      var position = 0
      var scheme: String?
      var host: HostPattern?
      if bytes.first != UInt8(ascii: "/") {
        for name in ["https", "http"] where scheme == nil && bytes.starts(with: "\(name)://".utf8) { scheme = name }
        guard let scheme else { return false }
        position = scheme.utf8.count + 3
        let end = bytes[position...].firstIndex(of: UInt8(ascii: "/")) ?? bytes.endIndex
        let name = bytes[position..<end]
        guard name.allSatisfy(Self.isPlainInHost), let pattern = try? HostPattern(String(decoding: name, as: UTF8.self))
        else {
          return false
        }
        host = pattern
        position = end
      }
      let path = bytes[position...].dropFirst()
      guard path.allSatisfy({ $0 == UInt8(ascii: "/") || Self.isPlainInPath($0) }) else { return false }
      if let host {
        self.scheme = scheme
        self.host = .pattern(host)
        port = .schemeDefault
      }
      let segments = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      self.path = PathPattern(literally: segments.map { String(decoding: $0, as: UTF8.self) })
      return true
    }
  }

  private static func isPlainInHost(_ byte: UInt8) -> Bool {
    byte >= 0x61 && byte <= 0x7A || byte >= 0x30 && byte <= 0x39 || byte == UInt8(ascii: ".")
      || byte == UInt8(ascii: "-")
  }

  private static func isPlainInPath(_ byte: UInt8) -> Bool {
    isPlainInHost(byte) || byte >= 0x41 && byte <= 0x5A || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "~")
  }
}
