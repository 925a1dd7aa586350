import Foundation
import Logging
import StoreFaults
import WaylayCore

@testable import WaylayArchive

/// What the steps of a schedule work on: a directory, the stores that have been opened in it, and writers that are
/// under way.
final class World: Sendable {
  struct Handle {
    let number: Int
    let store: any ArchiveStore
    let incarnation: Int
    let isReader: Bool
    let hold: Hold

    var name: String { "\(isReader ? "reader" : "store") \(number)" }
  }

  /// What has become of a store, also of one that was released and that somebody still works with.
  struct Marks {
    /// From when on it may fail because it is being closed, and when it surely was closed.
    var leaving: Int?
    var closed: Int?
    /// From when on its directory may be gone, or another's: nothing that it says is a promise then, but what it gives
    /// out is still of the archive that it was opened for, and it does nothing to another one.
    var orphaned: Int?

    var isWhole: Bool { leaving == nil && orphaned == nil }
  }

  /// What a store holds as long as it is there.
  final class Hold: Sendable {}

  struct Writer {
    let writer: any EntryWriter
    let handle: Int
    let key: Int
    let version: Int
  }

  struct State {
    var history = History()
    var incarnation = 0
    var handles: [Handle] = []
    var marks: [Int: Marks] = [:]
    /// Stores that were released without being closed.
    var departing: [Weak] = []
    var writers: [Int: Writer] = [:]
    var lastWriter = 0
    /// Whether somebody opens, removes or replaces the directory just now, and whether it is one of the latter.
    var isBusy = false
    var isMoving = false
    var lines = 0
  }

  struct Weak: Sendable {
    weak var hold: Hold?
  }

  static let mostLines = 400

  let directory: URL
  let limits: StoreLimits
  let isSmall: Bool
  let isInMemory: Bool
  let brake = Brake()
  let state = Locked(State())

  init(_ directory: URL, _ dice: inout Dice) {
    self.directory = directory
    isInMemory = dice.chance(10)
    isSmall = dice.chance(20)
    limits =
      isSmall
      ? StoreLimits(bytes: 200_000, count: 6, entryBytes: 160_000) : StoreLimits(bytes: 64 << 20, entryBytes: 8 << 20)
  }

  func options(_ dice: inout Dice, isReader: Bool, _ hold: Hold) -> DiskStore.Options {
    var options = DiskStore.Options(
      limits: limits, memory: dice.chance(50) ? 0 : 1 << 20, compressesText: dice.chance(20), isReadOnly: isReader,
      logger: Logger(label: "overlap") { _ in LineCounter(world: self, hold: hold) })
    if !isReader { options.system = FailingSystem { [brake] call in brake.pass(call) } }
    return options
  }

  func violate(_ what: String) { state.withLock { $0.history.violate(what) } }

  func note(_ what: @autoclosure () -> String) { state.withLock { $0.history.note(what()) } }

  // MARK: Handles

  /// Takes a store in. Says `false` when the directory has been moved since `incarnation` was it, or is being moved:
  /// then nobody knows whose the store is.
  @discardableResult
  func add(_ store: any ArchiveStore, isReader: Bool, _ hold: Hold, since incarnation: Int? = nil) -> Bool {
    let number = state.withLock { state -> Int? in
      if let incarnation, state.isMoving || state.incarnation != incarnation { return nil }
      let number = state.history.tick()
      state.handles.append(
        Handle(number: number, store: store, incarnation: state.incarnation, isReader: isReader, hold: hold))
      state.marks[number] = Marks()
      return number
    }
    guard let number else { return false }
    store.observe { [weak self] event in
      guard let self, let id = event.id else { return }
      if event.kind == .evicted { state.withLock { $0.history.evict(id) } }
      if event.kind == .damaged, marks(number).orphaned == nil {
        violate("store \(number): entry \(id) was found damaged: \(event.reason)")
      }
    }
    return true
  }

  func marks(_ number: Int) -> Marks { state.withLock { $0.marks[number] ?? Marks() } }

  /// One of the handles that are wanted.
  func handle(_ dice: inout Dice, where isWanted: (Handle, Marks) -> Bool = { _, _ in true }) -> Handle? {
    let all = state.withLock { state in state.handles.filter { isWanted($0, state.marks[$0.number] ?? Marks()) } }
    return all.isEmpty ? nil : all[dice.roll(all.count)]
  }

  func handle(_ number: Int) -> Handle? { state.withLock { $0.handles.first { $0.number == number } } }

  /// Says of an error whether a store may give it as it is now.
  func judge(_ error: any Error, _ what: String, _ handle: Handle, expected: Set<ArchiveError.Code> = []) {
    let now = marks(handle.number)
    guard let error = error as? ArchiveError else { return violate("\(handle.name), \(what): \(error)") }
    if expected.contains(error.code) || now.orphaned != nil { return }
    if now.leaving != nil, [.closed, .unreadable].contains(error.code) { return }
    if isSmall, [.storeFull, .entryTooLarge].contains(error.code) { return }
    if handle.isReader, error.code == .readOnly { return }
    // Released meanwhile: nobody knows any more what had become of it.
    if self.handle(handle.number) == nil, [.closed, .unreadable, .directoryUnusable].contains(error.code) { return }
    violate("\(handle.name), \(what): \(error)")
  }

  // MARK: Writers

  func keep(_ writer: any EntryWriter, _ handle: Handle, key: Int, version: Int) {
    state.withLock { state in
      state.lastWriter += 1
      state.writers[state.lastWriter] = Writer(writer: writer, handle: handle.number, key: key, version: version)
    }
  }

  /// Takes a writer out, so that one task at a time has it.
  func takeWriter(_ dice: inout Dice) -> Writer? {
    let numbers = state.withLock { $0.writers.keys.sorted() }
    guard !numbers.isEmpty else { return nil }
    let number = numbers[dice.roll(numbers.count)]
    return state.withLock { $0.writers.removeValue(forKey: number) }
  }

  func giveBack(_ writer: Writer) {
    state.withLock { state in
      state.lastWriter += 1
      state.writers[state.lastWriter] = writer
    }
  }

  // MARK: The directory

  /// Has nobody else move the directory meanwhile, nor open it with the same regard; does nothing when somebody does.
  func alone(_ work: () async -> Void) async {
    let isFree = state.withLock { state in
      defer { state.isBusy = true }
      return !state.isBusy
    }
    guard isFree else { return }
    await work()
    state.withLock { $0.isBusy = false }
  }
}

/// Counts what is logged: a store that spins says so, again and again.
private struct LineCounter: LogHandler {
  let world: World
  /// Only the store itself has this one: what it opened may be held longer by others.
  let hold: World.Hold
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level = .info

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    world.state.withLock { state in
      state.lines += 1
      state.history.note("log: \(event.message)")
      if state.lines == World.mostLines {
        state.history.violate("\(World.mostLines) lines were logged, the last one: \(event.message)")
      }
    }
  }
}

/// Holds up one call of a store now and then, so that what comes after overlaps with it.
final class Brake: Sendable {
  private struct State {
    var call: FailingSystem.Call?
    var isHolding = false
  }

  private let state = Locked(State())
  private let permit = DispatchSemaphore(value: 0)

  /// The next call of a kind waits until ``release()``; not for ever, because the caller of release may need the
  /// thread.
  func hold(_ call: FailingSystem.Call) {
    state.withLock { if !$0.isHolding { $0.call = call } }
  }

  var isOn: Bool { state.withLock { $0.call != nil || $0.isHolding } }

  func release() {
    let wasHolding = state.withLock { state in
      state.call = nil
      defer { state.isHolding = false }
      return state.isHolding
    }
    if wasHolding { permit.signal() }
  }

  func pass(_ call: FailingSystem.Call) -> FailingSystem.Fault? {
    let holds = state.withLock { state in
      guard state.call == call, !state.isHolding else { return false }
      state.call = nil
      state.isHolding = true
      return true
    }
    guard holds else { return nil }
    if permit.wait(timeout: .now() + 0.2) == .timedOut {
      let isMine = state.withLock { state in
        defer { state.isHolding = false }
        return state.isHolding
      }
      // Released in the same moment: its signal is on its way.
      if !isMine { permit.wait() }
    }
    return nil
  }
}
