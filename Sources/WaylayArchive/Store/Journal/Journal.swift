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
    /// The shorter journal that is being made, and what has been appended since it was begun.
    var draft: (generation: UInt64, tail: [JournalRecord])?
    /// The last generation that a draft had: no two have the same.
    var lastDrafted: UInt64
    /// Nothing is written any more: the file may be another store's.
    var isSealed = false
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
    folder: FileDescriptor, archive: UInt64, files: FileSystem, file: FileDescriptor, generation: UInt64, records: UInt64
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
      guard !state.isSealed else { throw ArchiveError.closed }
      try Self.write(records, to: state.file, from: state.records, seed: seed(state.generation), files)
      state.records += UInt64(records.count)
      state.isDirty = true
      state.draft?.tail += records
    }
  }

  func append(_ record: JournalRecord) throws { try append([record]) }

  /// Has every later change fail.
  func seal() {
    state.withLock { $0.isSealed = true }
    abandonDraft()
  }

  /// Brings what was written to the medium.
  func synchronize() throws {
    let file = state.withLock { state in
      defer { state.isDirty = false }
      return state.isDirty ? state.file : nil
    }
    guard let file else { return }
    do {
      try files.synchronize(file)
    } catch {
      // Whoever asks next is told as well.
      state.withLock { $0.isDirty = true }
      throw error
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
