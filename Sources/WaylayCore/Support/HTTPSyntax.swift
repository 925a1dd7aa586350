import Foundation

extension Substring {
  /// The text without the spaces and tabs round it.
  var trimmingBlanks: Substring {
    guard let first = utf8.firstIndex(where: { !$0.isBlank }), let last = utf8.lastIndex(where: { !$0.isBlank }) else {
      return ""
    }
    return self[first..<utf8.index(after: last)]
  }
}

extension UInt8 {
  /// A space or a tab.
  var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

  private var isAlphanumeric: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }

  /// RFC 9110, section 5.6.2.
  var isToken: Bool { isAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(self) }

  /// RFC 3986, section 3.1.
  var isScheme: Bool { isAlphanumeric || "+-.".utf8.contains(self) }

  /// RFC 9110, section 11.2, without the padding.
  var isToken68: Bool { isAlphanumeric || "-._~+/".utf8.contains(self) }
}

extension String {
  /// Whether it is the name of a field or of a method (RFC 9110, section 5.6.2).
  var isToken: Bool { !isEmpty && utf8.allSatisfy(\.isToken) }
}

extension Int64 {
  /// The number that decimal digits alone make; `nil` for a sign, a blank, an empty text, and a number that is too
  /// large.
  package init?(decimal text: String) {
    guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
    self.init(text)
  }
}

extension String {
  /// The text as a quoted string of a header field (RFC 9110, section 5.6.4).
  ///
  /// Scalar by scalar: a quote that a combining mark follows is another character, and ends the string all the same.
  package var quotedString: String {
    var quoted = "\""
    for scalar in unicodeScalars {
      if scalar == "\"" || scalar == "\\" { quoted += "\\" }
      quoted.unicodeScalars.append(scalar)
    }
    return quoted + "\""
  }
}

/// The media types of the usual files.
package enum MediaType {
  /// The type of files with that extension; `nil` for one that is not known.
  package static func of(pathExtension: String) -> String? { types[pathExtension.lowercased()] }

  private static let types = [
    "css": "text/css; charset=utf-8", "csv": "text/csv; charset=utf-8", "gif": "image/gif",
    "htm": "text/html; charset=utf-8",
    "html": "text/html; charset=utf-8", "jpeg": "image/jpeg", "jpg": "image/jpeg",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json", "md": "text/markdown; charset=utf-8", "mov": "video/quicktime", "mp3": "audio/mpeg",
    "mp4": "video/mp4", "pdf": "application/pdf", "png": "image/png", "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
    "webp": "image/webp", "woff2": "font/woff2", "xml": "application/xml", "zip": "application/zip",
  ]
}

/// A `Range` field (RFC 9110, section 14.2), as far as one range of bytes.
package enum ByteRange: Hashable, Sendable {
  /// `bytes=first-last`
  case span(Int64, Int64)
  /// `bytes=first-`
  case from(Int64)
  /// `bytes=-count`
  case suffix(Int64)
  /// Several ranges, another unit, or something that cannot be read: a server answers with the whole (section 14.2).
  case other

  package init(_ field: String) {
    let bytes = Array(field.utf8)
    let unit = bytes.prefix { $0 != UInt8(ascii: "=") }
    let specs = bytes[unit.endIndex...].dropFirst().split(separator: UInt8(ascii: ",")).map(Self.trimmed).filter {
      !$0.isEmpty
    }
    guard String(decoding: Self.trimmed(unit), as: UTF8.self).lowercased() == "bytes", specs.count == 1,
      let spec = specs.first,
      let dash = spec.firstIndex(of: UInt8(ascii: "-"))
    else {
      self = .other
      return
    }
    let (first, last) = (Self.trimmed(spec[..<dash]), Self.trimmed(spec[(dash + 1)...]))
    switch (Self.number(first), Self.number(last)) {
    case (let start?, let end?): self = start <= end ? .span(start, end) : .other
    case (let start?, nil) where last.isEmpty: self = .from(start)
    case (nil, let count?) where first.isEmpty: self = .suffix(count)
    default: self = .other
    }
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var bytes = bytes
    while let last = bytes.last, last.isBlank { bytes.removeLast() }
    return bytes.drop(while: \.isBlank)
  }

  /// Digits; more than fit count as the largest number there is.
  private static func number(_ bytes: ArraySlice<UInt8>) -> Int64? {
    guard !bytes.isEmpty, bytes.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
    return Int64(String(decoding: bytes, as: UTF8.self)) ?? .max
  }

  /// The bytes meant in a representation of that length; `nil` when there is none of them, ``other`` included.
  package func bytes(of length: Int64) -> Range<Int64>? {
    switch self {
    case .span(let first, let last): first < length ? first..<min(last, length - 1) + 1 : nil
    case .from(let first): first < length ? first..<length : nil
    case .suffix(let count): count > 0 && length > 0 ? max(0, length - count)..<length : nil
    case .other: nil
    }
  }

  /// The bytes meant, where the length of the representation is not known; `nil` where they depend on it.
  package var bytes: Range<Int64>? {
    guard case .span(let first, let last) = self, last < .max else { return nil }
    return first..<last + 1
  }
}

extension FixedWidthInteger {
  /// The sum, or the number nearest to it that there is.
  package func saturating(adding other: Self) -> Self {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? (other < 0 ? .min : .max) : sum
  }

  /// The difference, or the number nearest to it that there is.
  package func saturating(subtracting other: Self) -> Self {
    let (difference, overflows) = subtractingReportingOverflow(other)
    return overflows ? (other < 0 ? .max : .min) : difference
  }
}

extension URL {
  /// Whether two URLs have one origin (RFC 6454): scheme, host and port.
  package func hasSameOrigin(as other: URL) -> Bool {
    scheme?.lowercased() == other.scheme?.lowercased() && host?.lowercased() == other.host?.lowercased()
      && portOrDefault == other.portOrDefault
  }

  /// The port, or the one that a URL of its scheme has when it names none.
  package var portOrDefault: Int? { port ?? Self.defaultPort(of: scheme?.lowercased()) }

  /// The port of a URL that names none; `scheme` is in lower case.
  static func defaultPort(of scheme: String?) -> Int? {
    switch scheme {
    case "http": 80
    case "https": 443
    default: nil
    }
  }
}
