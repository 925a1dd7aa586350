import Foundation
package import HTTPTypes

extension HTTPFields {
  /// Makes the header fields of a loading system's response, in which repeated fields are joined.
  ///
  /// Sorted by name, because the original order is lost. `Set-Cookie`, the one field that must not be joined (RFC 9110,
  /// section 5.3), is split again.
  ///
  /// - Throws: An error that names the exceeded limit.
  package init(_ response: HTTPURLResponse, limits: MessageLimits = MessageLimits()) throws(TransportError) {
    self.init()
    let fields = response.allHeaderFields.compactMap { name, value -> (String, String)? in
      (name as? String).map { ($0, value as? String ?? "\(value)") }
    }
    var bytes = 0
    for (rawName, value) in fields.sorted(by: { $0.0 < $1.0 }) {
      guard let name = HTTPField.Name(rawName) else { continue }
      bytes += rawName.utf8.count + value.utf8.count + 4
      for part in name == .setCookie ? Self.cookies(in: value) : [value] {
        try limits.check(count: count + 1, bytes: bytes, of: "the head of the response")
        append(HTTPField(name: name, value: part))
      }
    }
  }

  /// The fields by name; repeated ones are joined by `", "`, cookies of a request by `"; "`. The first spelling of a
  /// name is kept.
  var joinedByName: [String: String] {
    var values = [HTTPField.Name: String](minimumCapacity: count)
    for field in self {
      // In place, which keeps the first spelling and takes linear time.
      if values[field.name]?.append(field.name.separator + field.value) == nil { values[field.name] = field.value }
    }
    return Dictionary(uniqueKeysWithValues: values.map { ($0.rawName, $1) })
  }

  /// Splits joined `Set-Cookie` values: a comma begins a new cookie if a name and `=` follow it, which is never the
  /// case in a date.
  package static func cookies(in joined: String) -> [String] {
    var parts: [Substring] = []
    var start = joined.startIndex
    var position = joined.startIndex
    while let comma = joined[position...].firstIndex(of: ",") {
      let after = joined.index(after: comma)
      position = after
      let rest = joined[after...].drop { $0 == " " }
      let name = rest.prefix { !"=;, \t\"".contains($0) }
      guard !name.isEmpty, rest[name.endIndex...].first == "=" else { continue }
      parts.append(joined[start..<comma])
      start = rest.startIndex
    }
    parts.append(joined[start...])
    return parts.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }
}

extension HTTPField.Name {
  /// The separator between joined values of a repeated field (RFC 9110, section 5.3; RFC 6265, section 5.4).
  fileprivate var separator: String { self == .cookie ? "; " : ", " }
}

/// The header or trailer fields of a message, parsed line by line, within the limits.
struct FieldSection {
  /// The number of bytes read, including line ends.
  private(set) var bytes: Int
  private var lines = 0
  private var list = HTTPFields()
  /// The value of the last field if continuation lines extend it: kept separately, so that appending a line takes time
  /// proportional to that line.
  private var folded: String?

  init(bytes: Int = 0) {
    self.bytes = bytes
  }

  /// The parsed fields; malformed lines are ignored.
  var fields: HTTPFields {
    guard let folded, !list.isEmpty else { return list }
    var fields = list
    fields[fields.endIndex - 1].value = folded
    return fields
  }

  /// Parses a line without its end; `size` includes the end.
  ///
  /// - Throws: An error that names the limit that `what` exceeds.
  mutating func add(
    _ line: Slice<UnsafeRawBufferPointer>, of size: Int, _ limits: MessageLimits, _ what: String
  ) throws(TransportError) {
    lines += 1
    bytes += size
    try limits.check(count: lines, bytes: bytes, of: what)
    if let first = line.first, first.isBlank { return unfold(line) }
    closeFold()
    if let field = Self.field(line) { list.append(field) }
  }

  /// Appends a continuation line to the last field (RFC 9112, section 5.2).
  private mutating func unfold(_ line: Slice<UnsafeRawBufferPointer>) {
    guard let last = list.last else { return }
    folded = (folded.take() ?? last.value) + (" " + Self.text(line.trimmingBlanks))
  }

  private mutating func closeFold() {
    guard let folded = folded.take() else { return }
    list[list.endIndex - 1].value = folded
  }

  private static func field(_ line: Slice<UnsafeRawBufferPointer>) -> HTTPField? {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let name = line[..<colon].trimmingBlanks
    guard let fieldName = HTTPField.Name(String(decoding: name, as: UTF8.self)) else { return nil }
    return HTTPField(name: fieldName, value: text(line[line.index(after: colon)...].trimmingBlanks))
  }

  /// Decodes bytes that are not UTF-8 as ISO 8859-1, the historical encoding of fields (RFC 9110, section 5.5).
  private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
    // `String(validating:as:)` needs macOS 15 and iOS 18. This initializer repairs invalid text, which then differs
    // from the bytes.
    let text = String(decoding: bytes, as: UTF8.self)
    return text.utf8.elementsEqual(bytes) ? text : String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }
}
