import Foundation

/// The journal of a store: a file that only grows, until a shorter one takes its place under a name of its own.
final class Journal: Sendable {
  static let magic = "WAYLAYJ\n"
  static let version: UInt32 = 1
  /// The mark of a journal is as long as so many records.
  static let markRecords = 1

  struct State {
    var file: FileDescriptor
    var generation: UInt64
    /// The records there are, damaged ones included.
    var records: UInt64
    var isDirty = false
    /// Whether the medium once refused what was written: nobody knows what it has of it, and whether it is ever asked
    /// again. Only a journal that is written anew is to be trusted.
    var isBroken = false
    /// Whether the medium may not have the name of the file: until it has, the journal before it is what a loss of
    /// power leaves.
    var needsName = false
    /// Removals that could not be noted: they go before whatever is appended next.
    var owed: [JournalRecord] = []
    /// The shorter journal that is being made.
    var draft: Drafted?
    /// Why the last draft was given up, where it did not take what was appended.
    var abandoned: (any Error)?
    /// The last generation that a draft had: no two have the same.
    var lastDrafted: UInt64
    /// Why nothing is written any more: the file may be another store's.
    var sealed: (any Error)?

    func check() throws {
      if let sealed { throw sealed }
    }

    struct Drafted {
      let generation: UInt64
      /// What has been appended since it was begun, until it is attached.
      var tail: [JournalRecord] = []
      /// Its file once it is attached, and how many records that has.
      var file: FileDescriptor?
      var records: UInt64 = 0
    }
  }

  let folder: FileDescriptor
  let archive: UInt64
  let files: FileSystem
  let state: Locked<State>

  /// Which journal it is; the highest counts.
  static func name(_ generation: UInt64) -> String { PartitionFolder.named(generation) }

  /// The generation that a file's name says, where it is a journal's.
  static func generation(_ name: String) -> UInt64? {
    name.utf8.count == 16 ? UInt64(name, radix: 16) : nil
  }

  static func mark(_ generation: UInt64) -> [UInt8] {
    var sink = ByteSink()
    sink.put(generation)
    let bytes = FormatMark(magic: magic, version: version, payload: sink.bytes).encoded
    return bytes + [UInt8](repeating: 0, count: JournalRecord.size * markRecords - bytes.count)
  }

  static func seed(archive: UInt64, generation: UInt64) -> UInt64 { archive ^ generation }

  /// Goes on with a journal that has been read.
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
  func append(_ records: [JournalRecord]) throws {
    try state.withLock { state in
      try state.check()
      let records = state.owed.isEmpty ? records : state.owed + records
      try Self.write(records, to: state.file, from: state.records, seed: seed(state.generation), files)
      state.owed = []
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
        // They are in this journal: it goes on alone.
        abandonDraft(in: &state, error)
      }
    }
  }

  func append(_ record: JournalRecord) throws { try append([record]) }

  /// Has a record that could not be appended go before the next ones.
  func owe(_ record: JournalRecord) {
    state.withLock { state in
      guard state.sealed == nil, !state.isBroken else { return }
      state.owed.append(record)
      guard state.owed.count > 1024 else { return }
      // A disk that takes nothing at all.
      state.owed = []
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

  /// Whether the medium has refused what was written, so that the journal has to be written anew.
  var isBroken: Bool { state.withLock { $0.isBroken } }

  /// Says that the journal has to be written anew before anything in it is relied on: it lacks something.
  func setBroken() { state.withLock { if $0.sealed == nil { $0.isBroken = true } } }

  /// Brings what was written to the medium.
  ///
  /// After a failure it goes on failing until another journal has taken the place of this one: the system tells of a
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
      try bringName()
    } catch {
      state.withLock { state in
        if state.generation == found.generation { state.isBroken = true }
      }
      throw error
    }
    guard let draft = found.draft, let file = draft.file else { return }
    do {
      try files.synchronize(file)
    } catch {
      try state.withLock { state in
        if state.draft?.generation == draft.generation { return abandonDraft(in: &state, error) }
        // It has taken the place of the journal meanwhile.
        guard state.generation == draft.generation else { return }
        state.isBroken = true
        throw error
      }
    }
  }

  /// Brings the name of the file to the medium, where it took that of another.
  func bringName() throws {
    guard let generation = state.withLock({ $0.needsName ? $0.generation : nil }) else { return }
    try files.synchronize(directory: folder)
    state.withLock { state in
      if state.generation == generation { state.needsName = false }
    }
  }

  func seed(_ generation: UInt64) -> UInt64 { Self.seed(archive: archive, generation: generation) }

  static func write(
    _ records: [JournalRecord], to file: FileDescriptor, from position: UInt64, seed: UInt64, _ files: FileSystem
  ) throws {
    guard !records.isEmpty else { return }
    let bytes = [UInt8](unsafeUninitializedCapacity: records.count * JournalRecord.size) { buffer, count in
      let raw = UnsafeMutableRawBufferPointer(buffer)
      for (index, record) in records.enumerated() {
        let start = index * JournalRecord.size
        record.write(
          to: UnsafeMutableRawBufferPointer(rebasing: raw[start..<start + JournalRecord.size]),
          seed: Checksum.seed(seed, position + UInt64(index)))
      }
      count = records.count * JournalRecord.size
    }
    try files.write(bytes, to: file, at: (Int64(position) + Int64(markRecords)) * Int64(JournalRecord.size))
  }
}
