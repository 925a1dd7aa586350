import Foundation

/// Where a load comes from: the registries and loop guards that it is already inside of, outermost first.
///
/// It travels with the task that runs a chain, and, for code that leaves the task, in the tag of the requests that
/// interceptors see.
final class Lineage: Sendable {
  final class Entry: Sendable {
    /// The number of a registry or of a loop guard.
    let origin: UInt64
    /// What an error's path prints.
    let label: String
    /// The tag of a load that is inside of nothing else: nearly all loads, so it is made once.
    let tag: URL?

    init(origin: UInt64, label: String, tag: URL? = nil) {
      self.origin = origin
      self.label = label
      self.tag = tag
    }

    /// The entry of a registry.
    convenience init(registry number: UInt64) {
      let entry = Entry(origin: number, label: "registry \(number)")
      self.init(
        origin: number, label: entry.label,
        tag: URL(string: RequestTag.text(for: Lineage(entry, in: nil, load: nil))))
    }
  }

  let outer: Lineage?
  let entry: Entry
  let depth: Int
  /// The load whose chain runs here, if any.
  let load: Load?

  init(_ entry: Entry, in outer: Lineage?, load: Load?) {
    self.outer = outer
    self.entry = entry
    self.load = load
    depth = (outer?.depth ?? 0) + 1
  }

  /// The same way here, for what outlives the loads on it.
  var withoutLoads: Lineage {
    load == nil && outer == nil ? self : Lineage(entry, in: outer?.withoutLoads, load: nil)
  }

  /// Outermost first.
  var entries: [Entry] { (outer?.entries ?? []) + [entry] }

  @TaskLocal static var current: Lineage?

  /// The name of the interceptor that runs here, if any.
  static var currentReader: String? { current?.load?.activeLink }

  /// Loads within loads beyond which a load is taken for a loop.
  static let maximumDepth = 16

  /// How often the load is inside of that registry or guard.
  func count(of origin: UInt64) -> Int {
    (outer?.count(of: origin) ?? 0) + (entry.origin == origin ? 1 : 0)
  }

  func contains(_ origin: UInt64) -> Bool {
    entry.origin == origin || outer?.contains(origin) ?? false
  }

  var path: String { entries.map(\.label).joined(separator: " → ") }

  private static let origins = Locked<UInt64>(0)

  /// A number for a registry or a loop guard, unique in the process.
  static func nextOrigin() -> UInt64 {
    origins.withLock {
      $0 += 1
      return $0
    }
  }

  /// One level deeper, or an error that prints the way here.
  static func deeper(than outer: Lineage?, by entry: Entry, load: Load) throws -> Lineage {
    let lineage = Lineage(entry, in: outer, load: load)
    guard lineage.depth <= maximumDepth else {
      throw WaylayError(
        .loopDetected,
        "a load entered interception again \(maximumDepth) times: \(lineage.path). Let the interceptor that makes its "
          + "own requests use a session that is not intercepted.",
        url: load.url, requestID: load.id)
    }
    return lineage
  }
}
