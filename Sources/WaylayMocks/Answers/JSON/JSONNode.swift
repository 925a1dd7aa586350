import Foundation

/// A value of a JSON text (RFC 8259), with its place in it.
///
/// Unlike what `JSONSerialization` makes, it keeps lines and columns for messages, the order of an object's members,
/// and numbers digit by digit.
package struct JSONNode: Sendable {
  /// What the text says.
  package indirect enum Value: Sendable {
    case null
    case bool(Bool)
    /// The digits as they were written.
    case number(String)
    case string(String)
    case array([JSONNode])
    case object([Member])
  }

  /// A name and its value.
  package struct Member: Sendable {
    package let name: String
    /// The line of the name, from 1.
    package let line: Int
    package var node: JSONNode

    package init(name: String, line: Int = 0, node: JSONNode) {
      self.name = name
      self.line = line
      self.node = node
    }
  }

  package var value: Value
  /// The line where the value begins, from 1; 0 for a value that was not read from a text.
  package let line: Int
  /// The column where the value begins, in bytes from 1.
  package let column: Int

  package init(_ value: Value, line: Int = 0, column: Int = 0) {
    self.value = value
    self.line = line
    self.column = column
  }

  /// Reads a text.
  ///
  /// - Throws: ``JSONSyntaxError``.
  package init(parsing text: String) throws {
    try self.init(parsing: Array(text.utf8))
  }

  /// Reads a text in UTF-8.
  package init(parsing bytes: some Collection<UInt8>) throws {
    var parser = JSONParser(Array(bytes))
    self = try parser.parse()
  }

  /// The value of an object's member; of several with one name, the last.
  package subscript(_ name: String) -> JSONNode? {
    guard case .object(let members) = value else { return nil }
    return members.last { $0.name == name }?.node
  }

  /// The element of an array.
  package subscript(_ index: Int) -> JSONNode? {
    guard case .array(let elements) = value, elements.indices.contains(index) else { return nil }
    return elements[index]
  }

  /// The text of a string.
  package var string: String? { if case .string(let text) = value { text } else { nil } }
  /// The truth of a boolean.
  package var bool: Bool? { if case .bool(let truth) = value { truth } else { nil } }
  /// The number, when it is a whole one that fits.
  package var integer: Int? { if case .number(let digits) = value { Int(digits) } else { nil } }
  /// The number, as near as a `Double` comes.
  package var double: Double? { if case .number(let digits) = value { Double(digits) } else { nil } }
  /// The elements of an array.
  package var elements: [JSONNode]? { if case .array(let elements) = value { elements } else { nil } }
  /// The members of an object.
  package var members: [Member]? { if case .object(let members) = value { members } else { nil } }
  /// Whether it is `null`.
  package var isNull: Bool { if case .null = value { true } else { false } }

  /// What kind of value it is, for messages.
  package var kind: String {
    switch value {
    case .null: "null"
    case .bool: "a boolean"
    case .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

/// Where a text stops being JSON, and why.
package struct JSONSyntaxError: PlainlyDescribedError, Sendable {
  package let line: Int
  package let column: Int
  package let message: String

  package var description: String { "line \(line), column \(column): \(message)." }
}

extension JSONNode: Equatable {
  /// Whether two values are the same: numbers by value, objects in any order. Their places do not count.
  package static func == (one: JSONNode, other: JSONNode) -> Bool {
    switch (one.value, other.value) {
    case (.null, .null): true
    case (.bool(let one), .bool(let other)): one == other
    case (.number(let one), .number(let other)): one == other || JSONNumber(one) == JSONNumber(other)
    case (.string(let one), .string(let other)): one.unicodeScalars.elementsEqual(other.unicodeScalars)
    case (.array(let one), .array(let other)): one == other
    case (.object(let one), .object(let other)): lookup(one) == lookup(other)
    default: false
    }
  }

  private static func lookup(_ members: [Member]) -> [String: JSONNode] {
    Dictionary(members.map { ($0.name, $0.node) }, uniquingKeysWith: { $1 })
  }
}

/// A number by value: 1, 1.0 and 10e-1 are one.
private struct JSONNumber: Equatable {
  private let isNegative: Bool
  private let digits: Substring.UTF8View.SubSequence
  private let exponent: Int

  init(_ text: String) {
    var mantissa = text[...]
    var exponent = 0
    if let mark = text.firstIndex(where: { $0 == "e" || $0 == "E" }) {
      mantissa = text[..<mark]
      let digits = text[text.index(after: mark)...]
      // Beyond the range of Int no two numbers are told apart.
      exponent = Int(digits) ?? (digits.hasPrefix("-") ? .min / 2 : .max / 2)
    }
    let isNegative = mantissa.hasPrefix("-")
    if isNegative { mantissa = mantissa.dropFirst() }
    let parts = mantissa.split(separator: ".", omittingEmptySubsequences: false)
    let fraction = parts.count > 1 ? parts[1] : ""
    exponent = exponent.subtractingReportingOverflow(fraction.utf8.count).partialValue
    var all = Substring((parts.first ?? "") + fraction)
    while all.hasSuffix("0") {
      all = all.dropLast()
      exponent = exponent.addingReportingOverflow(1).partialValue
    }
    all = all.drop { $0 == "0" }
    self.isNegative = isNegative && !all.isEmpty
    self.exponent = all.isEmpty ? 0 : exponent
    digits = all.utf8[...]
  }

  static func == (one: JSONNumber, other: JSONNumber) -> Bool {
    one.isNegative == other.isNegative && one.exponent == other.exponent && one.digits.elementsEqual(other.digits)
  }
}
