import Foundation

/// Where a load comes from: the registries and loop guards that it is already inside of, outermost first.
///
/// It travels with the task that runs a chain, and, for code that leaves the task, in the tag of the requests that interceptors see.
final class Lineage: Sendable {
  struct Entry: Sendable, Hashable {
    /// The number of a registry or of a loop guard.
    let origin: UInt64
    /// What an error's path prints.
    let label: String
  }

  let entries: [Entry]
  /// The load whose chain runs here, if any.
  let load: Load?

  init(entries: [Entry], load: Load? = nil) {
    self.entries = entries
    self.load = load
  }

  @TaskLocal static var current: Lineage?

  /// The name of the interceptor that runs here, if any.
  static var currentReader: String? { current?.load?.activeLink }

  /// Loads within loads beyond which a load is taken for a loop.
  static let maximumDepth = 16

  func contains(_ origin: UInt64) -> Bool {
    entries.contains { $0.origin == origin }
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
    let entries = (outer?.entries ?? []) + [entry]
    let lineage = Lineage(entries: entries, load: load)
    guard entries.count <= maximumDepth else {
      throw WaylayError(
        .loopDetected,
        "a load came back into interception \(maximumDepth) times: \(lineage.path). Let the interceptor that makes requests of its own use a session that is not intercepted.",
        url: load.url, requestID: load.id)
    }
    return lineage
  }
}
