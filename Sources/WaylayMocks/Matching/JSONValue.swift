/// A JSON value (RFC 8259), written as Swift literals.
///
/// ```swift
/// let order: JSONValue = ["id": 42, "items": ["book", "pen"], "paid": true, "note": nil]
/// Stub(.post, "/orders") { .status(201) }.body(.json(["id": 42]))
/// ```
///
/// Values compare as JSON: the order of members does not matter, and `1`, `1.0` and `1e0` are the same number.
public struct JSONValue: Sendable, Equatable {
  package let node: JSONNode

  package init(_ node: JSONNode) {
    self.node = node
  }

  init(_ value: JSONNode.Value) {
    node = JSONNode(value)
  }

  /// Parses JSON.
  ///
  /// - Throws: ``MockError/Code/invalidJSON`` with the line and the column where it stops being valid JSON.
  public init(parsing data: Data) throws(MockError) {
    do { node = try JSONNode(parsing: data) } catch {
      throw MockError(.invalidJSON, "this is not JSON: \(error.redacted)", underlying: error)
    }
  }

  /// Parses JSON.
  ///
  /// - Throws: ``MockError/Code/invalidJSON`` with the line and the column where it stops being valid JSON.
  public init(parsing text: String) throws(MockError) {
    try self.init(parsing: Data(text.utf8))
  }

  /// Encodes a value as JSON.
  ///
  /// - Throws: ``MockError/Code/invalidJSON`` for a value that cannot be encoded, such as a non-finite number.
  public init(encoding value: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws(MockError) {
    do { node = try JSONNode(parsing: encoder.encode(value)) } catch {
      throw MockError(
        .invalidJSON, "\(type(of: value)) cannot be encoded as JSON: \(error.redacted)", underlying: error)
    }
  }
}

extension JSONValue: CustomStringConvertible {
  /// The value as compact JSON.
  public var description: String { node.text }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral,
  ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// `null`.
  public init(nilLiteral: ()) { self.init(.null) }
  /// `true` or `false`.
  public init(booleanLiteral value: Bool) { self.init(.bool(value)) }
  /// An integer.
  public init(integerLiteral value: Int64) { self.init(.number("\(value)")) }
  /// A number.
  public init(floatLiteral value: Double) { self.init(.number("\(value)")) }
  /// A string.
  public init(stringLiteral value: String) { self.init(.string(value)) }
  /// An array.
  public init(arrayLiteral elements: JSONValue...) { self.init(.array(elements.map(\.node))) }
  /// Members by name; for duplicate names the last one counts.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self.init(.object(elements.map { JSONNode.Member(name: $0.0, node: $0.1.node) }))
  }
}

extension JSONValue: Encodable {
  /// Encodes the value.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch node.value {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .number(let digits):
      if let whole = Int64(digits) {
        try container.encode(whole)
      } else if let decimal = Decimal(string: digits) {
        try container.encode(decimal)
      } else {
        try container.encode(Double(digits))
      }
    case .string(let value): try container.encode(value)
    case .array(let values): try container.encode(values.map { JSONValue($0) })
    case .object(let members):
      try container.encode(Dictionary(members.map { ($0.name, JSONValue($0.node)) }, uniquingKeysWith: { $1 }))
    }
  }
}
