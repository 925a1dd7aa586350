/// A pattern for queries.
struct QueryPattern: Sendable {
  enum Value: Sendable, Equatable {
    case any
    case exactly(String?)
  }

  struct Expectation: Sendable {
    let name: String
    var values: [Value]
  }

  /// One per name.
  private(set) var expectations: [Expectation] = []
  /// Whether further items are rejected.
  let isExact: Bool

  init(_ items: [(name: String, value: Value)], isExact: Bool) {
    self.isExact = isExact
    for item in items { add(item.name, item.value) }
  }

  /// Parses the query of a URL pattern; a star matches any value.
  init(pattern: Substring, of text: String) throws(MockError) {
    isExact = true
    for part in pattern.split(separator: "&") {
      let equals = part.firstIndex(of: "=")
      let name = PercentCoding.decoded(equals.map { part[..<$0] } ?? part, plusIsSpace: true)
      guard !name.isEmpty else { throw URLPattern.invalid(text, "the query has an item without a name: \"\(part)\".") }
      let value = equals.map { part[part.index(after: $0)...] }
      add(name, value == "*" ? .any : .exactly(value.map { PercentCoding.decoded($0, plusIsSpace: true) }))
    }
  }

  private mutating func add(_ name: String, _ value: Value) {
    if let position = expectations.firstIndex(where: { $0.name == name }) {
      expectations[position].values.append(value)
    } else {
      expectations.append(Expectation(name: name, values: [value]))
    }
  }

  /// - Parameter kind: The kind of the items: "query", "form field".
  func compare(_ items: QueryItems, _ kind: @autoclosure @escaping () -> String, _ result: inout Comparison) {
    var others = items.items.count
    for expectation in expectations where !result.isDone {
      let actual = items.items.filter { $0.name == expectation.name }
      others -= actual.count
      result.check(
        expectation.matches(actual.map(\.value), isExact: isExact),
        Mismatch(
          "\(kind()) \(expectation.name)",
          expected: expectation.values == [.any]
            ? "any value"
            : Redaction.query(
              expectation.name, expectation.values.map { $0.description(for: expectation.name) }.joined(separator: "&")
            ),
          actual: QueryItems(items: actual).shown ?? "no such item", distance: 0.3))
    }
    result.check(
      !isExact || others == 0,
      Mismatch(
        kind(), expected: self.expectations.isEmpty ? "none" : "no other items",
        actual: items.shown(except: Set(self.expectations.map(\.name))) ?? "none",
        distance: 0.2 * Double(min(others, 5))))
  }
}

extension QueryItems {
  /// The first items, redacted; `nil` without any.
  fileprivate func shown(except names: Set<String> = []) -> String? {
    let shown = items.lazy.filter { !names.contains($0.name) }.prefix(20)
      .map { Redaction.query($0.name, $0.spelled) }
    return shown.isEmpty ? nil : shown.joined(separator: "&")
  }

  fileprivate var shown: String? { shown() }
}

extension QueryItems.Item {
  /// The item, with the notation of a space or a plus sign in it.
  var spelled: String {
    guard let written, !Redaction.isSecret(written) else { return description }
    return "\(self) (written \(written): a \"+\" is a space, a plus sign is written \"%2B\")"
  }
}

extension QueryPattern.Expectation {
  /// Whether the values occur in this order; with `isExact`, without further values.
  func matches(_ actual: [String?], isExact: Bool) -> Bool {
    if isExact, actual.count != values.count { return false }
    var rest = actual[...]
    return values.allSatisfy { value in
      while let next = rest.popFirst() {
        if value == .any || value == .exactly(next) { return true }
        if isExact { return false }
      }
      return false
    }
  }
}

extension QueryPattern: CustomStringConvertible {
  var description: String {
    expectations
      .flatMap { expectation in
        expectation.values.map { value in
          if case .exactly(_?) = value {
            return Redaction.query(expectation.name, value.description(for: expectation.name))
          }
          return value.description(for: expectation.name)
        }
      }
      .joined(separator: "&")
  }
}

extension QueryPattern.Value {
  func description(for name: String) -> String {
    switch self {
    case .any: "\(name)=*"
    case .exactly(nil): name
    case .exactly(let value?): "\(name)=\(value)"
    }
  }
}

/// The items of a query or form in order, percent-decoded, with `+` as a space (WHATWG URL, section 5.1). An item
/// without `=` has no value, which differs from an empty one.
struct QueryItems: Sendable, Hashable {
  struct Item: Sendable, Hashable {
    let name: String
    let value: String?
    /// The raw text of the value, if it contains a space or plus sign.
    var written: String?

    static func == (one: Item, other: Item) -> Bool { one.name == other.name && one.value == other.value }

    func hash(into hasher: inout Hasher) {
      hasher.combine(name)
      hasher.combine(value)
    }
  }

  var items: [Item]
}

extension QueryItems {
  init(_ text: some StringProtocol) {
    items = text.split(separator: "&", omittingEmptySubsequences: true).map { part in
      guard let equals = part.firstIndex(of: "=") else {
        return Item(name: PercentCoding.decoded(part, plusIsSpace: true), value: nil)
      }
      let written = part[part.index(after: equals)...]
      let isTelling = written.utf8.contains(UInt8(ascii: "+")) || written.contains("%2B") || written.contains("%2b")
      return Item(
        name: PercentCoding.decoded(part[..<equals], plusIsSpace: true),
        value: PercentCoding.decoded(written, plusIsSpace: true),
        written: isTelling ? String(written) : nil)
    }
  }

  /// The values of a name, in order.
  func values(of name: String) -> [String?] {
    items.filter { $0.name == name }.map(\.value)
  }

  /// The items sorted by name, stably.
  var sortedByName: QueryItems {
    items.count > 1 ? QueryItems(items: items.sorted { $0.name < $1.name }) : self
  }

  func contains(_ name: String) -> Bool { items.contains { $0.name == name } }
}

extension QueryItems.Item: CustomStringConvertible {
  var description: String { value.map { "\(name)=\($0)" } ?? name }
}
