import WaylayHAR
import WaylayRecording

/// A comparison with a JSON value: exact, without array order, or as a subset.
final class JSONComparison: Sendable {
  let expected: JSONValue
  let ignoresOrder: Bool
  /// Whether additional members are accepted, and, if array order is ignored, additional elements.
  let ignoresExtras: Bool

  init(_ expected: JSONValue, ignoresOrder: Bool = false, ignoresExtras: Bool = false) {
    (self.expected, self.ignoresOrder, self.ignoresExtras) = (expected, ignoresOrder, ignoresExtras)
  }

  /// A place where a value differs from the expected one.
  struct Difference {
    let place: [JSONPath.Step]
    let expected: Side
    let actual: Side

    enum Side {
      case nothing
      case value(JSONValue)
      case elements(Int)
      case noneLikeIt
    }
  }

  /// The differences between a value and the expected one.
  ///
  /// - Parameters:
  ///   - limit: The search ends with that many differences.
  ///   - start: A place before which there are none.
  ///   - work: The number of values to compare after that place.
  func differences(
    from actual: JSONValue, limit: Int, after start: [JSONPath.Step] = [], work: Int = .max
  ) -> [Difference] {
    var search = Search(limit: limit, work: work, start: start[...])
    compare(actual, expected, &search)
    return search.found
  }

  private struct Search {
    let limit: Int
    var work: Int
    /// The rest of the way to the place where the search begins.
    var start: ArraySlice<JSONPath.Step>
    var place: [JSONPath.Step] = []
    var found: [Difference] = []

    var isDone: Bool { found.count >= limit || work <= 0 }

    mutating func add(_ expected: Difference.Side, _ actual: Difference.Side, at step: JSONPath.Step? = nil) {
      found.append(Difference(place: place + [step].compactMap(\.self), expected: expected, actual: actual))
    }

    mutating func at(_ step: JSONPath.Step, _ compare: (inout Search) -> Void) {
      if let next = start.first {
        guard step == next else { return }
        start.removeFirst()
      }
      place.append(step)
      compare(&self)
      place.removeLast()
    }
  }

  private func compare(_ actual: JSONValue, _ expected: JSONValue, _ search: inout Search) {
    search.work -= 1
    if let elements = actual.array, let wanted = expected.array {
      ignoresOrder ? compareAnyOrder(elements, wanted, &search) : compare(elements, wanted, &search)
    } else if let members = actual.byName, let wanted = expected.distinctMembers {
      compare(members, wanted, actual, &search)
    } else if actual != expected {
      search.add(.value(expected), .value(actual))
    }
  }

  private func compare(
    _ members: [[UInt8]: JSONValue], _ wanted: [JSONValue.Member], _ actual: JSONValue, _ search: inout Search
  ) {
    var matched = 0
    for member in wanted where !search.isDone {
      let value = members[Array(member.name.utf8)]
      if value != nil { matched += 1 }
      search.at(.member(member.name)) { search in
        guard let value else { return search.add(.value(member.value), .nothing) }
        compare(value, member.value, &search)
      }
    }
    guard !ignoresExtras, !search.isDone, matched < members.count else { return }
    let names = Set(wanted.map { Array($0.name.utf8) })
    for member in actual.distinctMembers ?? [] where !search.isDone && !names.contains(Array(member.name.utf8)) {
      search.at(.member(member.name)) { $0.add(.nothing, .value(member.value)) }
    }
  }

  private func compare(_ elements: [JSONValue], _ wanted: [JSONValue], _ search: inout Search) {
    var first = 0
    if case .element(let index)? = search.start.first { first = index }
    if search.start.isEmpty, elements.count != wanted.count {
      search.add(.elements(wanted.count), .elements(elements.count))
    }
    for index in first..<max(first, min(elements.count, wanted.count)) {
      if search.isDone { return }
      search.at(.element(index)) { compare(elements[index], wanted[index], &$0) }
    }
  }

  private func compareAnyOrder(_ elements: [JSONValue], _ wanted: [JSONValue], _ search: inout Search) {
    search.start = []
    guard search.limit > 1 || elements.count == wanted.count || ignoresExtras && elements.count > wanted.count else {
      return search.add(.elements(wanted.count), .elements(elements.count))
    }
    let assignment = Assignment(of: wanted.count, among: elements.count) { given, index in
      var inner = Search(limit: 1, work: .max, start: [])
      compare(elements[given], wanted[index], &inner)
      search.work -= 1
      return inner.found.isEmpty
    }
    for index in assignment.missing where !search.isDone { search.add(.value(wanted[index]), .noneLikeIt, at: .all) }
    for index in elements.indices where !ignoresExtras && !search.isDone && assignment.owners[index] == nil {
      search.add(.nothing, .value(elements[index]), at: .element(index))
    }
  }
}

extension JSONComparison {
  /// Compares the JSON of a request. An explanation begins where a decision has found the first difference.
  func compare(_ facts: RequestFacts, _ json: JSONValue, _ result: inout Comparison) {
    let key = ObjectIdentifier(self)
    guard result.explains else {
      let first = differences(from: json, limit: 1).first
      if facts.isLong { facts.firstDifferences[key] = .some(first?.place) }
      return result.check(first == nil, .unshown)
    }
    let decided = facts.firstDifferences[key]
    if case .some(nil) = decided { return }
    let work = facts.isLong ? Self.work : .max
    let found = differences(from: json, limit: Self.shown + 1, after: (decided ?? nil) ?? [], work: work)
    for difference in found.prefix(Self.shown) { result.add(difference.mismatch) }
    if found.count > Self.shown {
      result.add(Mismatch("body", expected: "no more differences", actual: "more of them", distance: 0.2))
    } else if found.isEmpty, facts.isLong {
      result.leaveOut("JSON like the stub's", "compared only at its beginning")
    }
  }

  /// The number of values that an explanation compares in a long body.
  private static let work = 2_000
  private static let shown = 5
}

extension JSONComparison.Difference {
  /// Whether a name of the place indicates a secret.
  private var isSecret: Bool {
    place.contains { if case .member(let name) = $0 { Redaction.hides(name) } else { false } }
  }

  private func text(_ side: Side) -> String {
    switch side {
    case .nothing: "nothing"
    case .value(let value): isSecret ? Redaction.mark : Excerpt.of(value)
    case .elements(let count): "\(count)"
    case .noneLikeIt: "no element like it"
    }
  }

  var mismatch: Mismatch {
    var unit = ""
    if case .elements = expected { unit = " elements" }
    return Mismatch(
      "body at \(JSONPath.text(of: place))", expected: text(expected) + unit, actual: text(actual), distance: 0.2)
  }
}

extension JSONValue {
  /// The members of an object; of several with one name, the last.
  fileprivate var distinctMembers: [Member]? {
    guard let members, members.count > 1 else { return members }
    var names: Set<[UInt8]> = []
    return members.reversed().filter { names.insert(Array($0.name.utf8)).inserted }.reversed()
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
