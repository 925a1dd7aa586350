extension JSONNode {
  /// Where one value differs from what was expected of it.
  struct Difference: Sendable, Equatable {
    /// The place, as in `$.items[0].name`.
    let path: String
    /// What was expected there, and what was there; secrets are masked.
    let expected: String
    let actual: String

    init(path: String, expected: String, actual: String) {
      self.path = path
      self.expected = expected
      self.actual = actual
    }

    /// A value in place of another; `nil` for none.
    init(path: String, isSecret: Bool, expected: JSONNode?, actual: JSONNode?) {
      func text(_ node: JSONNode?) -> String {
        node.map { isSecret ? Redaction.mark : Redaction.masked($0).text } ?? "nothing"
      }
      self.init(path: path, expected: text(expected), actual: text(actual))
    }
  }

  /// The members by name; of several with one name, the last counts.
  private var lookup: [String: JSONNode]? {
    members.map { Dictionary($0.map { ($0.name, $0.node) }, uniquingKeysWith: { $1 }) }
  }

  /// Whether this value holds all of `part`: its members, and their values in turn. Lists are compared element by
  /// element.
  func contains(_ part: JSONNode) -> Bool {
    if let wanted = part.lookup {
      guard let members = lookup else { return false }
      return wanted.allSatisfy { name, value in members[name].map { $0.contains(value) } ?? false }
    }
    if let wanted = part.elements {
      guard let values = elements, values.count == wanted.count else { return false }
      return zip(values, wanted).allSatisfy { $0.contains($1) }
    }
    return self == part
  }

  /// Where this value differs from `expected`.
  ///
  /// - Parameters:
  ///   - asSubset: Whether more members than expected are no difference.
  ///   - path: Where this value stands.
  ///   - isSecret: Whether it is below a name that says it is a secret.
  func differences(
    from expected: JSONNode, asSubset: Bool, at path: String = "$", isSecret: Bool = false
  ) -> [Difference] {
    if let members = lookup, let wanted = expected.lookup {
      var found: [Difference] = []
      for (name, value) in wanted.sorted(by: { $0.key < $1.key }) {
        let place = Self.member(name, of: path)
        let isSecret = isSecret || Redaction.hides(name)
        if let actual = members[name] {
          found += actual.differences(from: value, asSubset: asSubset, at: place, isSecret: isSecret)
        } else {
          found.append(Difference(path: place, isSecret: isSecret, expected: value, actual: nil))
        }
      }
      guard !asSubset else { return found }
      for (name, value) in members.sorted(by: { $0.key < $1.key }) where wanted[name] == nil {
        found.append(
          Difference(
            path: Self.member(name, of: path), isSecret: isSecret || Redaction.hides(name), expected: nil, actual: value
          ))
      }
      return found
    }
    if let values = elements, let wanted = expected.elements {
      var found: [Difference] = []
      for (index, pair) in zip(values, wanted).enumerated() {
        found += pair.0.differences(from: pair.1, asSubset: asSubset, at: "\(path)[\(index)]", isSecret: isSecret)
      }
      if values.count != wanted.count {
        found.append(Difference(path: path, expected: "\(wanted.count) elements", actual: "\(values.count)"))
      }
      return found
    }
    return self == expected ? [] : [Difference(path: path, isSecret: isSecret, expected: expected, actual: self)]
  }

  static func member(_ name: String, of path: String) -> String {
    let isPlain = !name.isEmpty && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    return isPlain ? "\(path).\(name)" : "\(path)[\"\(escaped(name))\"]"
  }

  /// A text between quotes.
  static func quoted(_ text: String) -> String { "\"" + escaped(text) + "\"" }
}
