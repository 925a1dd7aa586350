import Foundation

extension Journal {
  /// A shorter journal that is to take the place of this one. It has a name under which nobody reads it until it is whole.
  struct Draft: Sendable {
    let generation: UInt64
    fileprivate let file: FileDescriptor
    fileprivate var records: UInt64 = 0
  }

  private func draftName(_ generation: UInt64) -> String { Self.name(generation) + ".new" }

  /// Begins a shorter journal. What is appended from now on will be in it too, so that it may take its time.
  ///
  /// One at a time, which whoever began it finishes or abandons.
  func beginDraft() throws -> Draft {
    let generation = try state.withLock { state in
      guard !state.isSealed else { throw ArchiveError.closed }
      state.lastDrafted &+= 1
      state.draft = (state.lastDrafted, [])
      return state.lastDrafted
    }
    try? files.remove(draftName(generation), in: folder)
    let file = try files.create(draftName(generation), in: folder)
    try files.write(Self.mark(generation), to: file, at: 0)
    return Draft(generation: generation, file: file)
  }

  /// Writes records of what is there; one thread does.
  func write(_ records: [JournalRecord], to draft: inout Draft) throws {
    try Self.write(records, to: draft.file, from: draft.records, seed: seed(draft.generation), files)
    draft.records += UInt64(records.count)
  }

  /// Brings a draft to the medium, which may take as long as the medium likes: without this, a loss of power after the change of names
  /// could leave an empty journal.
  func synchronize(_ draft: Draft) throws { try files.synchronize(draft.file) }

  /// Puts a draft in the place of this journal, unless it was abandoned.
  ///
  /// - Parameter rest: The records of loose files, asked for when nothing can be appended to the old journal any more.
  func finish(_ draft: Draft, rest: () -> [JournalRecord]) throws {
    let old = try state.withLock { state -> UInt64? in
      guard !state.isSealed, let current = state.draft, current.generation == draft.generation else { return nil }
      let records = current.tail + rest()
      try Self.write(records, to: draft.file, from: draft.records, seed: seed(draft.generation), files)
      try files.rename(draftName(draft.generation), to: Self.name(draft.generation), in: folder)
      defer {
        state = State(
          file: draft.file, generation: draft.generation, records: draft.records + UInt64(records.count), isDirty: true,
          lastDrafted: state.lastDrafted)
      }
      return state.generation
    }
    if let old { try? files.remove(Self.name(old), in: folder) }
  }

  /// Gives up the draft there is, if any.
  func abandonDraft() {
    state.withLock { state in
      guard let draft = state.draft else { return }
      state.draft = nil
      try? files.remove(draftName(draft.generation), in: folder)
    }
  }
}
