import Foundation

// The loop guard (rule 7): which loads the current code, or a request, is inside of. It travels in three channels, a
// section each: the task-local value of the current code, the tag of a request, and work that loads share.

/// The registries and loop guards that a load is nested in, outermost first.
///
/// An entry counts as long as its scope: until the last byte, the failure or the cancellation of its load, or the end
/// of the ``SharedWork`` that outlives it.
final class Lineage: Sendable {
  struct Entry: Sendable {
    /// The number of a registry or of a loop guard.
    let origin: UInt64
    /// The text for an error's path.
    let label: String
  }

  indirect enum Scope: Sendable {
    case load(Locked<Load?>)
    /// That of the entry and that of the work, whichever lasts longer.
    case work(SharedWork, Scope)
    /// The scope of a loop guard outside of any load, as in a unit test: its entry always counts.
    case unlimited

    var counts: Bool {
      switch self {
      case .load(let load): load.withLock { $0 != nil }
      case .work(let work, let own): work.isRunning || own.counts
      case .unlimited: true
      }
    }
  }

  /// Whose code runs inside of the entry.
  enum Sender: Sendable {
    /// An interceptor, or code that it runs.
    case interceptor
    /// An interceptor that takes part in nested requests, and therefore must not get its own.
    case participant(ChainIndex.Member)
    /// The transport, or a foreign protocol class beneath it.
    case transport
    /// The app, whose requests are not nested.
    case app
  }

  let outer: Lineage?
  let entry: Entry
  let scope: Scope
  /// The number of the load.
  let number: UInt64
  let depth: Int
  let sender: Sender
  /// The shared work in which the entry was made: for code of that work, the entry counts as long as its load.
  let work: SharedWork?
  /// The number of loads in a sequence, each of which was started by the previous one after its end, and the time of
  /// the first.
  private let ended: (count: Int, since: UInt64)

  init(
    _ entry: Entry, in outer: Lineage?, scope: Scope, _ number: UInt64, sender: Sender = .interceptor,
    of work: SharedWork? = .current, ended: (count: Int, since: UInt64) = (0, 0)
  ) {
    (self.outer, self.entry, self.scope, self.number, self.work) = (outer, entry, scope, number, work)
    (self.sender, self.ended) = (sender, ended)
    depth = (outer?.depth ?? 0) + 1
  }

  /// A copy with changes.
  private func with(
    _ outer: Lineage?, scope: Scope? = nil, sender: Sender? = nil, of work: SharedWork?
  ) -> Lineage {
    Lineage(
      entry, in: outer, scope: scope ?? self.scope, number, sender: sender ?? self.sender, of: work,
      ended: ended)
  }

  /// The lineage of code that `sender` runs.
  func sent(by sender: Sender) -> Lineage {
    // Work of the app is not a part of shared work.
    if case .app = sender { with(outer, sender: sender, of: nil) } else { with(outer, sender: sender, of: work) }
  }

  /// The load whose chain runs here, until it ends.
  var load: Load? { if case .load(let load) = scope { load.withLock { $0 } } else { nil } }

  var counts: Bool { scope.counts }

  /// Whether the current code is work of the app.
  var isOfApp: Bool { if case .app = sender { true } else { false } }

  /// The entries that count, if any.
  var counting: Lineage? {
    let outer = outer?.counting
    // Work of the app is inside of no load, also after the load that started it.
    guard counts else { return isOfApp ? nil : outer }
    return outer === self.outer ? self : with(outer, of: work)
  }

  /// The entries, outermost first.
  var entries: [Entry] { (outer?.entries ?? []) + [entry] }

  var path: String { entries.map(\.label).joined(separator: " → ") }

  /// A process-wide unique number for a registry or a loop guard.
  static func nextOrigin() -> UInt64 { InterceptedRequest.ID.next().number }
}

// MARK: Questions about a request

extension Lineage {
  /// The relation of a request to the registry inside of whose loads it was made.
  enum Nesting: Sendable {
    /// A request of an interceptor: those interceptors get it that take part in nested requests.
    case interceptor(Lineage)
    /// A request of the transport or beneath it: no interceptor gets it.
    case transport

    /// Whether an interceptor of the owning chain gets the request.
    func includes(_ interceptor: any RequestInterceptor, _ member: ChainIndex.Member) -> Bool {
      guard case .interceptor(let lineage) = self else { return false }
      return interceptor.takesPartInNestedRequests && !lineage.isSent(by: member)
    }
  }

  /// Whether the request is made inside of a load of this registry, and by whom; `nil` if it is not.
  func nesting(in registry: UInt64) -> Nesting? {
    var level: Lineage? = self
    // The load that a transport sends for; its levels are one of the registry and those of loop guards.
    var transporting: UInt64?
    while let current = level {
      if current.isOfApp { return nil }
      if current.counts {
        if case .transport = current.sender { transporting = current.number }
        if current.entry.origin == registry {
          return transporting == current.number ? .transport : .interceptor(self)
        }
      }
      level = current.outer
    }
    return nil
  }

  /// Whether the request comes from code that the interceptor runs.
  private func isSent(by member: ChainIndex.Member) -> Bool {
    switch sender {
    case .app: return false
    // The participant's load may have ended before another hop of the request.
    case .participant(let sender) where sender.isSame(as: member): return true
    default: return outer?.isSent(by: member) ?? false
    }
  }

  /// How often the load is nested in that loop guard.
  func count(of origin: UInt64) -> Int {
    if isOfApp { return 0 }
    return (outer?.count(of: origin) ?? 0) + (entry.origin == origin && counts ? 1 : 0)
  }

  /// The maximum nesting depth; a deeper load is a loop.
  static let maximumDepth = 16

  /// Makes a lineage one level deeper; throws an error with the path if it is too deep, or if ended loads keep starting
  /// new ones, more than one per second.
  convenience init(of load: Load, within outer: Lineage, now: UInt64) throws {
    let (counting, most) = (outer.counting, Self.maximumDepth)
    var ended = outer.ended
    if counting?.depth != outer.depth { ended.count += 1 }
    let isLong = ended.count > most
    let isLoop = isLong && now.saturating(subtracting: ended.since) < UInt64(most) * 1_000_000_000
    if isLong { ended = (0, now) }
    self.init(
      load.registry.lineageEntry, in: counting, scope: .load(load.scope), load.id.number, of: outer.work, ended: ended)
    guard depth <= most, !isLoop else {
      throw WaylayError(
        .loopDetected,
        "a load entered interception again \(most) times: \(path). Let the interceptor that makes its own requests use a "
          + "session that is not intercepted.",
        url: load.url, requestID: load.id)
    }
  }
}

// MARK: Channel 1: the task-local value of the current code

extension Lineage {
  @TaskLocal static var current: Lineage?

  /// The lineage of the current code.
  static var inherited: Lineage? { current?.within(SharedWork.current) }

  /// The first URL of the load that a transport sends a request for; read by protocol classes beneath the transport.
  @TaskLocal static var origin: URL?

  /// The name of the running interceptor, if any.
  static var currentReader: String? { current?.load?.activeInterceptor }

  /// Runs code that may make requests as `sender`.
  static func sending<Value>(as sender: Sender, _ operation: () async throws -> Value) async rethrows -> Value {
    guard let current else { return try await operation() }
    return try await $current.withValue(current.sent(by: sender), operation: operation)
  }
}

/// The lineage of the current code, for work that continues in a task that is not a child of the current one.
///
/// Otherwise the loop guard would treat a load of that task as a new one (rule 7).
package struct LoadOrigin: Sendable {
  private let lineage: Lineage?

  /// Captures the lineage of the current task.
  package init() {
    lineage = Lineage.inherited
  }

  /// Runs an operation with the captured lineage.
  package func run<Value>(_ operation: () async throws -> Value) async rethrows -> Value {
    if lineage === Lineage.current { return try await operation() }
    return try await Lineage.$current.withValue(lineage, operation: operation)
  }

  /// Runs a synchronous operation with the captured lineage.
  func runInline<Value>(_ operation: () throws -> Value) rethrows -> Value {
    try Lineage.$current.withValue(lineage, operation: operation)
  }
}

extension InterceptorRegistry {
  /// Runs work of the app that an interceptor starts, but that is not a part of its load: the requests that it makes
  /// run through the whole chains, like any other request of the app.
  ///
  /// ```swift
  /// let response = try await next(request)
  /// Task {
  ///   await InterceptorRegistry.withoutEnclosingLoad { await account.synchronize() }
  /// }
  /// return response
  /// ```
  ///
  /// Without it, a request of such a task is a nested one (rule 7) until the load ends, and a request of the app from
  /// then on: which of the two depends on chance.
  ///
  /// Do not wait for the operation in `startLoading`, unless its requests are for other interceptors: the interceptor
  /// would get them, and could wait for itself. A chain that enters itself again and again fails with
  /// `WaylayError.loopDetected`.
  ///
  /// On Apple platforms, a request of a session that derives from the request of the load is recognized by its tag, and
  /// stays nested: make a new one.
  ///
  /// - Parameter operation: The work, of which nothing else is recognized as nested, on any registry. It includes tasks
  ///   that inherit task-local values.
  public static func withoutEnclosingLoad<Value>(
    _ operation: () async throws -> Value
  ) async rethrows -> Value {
    try await SharedWork.$current.withValue(nil) { try await Lineage.sending(as: .app, operation) }
  }
}

// MARK: Channel 2: the tag of a request

extension Lineage {
  /// The levels for a ``RequestTag``, innermost first: beyond work of the app there is none.
  var levels: [Lineage] {
    isOfApp ? [self] : [self] + (outer?.levels ?? [])
  }

  /// The name of the level in a ``RequestTag``, unique in the process: requests are tagged for interceptors and for
  /// protocol classes beneath a transport.
  var tagName: String {
    var name = "\(number).\(depth).\(entry.origin)"
    if case .work(let work, _) = scope { name += ".\(UInt(bitPattern: ObjectIdentifier(work)))" }
    return switch sender {
    case .interceptor: name
    case .participant(let member): "\(name).\(member.text)"
    case .transport: name + ".transport"
    case .app: name + ".app"
    }
  }
}

extension InterceptedRequest {
  /// Whether an interceptor makes the request inside of another load of its registry.
  package var isNested: Bool { self[NestedRequest.self] }
}

enum NestedRequest: InterceptedRequest.Key {
  static let defaultValue = false
}

// MARK: Channel 3: work that loads share

extension Lineage {
  /// The lineage for code that runs in `work`: all entries count until `work` has ended, even if their loads end
  /// before.
  func within(_ work: SharedWork?) -> Lineage {
    guard let work, work !== self.work else { return self }
    return with(outer?.within(work), scope: .work(work, scope), of: work)
  }
}
