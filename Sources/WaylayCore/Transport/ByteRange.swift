/// A `Range` field with a single byte range (RFC 9110, section 14.2).
package enum ByteRange: Hashable, Sendable {
  /// `bytes=first-last`
  case span(Int64, Int64)
  /// `bytes=first-`
  case from(Int64)
  /// `bytes=-count`
  case suffix(Int64)
  /// Several ranges, another unit, or a malformed field: a server sends the whole representation (section 14.2).
  case other

  package init(_ field: String) {
    let bytes = Array(field.utf8)
    let unit = bytes.prefix { $0 != UInt8(ascii: "=") }
    let specs = bytes[unit.endIndex...].dropFirst().split(separator: UInt8(ascii: ",")).map(\.trimmingBlanks).filter {
      !$0.isEmpty
    }
    guard String(decoding: unit.trimmingBlanks, as: UTF8.self).lowercased() == "bytes", specs.count == 1,
      let spec = specs.first,
      let dash = spec.firstIndex(of: UInt8(ascii: "-"))
    else {
      self = .other
      return
    }
    let (first, last) = (spec[..<dash].trimmingBlanks, spec[(dash + 1)...].trimmingBlanks)
    switch (Self.number(first), Self.number(last)) {
    case (let start?, let end?): self = start <= end ? .span(start, end) : .other
    case (let start?, nil) where last.isEmpty: self = .from(start)
    case (nil, let count?) where first.isEmpty: self = .suffix(count)
    default: self = .other
    }
  }

  /// Parses digits; a number that overflows counts as the maximum.
  private static func number(_ bytes: ArraySlice<UInt8>) -> Int64? {
    guard !bytes.isEmpty, bytes.allSatisfy(\.isASCIIDigit) else { return nil }
    return Int64(String(decoding: bytes, as: UTF8.self)) ?? .max
  }

  /// The range of bytes in a representation of that length; `nil` if it is empty or unsatisfiable, or for ``other``.
  package func bytes(of length: Int64) -> Range<Int64>? {
    switch self {
    case .span(let first, let last): first < length ? first..<min(last, length - 1) + 1 : nil
    case .from(let first): first < length ? first..<length : nil
    case .suffix(let count): count > 0 && length > 0 ? max(0, length - count)..<length : nil
    case .other: nil
    }
  }

  /// The range of bytes if it does not depend on the length of the representation; `nil` otherwise.
  package var bytes: Range<Int64>? {
    guard case .span(let first, let last) = self, last < .max else { return nil }
    return first..<last + 1
  }
}

/// Media types of common files.
package enum MediaType {
  /// The media type of a file extension; `nil` if unknown.
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
