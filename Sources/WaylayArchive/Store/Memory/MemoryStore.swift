import Foundation

/// A store in memory, for tests, for sessions that must leave nothing behind, and for processes that may not write.
///
/// ```swift
/// let store = MemoryStore(limits: StoreLimits(bytes: 64 << 20))
/// ```
///
/// For data that is larger than memory or must survive the process, use ``DiskStore``.
package final class MemoryStore: ArchiveStore {
  struct State {
    var limits: StoreLimits
    var index = EntryIndex<StoredEntry>()
    var usage = StoreUsage()
    var nextNumber: UInt64 = 1
    var isClosed = false
    /// Entries that a writer goes on with.
    var resumed: Set<EntryID> = []
    var observers: [@Sendable (StoreEvent) -> Void] = []
  }

  private let state: Locked<State>
  private let hash: SipHash
  let secretBytes: [UInt8]
  private let keyed: KeyedDigest

  /// Makes an empty store with its own key for digests.
  ///
  /// - Parameter secret: That key; `nil` for a new one.
  package init(limits: StoreLimits = StoreLimits(bytes: 64 << 20), secret: [UInt8]? = nil) {
    state = Locked(State(limits: limits))
    secretBytes = secret ?? Identity.newSecret()
    keyed = KeyedDigest(key: secretBytes)
    hash = SipHash(key: Array(secretBytes.prefix(16)))
  }

  /// Returns all entries of a key; never `nil`.
  package func cached(_ key: ArchiveKey) -> [StoredEntry]? {
    let digest = hash.digest(key).0
    return state.withLock { state in
      if state.index.isMissing(digest) { return [] }
      return state.index.handles(digest).compactMap { handle in
        guard state.index[handle].key == key else { return nil }
        state.index.visit(handle)
        state.index[handle].hits &+= 1
        return state.index[handle]
      }
    }
  }

  /// Returns all entries of a key.
  package func entries(for key: ArchiveKey) async throws -> [StoredEntry] { cached(key) ?? [] }

  /// Stores an entry.
  @discardableResult
  package func put(_ draft: EntryDraft, body: Data) throws -> StoredEntry {
    try insert(draft, contents: MemoryBody(data: body), reserved: 0, replacing: draft.replacing)
  }

  /// Starts an entry whose body follows.
  package func makeWriter(for key: ArchiveKey, length: Int64?) throws -> any EntryWriter {
    let (isClosed, limit) = state.withLock { ($0.isClosed, $0.limits.entryBytes) }
    if isClosed { throw ArchiveError.closed }
    if let length, length > limit { throw ArchiveError.entryTooLarge(length, limit) }
    return MemoryWriter(store: self, key: key)
  }

  /// Returns a writer that appends to a stored body; `nil` if another one is doing so, or if the body is now longer
  /// than `entry` says.
  package func resumeWriting(_ entry: StoredEntry) async throws -> (any EntryWriter)? {
    let body = try state.withLock { state -> Data? in
      if state.isClosed { throw ArchiveError.closed }
      guard let handle = find(entry.id, in: &state), state.index[handle].bodyLength == entry.bodyLength,
        let body = state.index[handle].contents.inMemory, state.resumed.insert(entry.id).inserted
      else { return nil }
      state.index.setPinned(true, handle)
      return body
    }
    guard let body else { return nil }
    let writer = MemoryWriter(store: self, key: entry.key, known: entry.id)
    try await writer.append(body)
    return writer
  }

  /// Replaces the head of an entry.
  @discardableResult
  package func update(_ entry: StoredEntry, head: [UInt8], details: EntryDetails) throws -> StoredEntry? {
    try state.withLock { state in
      if state.isClosed { throw ArchiveError.closed }
      guard let handle = find(entry.id, in: &state), state.index[handle].bodyLength == entry.bodyLength else {
        return nil
      }
      let old = state.index[handle]
      let new = StoredEntry(
        id: old.id, key: old.key, head: head, details: details, hits: old.hits,
        storedBytes: Self.size(head: head, key: old.key, body: old.bodyLength), contents: old.contents)
      state.index[handle] = new
      state.index.setPinned(details.isPinned || state.resumed.contains(old.id), handle)
      state.usage.bytes += new.storedBytes - old.storedBytes
      return new
    }
  }

  /// Removes entries.
  package func remove(_ ids: [EntryID]) {
    state.withLock { state in
      for id in ids { _ = drop(id, in: &state) }
    }
  }

  /// Visits the entries that match a filter, oldest first.
  package func visit(_ filter: EntryFilter, _ visitor: @Sendable (StoredEntry) throws -> Bool) async throws {
    let all = try state.withLock { state in
      if state.isClosed { throw ArchiveError.closed }
      return state.index.handles.map { state.index[$0] }
    }
    for entry in all where filter.matches(entry) {
      guard try visitor(entry) else { return }
    }
  }

  /// Removes the entries that match a filter.
  @discardableResult
  package func removeAll(_ filter: EntryFilter) async throws -> Int {
    let all = try state.withLock { state in
      if state.isClosed { throw ArchiveError.closed }
      return state.index.handles.map { state.index[$0] }
    }
    let doomed = all.filter(filter.matches).map(\.id)
    return state.withLock { state in doomed.count { drop($0, in: &state) } }
  }

  /// The limits of the store; see ``ArchiveStore/limits``.
  package var limits: StoreLimits {
    get { state.withLock { $0.limits } }
    set {
      let events = state.withLock { state in
        state.limits = newValue
        return makeRoom(in: &state)
      }
      report(events)
    }
  }

  /// The current usage of the store.
  package var usage: StoreUsage { state.withLock { $0.usage } }

  /// Returns a digest under the store's own key.
  package func digest(_ bytes: [UInt8]) -> [UInt8] { keyed.of(bytes) }

  /// Calls a closure for evictions and refusals.
  package func observe(_ handler: @escaping @Sendable (StoreEvent) -> Void) {
    state.withLock { $0.observers.append(handler) }
  }

  /// Returns at once.
  package func flush() async throws {}

  /// Removes everything.
  package func close() async {
    state.withLock { state in
      state.index.removeAll()
      state.usage = StoreUsage()
      state.isClosed = true
    }
  }
}

extension MemoryStore {
  static func size(head: [UInt8], key: ArchiveKey, body: Int64) -> Int64 {
    // The table, the arrays and what else an entry takes, roughly.
    Int64(head.count + key.bytes.count + 256) + body
  }

  /// Takes or gives back room for a body on its way.
  func reserve(_ bytes: Int64, of total: Int64) throws {
    let outcome = state.withLock { state -> Result<[StoreEvent], ArchiveError> in
      if state.isClosed { return bytes > 0 ? .failure(.closed) : .success([]) }
      let limit = state.limits.entryBytes
      if bytes > 0, total > limit { return .failure(.entryTooLarge(total, limit)) }
      state.usage.bytes += bytes
      let events = makeRoom(in: &state)
      if bytes > 0, state.limits.isExceeded(by: state.usage) {
        state.usage.bytes -= bytes
        return .failure(.storeFull)
      }
      return .success(events)
    }
    report(try outcome.get())
  }

  /// Enters a finished entry, whose body has already been counted up to `reserved`.
  ///
  /// - Parameters:
  ///   - known: The entry that it is already, with a shorter body.
  ///   - isLast: Whether its writer goes on no more.
  func insert(
    _ draft: EntryDraft, contents: any StoredBody, reserved: Int64, replacing: [EntryID], as known: EntryID? = nil,
    isLast: Bool = true
  ) throws -> StoredEntry {
    let digest = hash.digest(draft.key).0
    let size = Self.size(head: draft.head, key: draft.key, body: contents.length)
    let outcome = state.withLock { state -> Result<(StoredEntry, [StoreEvent]), ArchiveError> in
      if state.isClosed { return .failure(.closed) }
      let limit = state.limits.entryBytes
      if size > limit { return .failure(.entryTooLarge(size, limit)) }
      if let known, find(known, in: &state) == nil { return .failure(.writerOvertaken) }
      for id in replacing { _ = drop(id, in: &state) }
      if let known { _ = drop(known, in: &state) }
      state.usage.bytes += size - reserved
      state.usage.count += 1
      let events = makeRoom(in: &state)
      guard !state.limits.isExceeded(by: state.usage) else {
        state.usage.bytes -= size - reserved
        state.usage.count -= 1
        return .failure(.storeFull)
      }
      let id = known ?? EntryID(number: state.nextNumber, hash: digest)
      if known == nil { state.nextNumber += 1 }
      let entry = StoredEntry(
        id: id, key: draft.key, head: draft.head, details: draft.details, storedBytes: size, contents: contents)
      if isLast { state.resumed.remove(id) } else { state.resumed.insert(id) }
      state.index.insert(entry, hash: digest, isPinned: draft.details.isPinned || !isLast)
      return .success((entry, events))
    }
    let (entry, events) = try outcome.get()
    report(events)
    return entry
  }

  /// Ends a writer's hold on an entry.
  func release(_ id: EntryID) {
    state.withLock { state in
      guard state.resumed.remove(id) != nil, let handle = find(id, in: &state) else { return }
      state.index.setPinned(state.index[handle].details.isPinned, handle)
    }
  }

  private func makeRoom(in state: inout State) -> [StoreEvent] {
    guard state.limits.isExceeded(by: state.usage) else { return [] }
    var events: [StoreEvent] = []
    let low = state.limits.low
    while low.isExceeded(by: state.usage), let handle = state.index.victim() {
      let entry = state.index.remove(handle)
      state.usage.bytes -= entry.storedBytes
      state.usage.count -= 1
      events.append(
        StoreEvent(
          .evicted, id: entry.id, url: entry.details.url, bytes: entry.storedBytes,
          reason: "made room for another entry"))
    }
    return events
  }

  private func report(_ events: [StoreEvent]) {
    guard !events.isEmpty else { return }
    let observers = state.withLock { $0.observers }
    for event in events { for observer in observers { observer(event) } }
  }

  private func find(_ id: EntryID, in state: inout State) -> EntryIndex<StoredEntry>.Handle? {
    state.index.first(id.hash) { $0.id == id }
  }

  private func drop(_ id: EntryID, in state: inout State) -> Bool {
    guard let handle = find(id, in: &state) else { return false }
    state.usage.bytes -= state.index.remove(handle).storedBytes
    state.usage.count -= 1
    return true
  }
}

extension ArchiveError {
  static let closed = ArchiveError(.closed, "the store is closed: open another one.")
  static let readOnly = ArchiveError(
    .readOnly,
    "the store is open for reading only, because another process writes to it: store there, or in another directory.")
  static let storeFull = ArchiveError(
    .storeFull,
    "pinned entries and those being written leave no room for the entry: raise the byte limit, or unpin entries.")

  static func entryTooLarge(_ size: Int64, _ limit: Int64) -> ArchiveError {
    ArchiveError(
      .entryTooLarge,
      "an entry of \(size) bytes exceeds the limit of \(limit) for one entry: raise StoreLimits.entryBytes.")
  }
}

/// A body in memory.
struct MemoryBody: StoredBody {
  let data: Data

  var length: Int64 { Int64(data.count) }
  var inMemory: Data? { data }

  func read(_ range: Range<Int64>) async throws -> Data {
    guard range.lowerBound >= 0, range.upperBound <= length else { throw ArchiveError.beyondTheEnd(range, length) }
    guard range.count < data.count else { return data }
    return data[data.startIndex + Int(range.lowerBound)..<data.startIndex + Int(range.upperBound)]
  }
}

extension ArchiveError {
  static func beyondTheEnd(_ range: Range<Int64>, _ length: Int64) -> ArchiveError {
    ArchiveError(.unreadable, "bytes \(range) were requested of a stored body of \(length): request a part of it.")
  }
}

/// Collects a body in memory.
final class MemoryWriter: EntryWriter {
  private struct State {
    var body = Data()
    var reserved: Int64 = 0
    var failure: (any Error)?
    var isDone = false
    /// The entry that this writer's checkpoints are, or that it goes on from.
    var known: EntryID?

    func check() throws {
      if let failure { throw failure }
      if isDone { throw ArchiveError.writerDone }
    }
  }

  private let store: MemoryStore
  private let key: ArchiveKey
  private let state: Locked<State>

  init(store: MemoryStore, key: ArchiveKey, known: EntryID? = nil) {
    self.store = store
    self.key = key
    state = Locked(State(known: known))
  }

  deinit {
    abort()
    if let known = state.withLock({ $0.isDone ? nil : $0.known }) { store.release(known) }
  }

  var length: Int64 { state.withLock { Int64($0.body.count) } }

  func append(_ chunk: Data) async throws {
    let length = try state.withLock { state in
      try state.check()
      return Int64(state.body.count) + Int64(chunk.count)
    }
    do {
      try store.reserve(Int64(chunk.count), of: length)
    } catch {
      giveUp(error)
      throw error
    }
    state.withLock { state in
      if state.body.isEmpty { state.body = chunk } else { state.body.append(chunk) }
      state.reserved += Int64(chunk.count)
    }
  }

  func read(at offset: Int64, upTo limit: Int) async throws -> Data {
    state.withLock { state in
      guard offset >= 0, limit > 0, offset < state.body.count else { return Data() }
      return Data(state.body.dropFirst(Int(offset)).prefix(limit))
    }
  }

  func checkpoint(_ draft: EntryDraft) async throws -> StoredEntry {
    guard draft.key == key else { throw ArchiveError.wrongDraft }
    // The writer keeps its own reservation: the checkpoint's copy counts by itself.
    let (body, known) = try state.withLock { state in
      try state.check()
      return (state.body, state.known)
    }
    do {
      let entry = try store.insert(
        draft, contents: MemoryBody(data: body), reserved: 0, replacing: draft.replacing.filter { $0 != known },
        as: known, isLast: false)
      state.withLock { $0.known = entry.id }
      return entry
    } catch {
      giveUp(error)
      throw error
    }
  }

  func commit(_ draft: EntryDraft) async throws -> StoredEntry {
    guard draft.key == key else { throw ArchiveError.wrongDraft }
    let (body, reserved, known) = try state.withLock { state in
      try state.check()
      return (state.body, state.reserved, state.known)
    }
    do {
      let entry = try store.insert(
        draft, contents: MemoryBody(data: body), reserved: reserved, replacing: draft.replacing.filter { $0 != known },
        as: known)
      state.withLock { state in
        state.isDone = true
        state.reserved = 0
      }
      return entry
    } catch {
      giveUp(error)
      throw error
    }
  }

  func abort() { giveUp(ArchiveError.writerDone) }

  /// Fails from now on, with the first reason that there was.
  private func giveUp(_ reason: any Error) {
    let reserved = state.withLock { state in
      state.failure = state.failure ?? reason
      // What is there stays readable as long as somebody holds the writer.
      defer { state.reserved = 0 }
      return state.isDone ? 0 : state.reserved
    }
    if reserved > 0 { try? store.reserve(-reserved, of: 0) }
  }
}

extension ArchiveError {
  static let writerDone = ArchiveError(
    .notWritten, "a writer was used after it was committed or had given up: make another one.")
  static let wrongDraft = ArchiveError(
    .notWritten, "a writer was given a draft for a different key: make a writer for that key.")
}
