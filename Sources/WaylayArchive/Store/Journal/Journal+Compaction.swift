import Foundation

extension Journal {
  /// A shorter journal that is to take the place of this one. It has a name under which nobody reads it until it is
  /// whole.
  struct Draft: Sendable {
    let generation: UInt64
    fileprivate let file: FileDescriptor
    fileprivate(set) var records: UInt64 = 0
  }

  private func draftName(_ generation: UInt64) -> String { Self.name(generation) + ".new" }

  /// Begins a shorter journal. What is appended from now on will be in it too, so that it may take its time.
  ///
  /// One at a time, which whoever began it finishes or abandons. In this order: ``write(_:to:)``, ``attach(_:rest:)``,
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
  func write(_ records: [JournalRecord], to draft: inout Draft) throws {
    try Self.write(records, to: draft.file, from: draft.records, seed: seed(draft.generation), files)
    draft.records += UInt64(records.count)
  }

  /// Has everything that is appended from now on written to both journals: whatever is brought to the medium of this
  /// one from now on is brought there of the draft too, so that the change of names takes nothing back.
  ///
  /// - Parameter rest: The records of loose files, asked for when nothing is appended.
  func attach(_ draft: Draft, rest: () -> [JournalRecord]) throws {
    try state.withLock { state in
      guard let known = state.draft, known.generation == draft.generation else { return }
      let records = known.tail + rest()
      try Self.write(records, to: draft.file, from: draft.records, seed: seed(draft.generation), files)
      state.draft?.tail = []
      state.draft?.file = draft.file
      state.draft?.records = draft.records + UInt64(records.count)
    }
  }

  /// Brings a draft to the medium, which may take as long as the medium likes: without this, a loss of power after the
  /// change of names could leave an empty journal.
  func synchronize(_ draft: Draft) throws { try files.synchronize(draft.file) }

  /// Puts a draft in the place of this journal. The old one stays until ``removeOthers()``.
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
        owed: state.owed,
        lastDrafted: state.lastDrafted)
    }
  }

  /// Removes the journals that this one has taken the place of, once the medium has its name.
  func removeOthers() throws {
    let generation = try state.withLock { state in
      try state.check()
      return state.generation
    }
    try bringName()
    for name in try files.names(in: folder) where Self.generation(name).map({ $0 < generation }) == true {
      try files.remove(name, in: folder)
    }
  }

  /// Gives up the draft there is, if any.
  func abandonDraft() {
    state.withLock { abandonDraft(in: &$0) }
  }

  func abandonDraft(in state: inout State, _ reason: (any Error)? = nil) {
    guard let draft = state.draft else { return }
    state.draft = nil
    state.abandoned = reason
    try? files.remove(draftName(draft.generation), in: folder)
  }
}
