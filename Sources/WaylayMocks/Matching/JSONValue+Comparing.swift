extension JSONValue {
  /// Where one value differs from what was expected of it.
  struct Difference: Sendable, Equatable {
    /// The place, as in `$.items[0].name`.
    let path: String
    let expected: String
    let actual: String
  }

  /// Whether this value holds all of `part`: its members, and their values in turn. Lists are compared element by element.
  func contains(_ part: JSONValue) -> Bool {
    switch (self, part) {
    case (.object(let members), .object(let wanted)):
      wanted.allSatisfy { name, value in members[name].map { $0.contains(value) } ?? false }
    case (.array(let values), .array(let wanted)):
      values.count == wanted.count && zip(values, wanted).allSatisfy { $0.contains($1) }
    default: self == part
    }
  }

  /// Where this value differs from `expected`.
  ///
  /// - Parameter asSubset: Whether more members than expected are no difference.
  func differences(from expected: JSONValue, asSubset: Bool, at path: String = "$") -> [Difference] {
    switch (self, expected) {
    case (.object(let members), .object(let wanted)):
      var found: [Difference] = []
      for (name, value) in wanted.sorted(by: { $0.key < $1.key }) {
        let place = Self.member(name, of: path)
        if let actual = members[name] {
          found += actual.differences(from: value, asSubset: asSubset, at: place)
        } else {
          found.append(Difference(path: place, expected: value.description, actual: "nothing"))
        }
      }
      if !asSubset {
        for (name, value) in members.sorted(by: { $0.key < $1.key }) where wanted[name] == nil {
          found.append(Difference(path: Self.member(name, of: path), expected: "nothing", actual: value.description))
        }
      }
      return found
    case (.array(let values), .array(let wanted)):
      var found: [Difference] = []
      for (index, pair) in zip(values, wanted).enumerated() {
        found += pair.0.differences(from: pair.1, asSubset: asSubset, at: "\(path)[\(index)]")
      }
      if values.count != wanted.count {
        found.append(Difference(path: path, expected: "\(wanted.count) elements", actual: "\(values.count)"))
      }
      return found
    default:
      return self == expected ? [] : [Difference(path: path, expected: expected.description, actual: description)]
    }
  }

  private static func member(_ name: String, of path: String) -> String {
    let isPlain = !name.isEmpty && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    return isPlain ? "\(path).\(name)" : "\(path)[\(quoted(name))]"
  }
}
