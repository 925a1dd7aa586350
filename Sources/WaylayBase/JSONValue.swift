/// A JSON value (RFC 8259): the members of an object keep their order, and numbers their digits.
///
/// ```swift
/// let order: JSONValue = ["id": 42, "items": ["book", "pen"], "paid": true, "note": nil]
/// let reply = try JSONValue(parsing: data)
/// print(reply["user"]?["name"]?.string ?? "")
/// ```
///
/// In a literal of this type, a variable is written `.init(id)`: `["id": .init(id), "tags": []]`. Functions that take
/// a ``JSONLiteral`` take variables as they are.
///
/// Values compare as JSON: the order of members does not matter, and `1`, `1.0` and `1e0` are the same number. To read
/// JSON into types of your own, use `JSONDecoder`.
public struct JSONValue: Sendable {
  /// The kind of a value, with its content.
  package indirect enum Kind: Sendable {
    case null
    case bool(Bool)
    /// The digits as they were written.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([Member])
  }

  /// A name and its value.
  package struct Member: Sendable {
    package let name: String
    package var value: JSONValue

    package init(name: String, value: JSONValue) {
      self.name = name
      self.value = value
    }

    package func hasName(of other: Member) -> Bool { name.utf8.elementsEqual(other.name.utf8) }
  }

  package let kind: Kind

  package init(_ kind: Kind) {
    self.kind = kind
  }

  /// Makes a value of a variable.
  public init(_ value: some JSONConvertible) {
    self = value.jsonValue
  }

  /// Makes an object of members in their order.
  public init(_ members: KeyValuePairs<String, some JSONConvertible>) {
    self.init(.object(members.map { Member(name: $0.key, value: $0.value.jsonValue) }))
  }

  /// Encodes a value as JSON.
  ///
  /// - Throws: The encoder's error, for example for a non-finite number.
  public init(encoding value: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws {
    try self.init(reading: encoder.encode(value))
  }
}

// MARK: Parts

extension JSONValue {
  /// The value with the given name, if this is an object that contains it. Of several with one name, the last counts.
  public subscript(name: String) -> JSONValue? {
    guard case .object(let members) = kind else { return nil }
    return members.last { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }

  /// The value at the given position, if this is an array that has it.
  public subscript(index: Int) -> JSONValue? {
    guard case .array(let values) = kind, values.indices.contains(index) else { return nil }
    return values[index]
  }

  /// The string, if this is one.
  public var string: String? { if case .string(let text) = kind { text } else { nil } }

  /// The number, if this is one, as near as a `Double` comes.
  public var double: Double? { if case .number(let digits) = kind { Double(digits) } else { nil } }

  /// The number, if this is an integer that an `Int` can hold.
  public var int: Int? {
    guard case .number(let digits) = kind else { return nil }
    return Int(digits) ?? Double(digits).flatMap { Int(exactly: $0) }
  }

  /// The Boolean, if this is one.
  public var bool: Bool? { if case .bool(let value) = kind { value } else { nil } }

  /// The values, if this is an array.
  public var array: [JSONValue]? { if case .array(let values) = kind { values } else { nil } }

  /// The values by name, if this is an object. Of several with one name, the last counts.
  public var object: [String: JSONValue]? {
    members.map { Dictionary($0.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 }) }
  }

  /// Whether this is `null`.
  public var isNull: Bool { if case .null = kind { true } else { false } }

  /// The members of an object, in their order.
  package var members: [Member]? { if case .object(let members) = kind { members } else { nil } }
}

extension JSONValue: CustomStringConvertible {
  /// The value as JSON without spaces.
  public var description: String {
    var writer = JSONWriter(escapesMarkup: false)
    writer.value(self)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

// MARK: Comparing

extension JSONValue: Hashable {
  // Neither function is recursive: even the maximum nesting depth must fit on any thread's stack.

  /// Whether two values are the same JSON: numbers by value, objects in any order.
  public static func == (one: JSONValue, other: JSONValue) -> Bool {
    var pairs = [(one, other)]
    while let (one, other) = pairs.popLast() {
      switch (one.kind, other.kind) {
      case (.null, .null): continue
      case (.bool(let one), .bool(let other)) where one == other: continue
      case (.number(let one), .number(let other)) where one == other || JSONNumber(one) == JSONNumber(other): continue
      case (.string(let one), .string(let other)) where one.utf8.elementsEqual(other.utf8): continue
      case (.array(let one), .array(let other)) where one.count == other.count: pairs += zip(one, other)
      case (.object, .object):
        guard let one = one.byName, let other = other.byName, one.count == other.count else { return false }
        for (name, value) in one {
          guard let twin = other[name] else { return false }
          pairs.append((value, twin))
        }
      default: return false
      }
    }
    return true
  }

  /// Hashes the parts that `==` compares.
  public func hash(into hasher: inout Hasher) {
    var values = [self]
    while let value = values.popLast() {
      switch value.kind {
      case .null: hasher.combine(0)
      case .bool(let value): hasher.combine(value)
      case .number(let digits): hasher.combine(JSONNumber(digits))
      case .string(let text): hasher.combine(text)
      case .array(let elements):
        hasher.combine(elements.count)
        values += elements
      case .object:
        let members = (value.byName ?? [:]).sorted { $0.key.lexicographicallyPrecedes($1.key) }
        hasher.combine(members.map(\.key))
        values += members.map(\.value)
      }
    }
  }

  /// The values of an object by the UTF-8 of their names: unlike in comparisons of strings, `é` differs from `e` with a
  /// combining accent. Of several with one name, the last counts.
  package var byName: [[UInt8]: JSONValue]? {
    members.map { Dictionary($0.map { (Array($0.name.utf8), $0.value) }, uniquingKeysWith: { $1 }) }
  }
}

/// A number by value: 1, 1.0 and 10e-1 are one.
private struct JSONNumber: Hashable {
  private let isNegative: Bool
  private let digits: String
  private let exponent: Int

  init(_ text: String) {
    let parts = text.split { $0 == "e" || $0 == "E" }
    let mantissa = (parts.first ?? "").drop { $0 == "-" }
    var exponent = 0
    if parts.count > 1 {
      // Beyond half the range of Int, different exponents compare as equal.
      exponent = min(max(Int(parts[1]) ?? (parts[1].hasPrefix("-") ? .min : .max), .min / 2), .max / 2)
    }
    exponent -= mantissa.drop { $0 != "." }.dropFirst().utf8.count
    var digits = mantissa.filter { $0 != "." }.drop { $0 == "0" }
    while digits.last == "0" {
      digits.removeLast()
      exponent += 1
    }
    isNegative = text.hasPrefix("-") && !digits.isEmpty
    self.exponent = digits.isEmpty ? 0 : exponent
    self.digits = String(digits)
  }
}

// MARK: Codable

extension JSONValue: Codable {
  /// Decodes a value from any decoder. The order of members and the digits of numbers are as the decoder has them:
  /// ``init(parsing:)-(Data)`` keeps both.
  public init(from decoder: any Decoder) throws {
    let single = try decoder.singleValueContainer()
    func decoded<Value: Decodable & JSONConvertible>(_: Value.Type) -> JSONValue? {
      (try? single.decode(Value.self))?.jsonValue
    }
    let known =
      decoded(String.self) ?? decoded([String: JSONValue].self) ?? decoded([JSONValue].self)
      ?? (single.decodeNil() ? Optional(JSONValue(.null)) : Optional.none) ?? decoded(Bool.self) ?? decoded(Int64.self)
    self = try known ?? single.decode(Double.self).jsonValue
  }

  /// Encodes the value.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch kind {
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
    case .array(let values): try container.encode(values)
    case .object: try container.encode(object)
    }
  }
}

/// A type whose values can stand in JSON: strings, numbers, Booleans, and optionals, arrays and dictionaries of them.
///
/// ```swift
/// Stub(.get, "/users/:id", .json(["id": id, "name": name]))
/// ```
///
/// A type of your own adopts it with one property. Do not adopt it for an `Encodable` type: functions that take JSON
/// take its values directly.
public protocol JSONConvertible: Sendable {
  /// The value as JSON.
  var jsonValue: JSONValue { get }
}

/// A JSON object or array as a literal whose elements are variables.
///
/// ```swift
/// func stub(id: Int, name: String?) -> Stub {
///   Stub(.get, "/users/:id", .json(["id": id, "name": name]))
/// }
/// ```
///
/// It is made by writing a literal where a function takes one. A literal inside a literal, and one with `[]` or `[:]`
/// in it, is a ``JSONValue``, in which a variable is written `.init(id)`.
public struct JSONLiteral: Sendable, ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
  /// The literal as a value.
  public let jsonValue: JSONValue

  /// An object.
  public init(dictionaryLiteral elements: (String, (any JSONConvertible)?)...) {
    jsonValue = JSONValue(.object(elements.map { JSONValue.Member(name: $0.0, value: $0.1?.jsonValue ?? nil) }))
  }

  /// An array.
  public init(arrayLiteral elements: (any JSONConvertible)?...) {
    jsonValue = JSONValue(.array(elements.map { $0?.jsonValue ?? nil }))
  }
}

extension JSONValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// A string.
  public init(stringLiteral value: String) { self.init(.string(value)) }
  /// An integer.
  public init(integerLiteral value: Int64) { self.init(.number(String(value))) }
  /// A number.
  public init(floatLiteral value: Double) { self.init(value) }
  /// A Boolean.
  public init(booleanLiteral value: Bool) { self.init(.bool(value)) }
  /// `null`.
  public init(nilLiteral: ()) { self.init(.null) }
  /// An array.
  public init(arrayLiteral elements: JSONValue...) { self.init(.array(elements)) }
  /// An object; for duplicate names the last value counts.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self.init(.object(elements.map { Member(name: $0.0, value: $0.1) }))
  }
}

extension JSONValue: JSONConvertible {
  /// The value itself.
  public var jsonValue: JSONValue { self }
}

extension String: JSONConvertible {
  /// A JSON string.
  public var jsonValue: JSONValue { JSONValue(.string(self)) }
}

extension Bool: JSONConvertible {
  /// `true` or `false`.
  public var jsonValue: JSONValue { JSONValue(.bool(self)) }
}

extension Int: JSONConvertible {
  /// A JSON number.
  public var jsonValue: JSONValue { JSONValue(.number(String(self))) }
}

extension Int64: JSONConvertible {
  /// A JSON number.
  public var jsonValue: JSONValue { JSONValue(.number(String(self))) }
}

extension Double: JSONConvertible {
  /// A JSON number; `null` for a value that JSON cannot represent, such as infinity.
  public var jsonValue: JSONValue { isFinite ? JSONValue(.number("\(self)")) : nil }
}

extension Optional: JSONConvertible where Wrapped: JSONConvertible {
  /// The value, or `null`.
  public var jsonValue: JSONValue { map(\.jsonValue) ?? .init(nilLiteral: ()) }
}

extension Array: JSONConvertible where Element: JSONConvertible {
  /// A JSON array.
  public var jsonValue: JSONValue { JSONValue(.array(map(\.jsonValue))) }
}

extension Dictionary: JSONConvertible where Key == String, Value: JSONConvertible {
  /// A JSON object, sorted by name.
  public var jsonValue: JSONValue {
    JSONValue(
      .object(sorted { $0.key < $1.key }.map { JSONValue.Member(name: $0.key, value: $0.value.jsonValue) }))
  }
}
