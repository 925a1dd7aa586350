import Foundation
import WaylayHAR

/// The structure of JSON values: types by position, without values.
struct Shape: Hashable, Sendable {
  enum Kind: String, Sendable {
    case null, boolean, integer, number, string, array, object
  }

  private(set) var kinds: Set<Kind> = []
  /// The shapes of object members, by name.
  private(set) var members: [String: Shape] = [:]
  /// Members that every object has.
  private(set) var required: Set<String> = []
  /// The common shape of array elements; empty without elements.
  private var elements: [Shape] = []

  init(_ value: JSONValue) {
    switch value.kind {
    case .null: kinds = [.null]
    case .bool: kinds = [.boolean]
    // A kind of number with a fraction includes integers.
    case .number: kinds = value.int == nil ? [.number] : [.integer]
    case .string: kinds = [.string]
    case .array(let values):
      kinds = [.array]
      elements = Self.merging(values.lazy.map { Shape($0) }).map { [$0] } ?? []
    case .object(let list):
      kinds = [.object]
      for member in list { members[member.name] = Shape(member.value) }
      required = Set(members.keys)
    }
  }

  /// The common shape of several; `nil` of none.
  private static func merging(_ shapes: some Sequence<Shape>) -> Shape? {
    shapes.reduce(nil) { merged, shape in
      guard var merged else { return shape }
      merged.merge(shape)
      return merged
    }
  }

  /// Merges another shape into this one.
  mutating func merge(_ other: Shape) {
    if !other.kinds.contains(.object) {
      // The other value has no objects, so it does not restrict the required members.
    } else if kinds.contains(.object) {
      required.formIntersection(other.required)
    } else {
      required = other.required
    }
    kinds.formUnion(other.kinds)
    members.merge(other.members) { one, other in
      var both = one
      both.merge(other)
      return both
    }
    if elements.isEmpty {
      elements = other.elements
    } else if let more = other.elements.first {
      elements[0].merge(more)
    }
  }

  /// The types as text.
  private var name: String {
    Set(kinds.map { $0 == .integer ? Kind.number.rawValue : $0.rawValue }).sorted().joined(separator: " or ")
  }

  /// The types except `null`, which leaves the type open.
  private var types: Set<Kind> { Set(kinds.map { $0 == .integer ? .number : $0 }).subtracting([.null]) }

  /// Whether one shape may be that of both: the same types, and the members of one are among those of the other.
  private func agrees(with other: Shape) -> Bool {
    guard types == other.types || types.isEmpty || other.types.isEmpty else { return false }
    if let one = elements.first, let two = other.elements.first, !one.agrees(with: two) { return false }
    let (few, many) = members.count <= other.members.count ? (members, other.members) : (other.members, members)
    guard few.keys.allSatisfy({ many[$0] != nil }) else { return Self.areAlike(Array(few.values) + many.values) }
    return few.allSatisfy { many[$0.key]?.agrees(with: $0.value) == true }
  }

  private static func areAlike(_ values: some Collection<Shape>) -> Bool {
    let shapes = Set(values)
    guard let widest = shapes.max(by: { $0.members.count < $1.members.count }) else { return true }
    return shapes.allSatisfy { !$0.kinds.contains(.null) && $0.agrees(with: widest) }
  }

  /// Whether objects are maps: in each of the two recordings their values agree in shape, and each has names that the
  /// other does not have. A single member agrees with nothing.
  private func isMap(with other: Shape) -> Bool {
    max(members.count, other.members.count) > 1 && members.keys.contains { other.members[$0] == nil }
      && other.members.keys.contains { members[$0] == nil } && Self.areAlike(members.values)
      && Self.areAlike(other.members.values)
  }

  /// Reports the changes to a newer shape: a removed member or another type is an error, a member that may now be
  /// missing is a warning. Empty arrays and `null` leave the type open, which is no change.
  ///
  /// - Parameter maps: The paths of objects whose names are data, followed by `.*`.
  func changes(
    to new: Shape, at path: String, maps: Set<String>, _ say: (Drift.Severity, String, String) -> Void
  ) {
    let (old, now) = (kinds.subtracting([.null]), new.kinds.subtracting([.null]))
    let numbers: Set<Kind> = [.integer, .number]
    if !old.isEmpty, !now.isSubset(of: old.isDisjoint(with: numbers) ? old : old.union(numbers)) {
      say(.error, path, "is \(new.name), was \(name)")
    } else if old.contains(.integer), !old.contains(.number), now.contains(.number) {
      say(.warning, path, "may be a fraction, was an integer")
    } else if !old.isEmpty, new.kinds.contains(.null), !kinds.contains(.null) {
      say(.warning, path, "may be null, was \(name)")
    }
    if let one = elements.first, let other = new.elements.first {
      one.changes(to: other, at: path + "[*]", maps: maps, say)
    }
    guard new.kinds.contains(.object), !members.isEmpty else { return }
    if maps.contains(path + ".*") || isMap(with: new) {
      guard let other = Self.merging(new.members.values) else { return }
      Self.merging(members.values)?.changes(to: other, at: path + ".*", maps: maps, say)
      return
    }
    for (name, shape) in members.sorted(by: { $0.key < $1.key }) {
      let place = path.appending(member: name)
      if let other = new.members[name] {
        if required.contains(name), !new.required.contains(name) {
          say(.warning, place, "may be missing, was always there")
        }
        shape.changes(to: other, at: place, maps: maps, say)
      } else if required.contains(name) {
        say(.error, place, "is gone, was \(shape.name)")
      }
    }
    for (name, shape) in new.members.sorted(by: { $0.key < $1.key }) where members[name] == nil {
      // Where objects vary anyway, a new optional member is not reported.
      guard required.count == members.count || new.required.contains(name) else { continue }
      say(.note, path.appending(member: name), "is new: \(shape.name)")
    }
  }
}

extension String {
  /// The JSON path of a member of the object at this path.
  package func appending(member name: String) -> String {
    let isPlain = !name.isEmpty && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    return isPlain ? "\(self).\(name)" : "\(self)[\(JSONValue(name))]"
  }
}

/// Detects generated segments of paths: numbers, UUIDs, hashes, dates, addresses.
enum Identifier {
  static func isOne(_ text: some StringProtocol) -> Bool {
    guard !text.isEmpty else { return false }
    if text.allSatisfy(\.isNumber) || text.contains("@") || text.contains("://") { return true }
    let digits = text.count(where: \.isNumber)
    let parts = text.split { "-_:.".contains($0) }
    // A date such as 2026-11-23, or a UUID.
    if digits > 0, parts.allSatisfy({ $0.allSatisfy(\.isHexDigit) }), text.count >= 8 { return true }
    // An identifier with a prefix, such as cus_9s6XKzkNRiz8.
    guard let last = parts.last else { return false }
    return last.count >= 6 && last.count(where: \.isNumber) >= 2
  }

  /// A path with `*` in place of generated segments.
  static func path(_ path: some StringProtocol) -> String {
    path.split(separator: "/", omittingEmptySubsequences: false).map { isOne($0) ? "*" : String($0) }
      .joined(separator: "/")
  }
}
