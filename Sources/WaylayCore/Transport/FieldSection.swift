import Foundation
import HTTPTypes

/// The fields of a head or behind a body, line by line, as far as the limits allow.
struct FieldSection {
  /// Bytes that came, line ends included.
  private(set) var bytes: Int
  private var lines = 0
  private var list = HTTPFields()
  /// The value of the last field with the lines that it goes on in, where it goes on: kept apart, so that each line
  /// costs itself alone.
  private var folded: String?

  init(bytes: Int = 0) {
    self.bytes = bytes
  }

  /// The fields that came; what cannot be read as one is left out.
  var fields: HTTPFields {
    guard let folded, !list.isEmpty else { return list }
    var fields = list
    fields[fields.endIndex - 1].value = folded
    return fields
  }

  /// Takes a line without its end; `size` says how long it is with it.
  ///
  /// - Throws: An error that names the limit that `what` is over.
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

  /// A field that goes on in the next line (RFC 9112, section 5.2).
  private mutating func unfold(_ line: Slice<UnsafeRawBufferPointer>) {
    guard let last = list.last else { return }
    folded = (folded.take() ?? last.value) + (" " + Self.text(Self.trimmed(line)))
  }

  private mutating func closeFold() {
    guard let folded = folded.take() else { return }
    list[list.endIndex - 1].value = folded
  }

  private static func field(_ line: Slice<UnsafeRawBufferPointer>) -> HTTPField? {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let name = trimmed(line[..<colon])
    guard let fieldName = HTTPField.Name(String(decoding: name, as: UTF8.self)) else { return nil }
    return HTTPField(name: fieldName, value: text(trimmed(line[line.index(after: colon)...])))
  }

  /// Bytes that are not UTF-8 are taken for ISO 8859-1, as fields once were (RFC 9110, section 5.5).
  private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
    // `String(validating:as:)` needs macOS 15 and iOS 18; repaired text is never the same bytes.
    let text = String(decoding: bytes, as: UTF8.self)
    return text.utf8.elementsEqual(bytes) ? text : String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }

  private static func trimmed(_ text: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
    var text = text.drop(while: \.isBlank)
    while let last = text.last, last.isBlank { text = text.dropLast() }
    return text
  }
}
