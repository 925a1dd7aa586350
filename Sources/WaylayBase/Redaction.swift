extension String {
  /// The replacement of a value that is not shown.
  package static let redacted = "REDACTED"

  /// The text with every URL in it as ``Foundation/URL/redacted``, and without the values of anything else like a query
  /// or a parameter in a path, for messages of libraries and other transports.
  package var withRedactedURLs: String { URLRedactor.redacted(self, isURL: false) }

  /// The text of a URL as ``Foundation/URL/redacted``.
  package var redactedURL: String { URLRedactor.redacted(self, isURL: true) }
}

extension URL {
  /// The URL as logs, traces and messages may show it: no user info, no values of the query and of parameters in the
  /// path (`;jsessionid=`), no credentials that the path shows by their shape, no fragment.
  package var redacted: String { absoluteString.redactedURL }

  /// The URL without user name and password.
  package var withoutUserInfo: URL {
    guard user != nil || password != nil, var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else {
      return self
    }
    (parts.user, parts.password) = (nil, nil)
    return parts.url ?? self
  }
}

/// Redacts a URL, or a text with URLs, in one pass over the bytes.
private struct URLRedactor {
  private enum Section {
    case query
    case parameter
  }

  private let bytes: UnsafeBufferPointer<UInt8>
  /// Whether all is one URL. In a text, white space, quotes and angle brackets end it.
  private let isURL: Bool
  private var text: [UInt8] = []
  private var section: Section?
  /// Where the name of an item begins in the text.
  private var name: Int?
  /// Whether the value of an item is passed over.
  private var isHidden = false
  private var hasFragment: Bool

  private init(_ bytes: UnsafeBufferPointer<UInt8>, isURL: Bool) {
    (self.bytes, self.isURL, hasFragment) = (bytes, isURL, isURL)
    text.reserveCapacity(bytes.count + 16)
  }

  static func redacted(_ text: String, isURL: Bool) -> String {
    var text = text
    return text.withUTF8 { bytes in
      var redactor = URLRedactor(bytes, isURL: isURL)
      redactor.run()
      return String(decoding: redactor.text, as: UTF8.self)
    }
  }

  private mutating func run() {
    var index = isURL && bytes.starts(with: "//".utf8) ? endOfUserInfo(from: 0) : 0
    while index < bytes.count {
      let (byte, next) = decoded(at: index)
      switch byte {
      case _ where isEnd(byte):
        endItem(in: nil)
        hasFragment = isURL
      case UInt8(ascii: "#") where next > index + 1 && !isHidden: endItem(in: .parameter)
      case UInt8(ascii: "#") where next == index + 1 && hasFragment:
        endItem(in: nil)
        index = bytes[index...].firstIndex(where: isEnd) ?? bytes.count
        continue
      case UInt8(ascii: "/") where section == .parameter: endItem(in: nil)
      case UInt8(ascii: "?") where section != .query || !isHidden: endItem(in: .query)
      case UInt8(ascii: ";") where section != .query || !isHidden: endItem(in: section ?? .parameter)
      case UInt8(ascii: "&"): endItem(in: section)
      case _ where isHidden:
        index = next
        continue
      case UInt8(ascii: "=") where section != nil:
        text += bytes[index..<next]
        text += String.redacted.utf8
        (name, isHidden, index) = (nil, true, next)
        continue
      case UInt8(ascii: ":") where endOfSlashes(from: next) != nil:
        text += bytes[index..<next]
        index = endOfUserInfo(from: next)
        continue
      default:
        if CredentialShapes.mayBegin(in: bytes, at: index), let end = CredentialShapes.end(in: bytes, at: index) {
          text += String.redacted.utf8
          index = end
          continue
        }
      }
      text += bytes[index..<next]
      if section != nil, name == nil { name = text.count }
      index = next
    }
    endItem(in: nil)
  }

  /// A byte, and the index after it. An encoded colon counts and, outside of a query, an encoded separator of items.
  private func decoded(at index: Int) -> (UInt8, Int) {
    let (byte, next) = plain(at: index)
    let counts = byte == UInt8(ascii: ":") || section != .query && "&;=?#".utf8.contains(byte)
    return counts ? (byte, next) : (bytes[index], index + 1)
  }

  /// A byte without its percent-encoding, and the index after it.
  private func plain(at index: Int) -> (UInt8, Int) {
    guard bytes[index] == UInt8(ascii: "%"), let (text, length) = Escapes.escape(Array(bytes[index...].prefix(3)))
    else {
      return (bytes[index], index + 1)
    }
    return (text[0], index + length)
  }

  private func isEnd(_ byte: UInt8) -> Bool {
    !isURL && (byte == 0x20 || 0x09...0x0D ~= byte || "\"'<>`".utf8.contains(byte))
  }

  /// Begins another section. The name of an item without a value may be a secret itself.
  private mutating func endItem(in next: Section?) {
    if section == .query, let name, text.count > name {
      text.removeSubrange(name...)
      text += String.redacted.utf8
    }
    (section, name, isHidden) = (next, nil, false)
  }

  /// The index after slashes, which may be encoded; `nil` if there are none. Of an authority, clients take any number
  /// (WHATWG URL, section 4.4).
  private func endOfSlashes(from index: Int) -> Int? {
    var end = index
    while end < bytes.count, case (UInt8(ascii: "/"), let next) = plain(at: end) { end = next }
    return end > index ? end : nil
  }

  /// Passes over the user info after slashes. If they are encoded, all of the URL is.
  private mutating func endOfUserInfo(from slashes: Int) -> Int {
    let start = endOfSlashes(from: slashes) ?? slashes
    let isEncoded = bytes[start - 1] != UInt8(ascii: "/")
    text += bytes[slashes..<start]
    hasFragment = true
    var (index, end) = (start, start)
    while index < bytes.count, !isEnd(bytes[index]) {
      let (byte, next) = plain(at: index)
      if "/?#".utf8.contains(byte), isEncoded || next == index + 1 { break }
      if byte == UInt8(ascii: "@") { end = next }
      index = next
    }
    return end
  }
}
