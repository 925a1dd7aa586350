public import Foundation

/// A JSON value (RFC 8259), as used for an HTTP archive's custom fields.
///
/// ```swift
/// let initiator: JSONValue = ["type": "script", "lineNumber": 12]
/// print(initiator["type"]?.string ?? "")
/// ```
public enum JSONValue: Hashable, Sendable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// An integer.
  case integer(Int64)
  /// Any other number. A value that JSON cannot represent, such as infinity, is written as `null`.
  case number(Double)
  /// A string.
  case string(String)
  /// Values in order.
  case array([JSONValue])
  /// Values by name. They are written sorted by name.
  case object([String: JSONValue])

  /// Parses one value.
  ///
  /// - Throws: The error of Foundation's decoder, which says where the text is invalid. Arrays and objects may be
  ///   nested some hundred levels deep.
  public init(_ text: Data) throws {
    self = try JSONDecoder().decode(JSONValue.self, from: text)
  }

  /// The value with the given name, if this is an object that contains it.
  public subscript(name: String) -> JSONValue? {
    if case .object(let members) = self { members[name] } else { nil }
  }

  /// The string, if this is one.
  public var string: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// The number, if this is one.
  public var double: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .number(let number): number
    default: nil
    }
  }

  /// The number, if this is an integer that an `Int` can hold.
  public var int: Int? {
    switch self {
    case .integer(let number): Int(exactly: number)
    case .number(let number): Int(exactly: number)
    default: nil
    }
  }

  /// The Boolean, if this is one.
  public var bool: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  /// The values, if this is an array.
  public var array: [JSONValue]? {
    if case .array(let values) = self { values } else { nil }
  }

  /// The values by name, if this is an object.
  public var object: [String: JSONValue]? {
    if case .object(let members) = self { members } else { nil }
  }
}

extension JSONValue: Decodable {
  /// Decodes a value from any decoder.
  public init(from decoder: any Decoder) throws {
    // Most values of an archive are texts: they are tried first.
    let single = try decoder.singleValueContainer()
    if let text = try? single.decode(String.self) {
      self = .string(text)
    } else if let container = try? decoder.container(keyedBy: AnyName.self) {
      var members: [String: JSONValue] = [:]
      let names = container.allKeys
      members.reserveCapacity(names.count)
      for name in names { members[name.stringValue] = try container.decode(JSONValue.self, forKey: name) }
      self = .object(members)
    } else if var container = try? decoder.unkeyedContainer() {
      var values: [JSONValue] = []
      while !container.isAtEnd { values.append(try container.decode(JSONValue.self)) }
      self = .array(values)
    } else if single.decodeNil() {
      self = .null
    } else if let value = try? single.decode(Bool.self) {
      self = .bool(value)
    } else if let number = try? single.decode(Int64.self) {
      self = .integer(number)
    } else {
      self = .number(try single.decode(Double.self))
    }
  }

  private struct AnyName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral,
  ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// An integer.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// A number.
  public init(floatLiteral value: Double) { self = .number(value) }
  /// A Boolean.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// `null`.
  public init(nilLiteral: ()) { self = .null }
  /// An array.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// An object; for duplicate names the last value counts.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(Dictionary(elements) { $1 })
  }
}
