import WaylayHAR
import WaylayRecording

/// A comparison of two JSON values: exact, without array order, or as a subset.
struct JSONComparison: Sendable {
  var ignoresOrder = false
  /// Whether additional members are accepted, and, if array order is ignored, additional elements.
  var ignoresExtras = false

  /// Whether `actual` matches `wanted`.
  func accepts(_ actual: JSONValue, _ wanted: JSONValue) -> Bool {
    if let members = actual.byName, let wanted = wanted.byName {
      guard ignoresExtras || members.count == wanted.count else { return false }
      return wanted.allSatisfy { name, value in members[name].map { accepts($0, value) } ?? false }
    }
    guard let elements = actual.array, let wanted = wanted.array else { return actual == wanted }
    guard ignoresOrder else {
      return elements.count == wanted.count && zip(elements, wanted).allSatisfy { accepts($0, $1) }
    }
    guard elements.count == wanted.count || ignoresExtras && elements.count > wanted.count else { return false }
    return assignment(elements, wanted).isComplete
  }

  private func assignment(_ elements: [JSONValue], _ wanted: [JSONValue]) -> Assignment {
    Assignment(of: wanted.count, among: elements.count) { accepts(elements[$0], wanted[$1]) }
  }
}

// MARK: Differences, for reports

extension JSONComparison {
  /// A place where a JSON value differs from the expected one.
  struct Difference {
    /// The JSON path, as in `$.items[0].name`.
    let path: String
    /// Both values as text; secrets are masked.
    let expected: String
    let actual: String

    var mismatch: Mismatch {
      Mismatch("body at \(path)", expected: Excerpt.ofText(expected), actual: Excerpt.ofText(actual), distance: 0.2)
    }
  }

  /// The differences between a value and `expected`.
  ///
  /// - Parameters:
  ///   - path: The JSON path of both values.
  ///   - isSecret: Whether a parent's name indicates a secret.
  func differences(
    _ actual: JSONValue, _ expected: JSONValue, at path: String = "$", isSecret: Bool = false
  ) -> [Difference] {
    if let elements = actual.array, let wanted = expected.array {
      return differences(elements, wanted, at: path, isSecret: isSecret)
    }
    guard let members = actual.byName, let wanted = expected.byName else {
      return actual == expected
        ? [] : [Difference(path: path, isSecret: isSecret, expected: expected, actual: actual)]
    }
    var found: [Difference] = []
    for (key, value) in wanted.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      let name = String(decoding: key, as: UTF8.self)
      let place = path.appending(member: name)
      let isSecret = isSecret || Redaction.hides(name)
      if let actual = members[key] {
        found += differences(actual, value, at: place, isSecret: isSecret)
      } else {
        found.append(Difference(path: place, isSecret: isSecret, expected: value, actual: nil))
      }
    }
    guard !ignoresExtras else { return found }
    for (key, value) in members.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) where wanted[key] == nil {
      let name = String(decoding: key, as: UTF8.self)
      let isSecret = isSecret || Redaction.hides(name)
      found.append(Difference(path: path.appending(member: name), isSecret: isSecret, expected: nil, actual: value))
    }
    return found
  }

  private func differences(
    _ elements: [JSONValue], _ wanted: [JSONValue], at path: String, isSecret: Bool
  ) -> [Difference] {
    guard ignoresOrder else {
      let found = zip(elements, wanted).enumerated().flatMap { index, pair in
        differences(pair.0, pair.1, at: "\(path)[\(index)]", isSecret: isSecret)
      }
      guard elements.count != wanted.count else { return found }
      return found + [Difference(path: path, expected: "\(wanted.count) elements", actual: "\(elements.count)")]
    }
    let assignment = assignment(elements, wanted)
    let missing = assignment.missing.map { index in
      let text = isSecret ? Redaction.mark : Redaction.masked(wanted[index]).description
      return Difference(path: "\(path)[*]", expected: text, actual: "no element like it")
    }
    guard !ignoresExtras else { return missing }
    return missing
      + elements.indices.filter { assignment.owners[$0] == nil }.map {
        Difference(path: "\(path)[\($0)]", isSecret: isSecret, expected: nil, actual: elements[$0])
      }
  }
}

extension JSONComparison.Difference {
  /// A difference between two values; `nil` for a missing one.
  init(path: String, isSecret: Bool, expected: JSONValue?, actual: JSONValue?) {
    func text(_ value: JSONValue?) -> String {
      value.map { isSecret ? Redaction.mark : Redaction.masked($0).description } ?? "nothing"
    }
    self.init(path: path, expected: text(expected), actual: text(actual))
  }
}

extension JSONValue {
  /// The value with a merge patch applied (RFC 7396): members of the patch replace those here, `null` removes one,
  /// anything but an object replaces the whole.
  func merging(_ patch: JSONValue) -> JSONValue {
    guard case .object(let changes) = patch.kind else { return patch }
    var result = members ?? []
    for change in changes {
      let position = result.lastIndex { $0.hasName(of: change) }
      if change.value.isNull {
        result.removeAll { $0.hasName(of: change) }
      } else if let position {
        result[position].value = result[position].value.merging(change.value)
      } else {
        result.append(Member(name: change.name, value: JSONValue(.null).merging(change.value)))
      }
    }
    return JSONValue(.object(result))
  }
}

/// A bipartite matching: assigns each wanted item a different given item, regardless of order.
struct Assignment {
  /// The wanted item of each assigned given item.
  private(set) var owners: [Int: Int] = [:]
  /// Wanted items without a given item.
  private(set) var missing: [Int] = []

  /// Finds a maximum matching by augmenting paths: a wanted item may take a given item whose owner can move.
  init(of wanted: Int, among given: Int, accepts: (_ given: Int, _ wanted: Int) -> Bool) {
    for index in 0..<wanted {
      var tried: Set<Int> = []
      if !place(index, given, accepts, &tried) { missing.append(index) }
    }
  }

  var isComplete: Bool { missing.isEmpty }

  private mutating func place(
    _ index: Int, _ given: Int, _ accepts: (Int, Int) -> Bool, _ tried: inout Set<Int>
  ) -> Bool {
    for position in 0..<given where !tried.contains(position) && accepts(position, index) {
      tried.insert(position)
      if let owner = owners[position], !place(owner, given, accepts, &tried) { continue }
      owners[position] = index
      return true
    }
    return false
  }
}
