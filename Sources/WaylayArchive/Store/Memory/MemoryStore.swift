import Foundation

/// A store in memory, for tests, for sessions that must leave nothing behind, and for processes that may not write.
///
/// ```swift
/// let store = MemoryStore(limits: StoreLimits(bytes: 64 << 20))
/// ```
///
/// For data that is larger than memory or must survive the process, use ``DiskStore``.
package final class MemoryStore: ArchiveStore {
  fileprivate struct State {
    var limits: StoreLimits
    var tier = MemoryTier(holdsPinned: true)
    /// The bytes of unfinished bodies, which are in no entry yet.
    var reserved: Int64 = 0
    var lastNumber: UInt64 = 0
    /// The number of removals so far, and for each recent one its number.
    var moment: Int64 = 0
    var removals: [Int64: Int64] = [:]
    var isClosed = false
    var observers: [@Sendable (StoreEvent) -> Void] = []
    /// The events that have not been reported.
    var events: [StoreEvent] = []
  }

  private let state: Locked<State>
  package let secretBytes: [UInt8]

  /// Makes an empty store with its own key for digests.
  package init(limits: StoreLimits = StoreLimits(bytes: 64 << 20)) {
    state = Locked(State(limits: limits))
    secretBytes = Identity.newSecret()
  }

  /// Changes the state of an open store, and reports evictions.
  private func change<Value>(_ body: (inout State) throws -> Value) throws -> Value {
    let (result, events, observers) = try state.withLock { state in
      if state.isClosed { throw ArchiveError.closed }
      defer { state.events = [] }
      return (Result { try body(&state) }, state.events, state.observers)
    }
    for event in events { for observer in observers { observer(event) } }
    return try result.get()
  }

  // MARK: Looking

  /// Returns all entries of a key; never `nil`.
  package func cached(_ key: ArchiveKey) -> [StoredEntry]? {
    let digest = digest(of: key)
    return state.withLock { $0.tier.visited(digest) }.filter { $0.key == key }
  }

  package func entries(for key: ArchiveKey) async throws -> [StoredEntry] { cached(key) ?? [] }

  package func visit(_ filter: EntryFilter, _ visitor: @Sendable (StoredEntry) throws -> Bool) async throws {
    for entry in try change({ $0.tier.entries }) where filter.matches(entry) {
      guard try visitor(entry) else { return }
    }
  }

  package var usage: StoreUsage { state.withLock { $0.usage() } }

  package var moment: Int64 { state.withLock { $0.moment } }

  /// Calls a closure for evictions.
  package func observe(_ handler: @escaping @Sendable (StoreEvent) -> Void) {
    state.withLock { $0.observers.append(handler) }
  }

  // MARK: Changing

  /// Adds an entry.
  ///
  /// - Parameters:
  ///   - reserved: The bytes that were counted for its body.
  ///   - known: The former state of the entry, with a shorter body.
  ///   - moment: The value of ``moment`` when the entry was decided.
  ///   - isLast: Whether the writer is done.
  fileprivate func insert(
    _ draft: EntryDraft, _ body: Data, reserved: Int64, as known: EntryID?, since moment: Int64, isLast: Bool
  ) throws -> StoredEntry {
    let digest = digest(of: draft.key)
    return try change { state in
      var entry = StoredEntry(
        id: known ?? EntryID(number: state.lastNumber + 1, hash: digest), key: draft.key, head: draft.head,
        details: draft.details, storedBytes: 0, contents: MemoryBody(data: body))
      entry.storedBytes = Int64(MemoryTier.cost(entry))
      try state.check(entry.storedBytes)
      let isRemoved = slots(of: entry).contains { state.removals[$0] ?? 0 > moment }
      if isRemoved || known.map({ state.tier.find($0) == nil }) ?? false { throw ArchiveError.writerOvertaken }
      let replaced = (draft.replacing + [entry.id]).compactMap { state.tier.find($0) }
      for old in replaced { state.tier.drop(old.id) }
      do { try state.makeRoom(for: StoreUsage(bytes: entry.storedBytes - reserved, count: 1)) } catch {
        for old in replaced { state.tier.keep(old) }
        throw error
      }
      state.reserved -= reserved
      state.lastNumber = max(state.lastNumber, entry.id.number)
      if known == nil, !isLast { state.tier.hold(entry) } else { state.tier.keep(entry) }
      if isLast { state.tier.release(entry.id) }
      return entry
    }
  }

  @discardableResult
  package func update(_ entry: StoredEntry, head: [UInt8], details: EntryDetails) throws -> StoredEntry? {
    try change { state in
      guard var new = state.tier.find(entry.id), new.bodyLength == entry.bodyLength else { return nil }
      (new.head, new.details) = (head, details)
      new.storedBytes = Int64(MemoryTier.cost(new))
      state.tier.keep(new)
      state.evict()
      return new
    }
  }

  package func remove(_ ids: [EntryID]) { state.withLock { for id in ids { $0.tier.drop(id) } } }

  @discardableResult
  package func removeAll(_ filter: EntryFilter) async throws -> Int {
    let doomed = try change { state in
      state.moment += 1
      state.removals[slot(of: filter)] = state.moment
      return state.tier.entries
    }.filter(filter.matches)
    return try change { state in
      let before = state.tier.totals.usage.count
      for entry in doomed { state.tier.drop(entry.id) }
      return before - state.tier.totals.usage.count
    }
  }

  package var limits: StoreLimits {
    get { state.withLock { $0.limits } }
    set {
      state.withLock { $0.limits = newValue }
      try? change { $0.evict() }
    }
  }

  /// Returns at once.
  package func flush() async throws {}

  /// Removes everything.
  package func close() async {
    state.withLock { ($0.tier, $0.reserved, $0.isClosed) = (MemoryTier(), 0, true) }
  }

  // MARK: Writers

  package func makeWriter(for key: ArchiveKey, length: Int64?, since moment: Int64) throws -> any EntryWriter {
    try change { try $0.check(length ?? 0) }
    return MemoryWriter(store: self, key: key, since: moment)
  }

  /// Returns `nil`: for bodies in memory, copying is as good.
  package func resumeWriting(_ entry: StoredEntry, since moment: Int64) async throws -> (any EntryWriter)? {
    try change { _ in nil }
  }

  /// Counts more bytes of an unfinished body.
  fileprivate func reserve(_ bytes: Int64, of total: Int64) throws {
    try change { state in
      try state.check(total)
      try state.makeRoom(for: StoreUsage(bytes: bytes))
      state.reserved += bytes
    }
  }

  /// Ends a writer: its bytes no longer count, and its entry is no longer held.
  fileprivate func release(_ bytes: Int64, _ known: EntryID? = nil) {
    try? change { state in
      state.reserved -= bytes
      if let known { state.tier.release(known) }
    }
  }
}

extension MemoryStore.State {
  /// The usage that counts against the limits, with a new entry.
  fileprivate func usage(with new: StoreUsage = StoreUsage()) -> StoreUsage {
    var usage = tier.totals.usage
    usage += new
    usage.bytes += reserved
    return usage
  }

  fileprivate func check(_ bytes: Int64) throws {
    if bytes > limits.entryBytes { throw ArchiveError.entryTooLarge(bytes, limits.entryBytes) }
  }

  /// Evicts entries until there is room.
  ///
  /// - Throws: `ArchiveError.storeFull` if that is impossible; nothing is evicted then.
  fileprivate mutating func makeRoom(for new: StoreUsage) throws {
    var least = tier.totals.pinned
    least += new
    least.bytes += reserved
    if limits.isExceeded(by: least) { throw ArchiveError.storeFull }
    evict(for: new)
  }

  fileprivate mutating func evict(for new: StoreUsage = StoreUsage()) {
    guard limits.isExceeded(by: usage(with: new)) else { return }
    while limits.low.isExceeded(by: usage(with: new)), let entry = tier.evict() {
      events.append(
        StoreEvent(
          kind: .evicted, id: entry.id, url: entry.details.url, bytes: entry.storedBytes,
          reason: "made room for another entry"))
    }
  }
}

/// A body in memory.
struct MemoryBody: StoredBody {
  let data: Data

  var length: Int64 { Int64(data.count) }
  var inMemory: Data? { data }

  func opened() async throws -> any StoredBody { self }

  func read(_ range: Range<Int64>) async throws -> Data {
    guard let part = data.part(range) else { throw ArchiveError.beyondTheEnd(range, length) }
    return part
  }
}

extension Data {
  /// A part of the bytes; `nil` if the range exceeds them.
  func part(_ range: Range<Int64>) -> Data? {
    guard range.lowerBound >= 0, range.upperBound <= Int64(count) else { return nil }
    return range.count == count ? self : self[startIndex + Int(range.lowerBound)..<startIndex + Int(range.upperBound)]
  }
}

/// Collects a body in memory.
final class MemoryWriter: EntryWriter {
  private struct State {
    var body = Data()
    /// The error that ended the writer.
    var failure: (any Error)?
    /// The entry of its checkpoints.
    var known: EntryID?

    /// The bytes that the store counts for it.
    var reserved: Int64 { failure == nil ? Int64(body.count) : 0 }

    func check() throws { if let failure { throw failure } }
  }

  private let store: MemoryStore
  private let key: ArchiveKey
  private let moment: Int64
  private let state = Locked(State())

  init(store: MemoryStore, key: ArchiveKey, since moment: Int64) {
    (self.store, self.key, self.moment) = (store, key, moment)
  }

  deinit {
    let (reserved, known) = state.withLock { ($0.reserved, $0.known) }
    store.release(reserved, known)
  }

  var length: Int64 { state.withLock { Int64($0.body.count) } }

  func append(_ chunk: Data) async throws {
    let count = Int64(chunk.count)
    let length = try state.withLock { state in
      try state.check()
      return Int64(state.body.count) + count
    }
    try givingUp { try store.reserve(count, of: length) }
    state.withLock { state in if state.body.isEmpty { state.body = chunk } else { state.body.append(chunk) } }
  }

  func read(at offset: Int64, upTo limit: Int) async throws -> Data {
    state.withLock { state in
      guard offset >= 0, limit > 0, offset < state.body.count else { return Data() }
      return Data(state.body.dropFirst(Int(offset)).prefix(limit))
    }
  }

  func checkpoint(_ draft: EntryDraft) async throws -> StoredEntry { try publish(draft, isLast: false) }
  func commit(_ draft: EntryDraft) async throws -> StoredEntry { try publish(draft, isLast: true) }

  private func publish(_ draft: EntryDraft, isLast: Bool) throws -> StoredEntry {
    guard draft.key == key else { throw ArchiveError.wrongDraft }
    let (body, reserved, known) = try state.withLock { state in
      try state.check()
      return (state.body, state.reserved, state.known)
    }
    // The stored checkpoint counts in addition to the bytes of the writer.
    let entry = try givingUp {
      try store.insert(draft, body, reserved: isLast ? reserved : 0, as: known, since: moment, isLast: isLast)
    }
    state.withLock { state in
      state.known = isLast ? nil : entry.id
      if isLast { state.failure = ArchiveError.writerDone }
    }
    return entry
  }

  func abort() { giveUp(ArchiveError.writerDone) }

  /// Ends the writer if a closure throws.
  private func givingUp<Value>(_ body: () throws -> Value) throws -> Value {
    do { return try body() } catch {
      giveUp(error)
      throw error
    }
  }

  /// Ends the writer with the first error. Its bytes stay readable.
  private func giveUp(_ reason: any Error) {
    let reserved = state.withLock { state in
      defer { state.failure = state.failure ?? reason }
      return state.reserved
    }
    store.release(reserved)
  }
}

extension ArchiveError {
  static let closed = ArchiveError(.closed, "the store is closed: open another one.")
  static let readOnly = ArchiveError(
    .readOnly,
    "the archive is open for reading only: open it without isReadOnly to store.")
  static let storeFull = ArchiveError(
    .storeFull,
    "pinned entries and those being written leave no room for the entry: raise the byte limit, or unpin entries.")
  static let writerDone = ArchiveError(
    .notWritten, "a writer was used after it was committed or had given up: make another one.")
  static let wrongDraft = ArchiveError(
    .notWritten, "a writer was given a draft for a different key: make a writer for that key.")

  static func entryTooLarge(_ size: Int64, _ limit: Int64) -> ArchiveError {
    ArchiveError(
      .entryTooLarge,
      "an entry of \(size) bytes exceeds the limit of \(limit) for one entry: raise StoreLimits.entryBytes.")
  }

  static func beyondTheEnd(_ range: Range<Int64>, _ length: Int64) -> ArchiveError {
    ArchiveError(.unreadable, "bytes \(range) were requested of a stored body of \(length): request a part of it.")
  }
}
