/// Which queries a pattern is for.
struct QueryPattern: Sendable {
  enum Value: Sendable, Equatable {
    case any
    case exactly(String?)
  }

  struct Expectation: Sendable {
    let name: String
    var values: [Value]
  }

  /// By name, each name once.
  private(set) var expectations: [Expectation] = []
  /// Whether there may be no other items.
  let isExact: Bool

  init(_ items: QueryItems, isExact: Bool) {
    self.isExact = isExact
    for item in items.items { add(item.name, .exactly(item.value)) }
  }

  init(_ items: [(name: String, value: Value)], isExact: Bool) {
    self.isExact = isExact
    for item in items { add(item.name, item.value) }
  }

  /// What stands after the question mark of a pattern: a star is any value.
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

  func matches(_ items: QueryItems) -> Bool {
    if isExact {
      let expected = expectations.reduce(0) { $0 + $1.values.count }
      guard expected == items.items.count else { return false }
    }
    return expectations.allSatisfy { $0.matches(items.values(of: $0.name), isExact: isExact) }
  }
}

extension QueryPattern.Expectation {
  /// Whether the values of a request are these, in this order; among others, unless they are to be exact.
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
