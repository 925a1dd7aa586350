import Foundation

/// The log of a store: a file that only grows, until a shorter one takes its place under a name of its own.
final class StoreLog: Sendable {
  static let magic = "WAYLAYJ\n"
  static let version: UInt32 = 1
  /// The mark of a log is as long as so many records.
  static let markRecords = 1

  struct State {
    var file: FileDescriptor
    var generation: UInt64
    /// The records there are, damaged ones included.
    var records: UInt64
    var isDirty = false
    /// Whether the disk once refused what was written: nobody knows what it has of it, and whether it is ever asked
    /// again. Only a log that is written anew is to be trusted.
    var isBroken = false
    /// Whether the disk may not have the name of the file: until it has, the log before it is what a loss of
    /// power leaves.
    var needsName = false
    /// Removals that could not be noted: they go before whatever is appended next.
    var deferred: [LogRecord] = []
    /// The shorter log that is being made.
    var draft: Drafted?
    /// Why the last draft was given up, where it did not take what was appended.
    var abandoned: (any Error)?
    /// The last generation that a draft had: no two have the same.
    var lastDrafted: UInt64
    /// Why nothing is written any more: the file may be another store's.
    var sealed: (any Error)?

    func check() throws { if let sealed { throw sealed } }

    struct Drafted {
      let generation: UInt64
      /// What has been appended since it was begun, until it is attached.
      var tail: [LogRecord] = []
      /// Its file once it is attached, and how many records that has.
      var file: FileDescriptor?
      var records: UInt64 = 0
    }
  }

  let folder: FileDescriptor
  let archive: UInt64
  let files: FileSystem
  let state: Locked<State>

  /// Which log it is; the highest counts.
  static func name(_ generation: UInt64) -> String { PartitionFolder.named(generation) }

  /// The generation that a file's name says, where it is a log's.
  static func generation(_ name: String) -> UInt64? { name.utf8.count == 16 ? UInt64(name, radix: 16) : nil }

  static func mark(_ generation: UInt64) -> [UInt8] {
    var sink = ByteSink()
    sink.put(generation)
    let bytes = FormatMark(magic: magic, version: version, payload: sink.bytes).encoded
    return bytes + [UInt8](repeating: 0, count: LogRecord.size * markRecords - bytes.count)
  }

  static func seed(archive: UInt64, generation: UInt64) -> UInt64 { archive ^ generation }

  /// Goes on with a log that has been read.
  init(
    folder: FileDescriptor, archive: UInt64, files: FileSystem, file: FileDescriptor, generation: UInt64,
    records: UInt64
  ) {
    self.folder = folder
    self.archive = archive
    self.files = files
    state = Locked(State(file: file, generation: generation, records: records, lastDrafted: generation))
  }

  var records: UInt64 { state.withLock { $0.records } }
  var generation: UInt64 { state.withLock { $0.generation } }

  /// Adds records. After a failure the next ones take their place.
  func append(_ records: [LogRecord]) throws {
    try state.withLock { state in
      try state.check()
      let records = state.deferred.isEmpty ? records : state.deferred + records
      try Self.write(records, to: state.file, from: state.records, seed: seed(state.generation), files)
      state.deferred = []
      state.records += UInt64(records.count)
      state.isDirty = true
      guard let draft = state.draft else { return }
      guard let file = draft.file else {
        state.draft?.tail += records
        return
      }
      do {
        try Self.write(records, to: file, from: draft.records, seed: seed(draft.generation), files)
        state.draft?.records += UInt64(records.count)
      } catch {
        // They are in this log: it goes on alone.
        abandonDraft(in: &state, error)
      }
    }
  }

  func append(_ record: LogRecord) throws { try append([record]) }

  /// Has a record that could not be appended go before the next ones.
  func appendLater(_ record: LogRecord) {
    state.withLock { state in
      guard state.sealed == nil, !state.isBroken else { return }
      state.deferred.append(record)
      guard state.deferred.count > 1024 else { return }
      // A disk that takes nothing at all.
      state.deferred = []
      state.isBroken = true
    }
  }

  /// Has every later change fail.
  func seal(_ reason: any Error) {
    state.withLock { state in
      state.sealed = state.sealed ?? reason
      abandonDraft(in: &state)
    }
  }

  /// Whether the disk has refused what was written, so that the log has to be written anew.
  var isBroken: Bool { state.withLock { $0.isBroken } }

  /// Says that the log has to be written anew before anything in it is relied on: it lacks something.
  func setBroken() { state.withLock { if $0.sealed == nil { $0.isBroken = true } } }

  /// Syncs what was written to the disk.
  ///
  /// After a failure it goes on failing until another log has taken the place of this one: the system tells of a
  /// failure once, and then takes what was lost for written.
  func synchronize() throws {
    let found = try state.withLock { state -> (file: FileDescriptor, draft: State.Drafted?, generation: UInt64)? in
      guard state.isDirty || state.needsName || state.isBroken else { return nil }
      try state.check()
      if state.isBroken { throw SystemError("sync", code: EIO) }
      state.isDirty = false
      return (state.file, state.draft, state.generation)
    }
    guard let found else { return }
    do {
      try files.synchronize(found.file)
      try syncName()
    } catch {
      state.withLock { state in if state.generation == found.generation { state.isBroken = true } }
      throw error
    }
    guard let draft = found.draft, let file = draft.file else { return }
    do {
      try files.synchronize(file)
    } catch {
      try state.withLock { state in
        if state.draft?.generation == draft.generation { return abandonDraft(in: &state, error) }
        // It has taken the place of the log meanwhile.
        guard state.generation == draft.generation else { return }
        state.isBroken = true
        throw error
      }
    }
  }

  /// Syncs the name of the file to the disk, where it took that of another.
  func syncName() throws {
    guard let generation = state.withLock({ $0.needsName ? $0.generation : nil }) else { return }
    try files.synchronize(directory: folder)
    state.withLock { state in if state.generation == generation { state.needsName = false } }
  }

  func seed(_ generation: UInt64) -> UInt64 { Self.seed(archive: archive, generation: generation) }

  static func write(
    _ records: [LogRecord], to file: FileDescriptor, from position: UInt64, seed: UInt64, _ files: FileSystem
  ) throws {
    guard !records.isEmpty else { return }
    let bytes = [UInt8](unsafeUninitializedCapacity: records.count * LogRecord.size) { buffer, count in
      let raw = UnsafeMutableRawBufferPointer(buffer)
      for (index, record) in records.enumerated() {
        let start = index * LogRecord.size
        record.write(
          to: UnsafeMutableRawBufferPointer(rebasing: raw[start..<start + LogRecord.size]),
          seed: Checksum.seed(seed, position + UInt64(index)))
      }
      count = records.count * LogRecord.size
    }
    try files.write(bytes, to: file, at: (Int64(position) + Int64(markRecords)) * Int64(LogRecord.size))
  }
}

extension StoreLog {
  /// A shorter log that is to take the place of this one. It has a name under which nobody reads it until it is
  /// whole.
  struct Draft: Sendable {
    let generation: UInt64
    fileprivate let file: FileDescriptor
    fileprivate(set) var records: UInt64 = 0
  }

  private func draftName(_ generation: UInt64) -> String { Self.name(generation) + ".new" }

  /// Begins a shorter log. What is appended from now on will be in it too, so that it may take its time.
  ///
  /// One at a time, finished or abandoned by its caller. In this order: ``write(_:to:)``, ``attach(_:rest:)``,
  /// ``synchronize(_:)``, ``finish(_:)``, ``removeOthers()``.
  func beginDraft() throws -> Draft {
    let generation = try state.withLock { state in
      try state.check()
      abandonDraft(in: &state)
      state.lastDrafted &+= 1
      state.draft = State.Drafted(generation: state.lastDrafted)
      return state.lastDrafted
    }
    try files.remove(draftName(generation), in: folder)
    let file = try files.create(draftName(generation), in: folder)
    try files.write(Self.mark(generation), to: file, at: 0)
    return Draft(generation: generation, file: file)
  }

  /// Writes records of what is there; one thread does.
  func write(_ records: [LogRecord], to draft: inout Draft) throws {
    try Self.write(records, to: draft.file, from: draft.records, seed: seed(draft.generation), files)
    draft.records += UInt64(records.count)
  }

  /// Has everything that is appended from now on written to both logs: whatever is synced of this one from now on is
  /// synced of the draft too, so that the change of names takes nothing back.
  ///
  /// - Parameter rest: The records of loose files, asked for when nothing is appended.
  func attach(_ draft: Draft, rest: () -> [LogRecord]) throws {
    try state.withLock { state in
      guard let known = state.draft, known.generation == draft.generation else { return }
      let records = known.tail + rest()
      try Self.write(records, to: draft.file, from: draft.records, seed: seed(draft.generation), files)
      state.draft?.tail = []
      state.draft?.file = draft.file
      state.draft?.records = draft.records + UInt64(records.count)
    }
  }

  /// Syncs a draft to the disk, however long that takes: without this, a loss of power after the
  /// change of names could leave an empty log.
  func synchronize(_ draft: Draft) throws { try files.synchronize(draft.file) }

  /// Puts a draft in the place of this log. The old one stays until ``removeOthers()``.
  ///
  /// - Throws: Also why the draft was given up meanwhile.
  func finish(_ draft: Draft) throws {
    try state.withLock { state in
      try state.check()
      guard let known = state.draft, known.generation == draft.generation, let file = known.file else {
        throw state.abandoned ?? SystemError("rename", code: ENOENT)
      }
      try files.rename(draftName(draft.generation), to: Self.name(draft.generation), in: folder)
      state = State(
        file: file, generation: draft.generation, records: known.records, isDirty: true, needsName: true,
        deferred: state.deferred, lastDrafted: state.lastDrafted)
    }
  }

  /// Removes the logs that this one has taken the place of, once it is on the disks name.
  func removeOthers() throws {
    let generation = try state.withLock { state in
      try state.check()
      return state.generation
    }
    try syncName()
    for name in try files.names(in: folder) where Self.generation(name).map({ $0 < generation }) == true {
      try files.remove(name, in: folder)
    }
  }

  /// Gives up the draft there is, if any.
  func abandonDraft() { state.withLock { abandonDraft(in: &$0) } }

  func abandonDraft(in state: inout State, _ reason: (any Error)? = nil) {
    guard let draft = state.draft else { return }
    state.draft = nil
    state.abandoned = reason
    try? files.remove(draftName(draft.generation), in: folder)
  }
}
