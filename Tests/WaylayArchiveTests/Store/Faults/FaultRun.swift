import Foundation
import StoreFaults
import TestOrigin
import WaylayCore

@testable import WaylayArchive

/// Lives a session again and again, with another call failing, or another moment the last, each time.
struct FaultRun: Sendable {
  let session: FaultSession
  var seed: UInt64 = 2026
  /// One call in so many is made to fail, and one moment in so many looked at.
  var stride = 1
  /// How many errors of each call are tried, of those it can have.
  var variants = 7
  /// How many losses of power there are at each moment.
  var losses = 12
  /// Whether what a failing call kept from being stored may be gone altogether.
  var isLenient = false
  /// Whether the steps of the session wait for each other's last call.
  var isSettled = true
  /// Only this call or moment.
  var only: Int?

  /// What was found, and how much was tried.
  struct Outcome: Sendable {
    var tried = 0
    var found: [String] = []
  }

  private static let most = 10

  // MARK: Calls that fail

  /// What a call may fail with.
  static func faults(of call: FailingSystem.Call) -> [FailingSystem.Fault] {
    switch call {
    case .open: [EMFILE, EIO, EACCES, ENOENT, ENFILE, EINTR].map { .error($0) }
    case .create: [ENOSPC, EDQUOT, EIO, EACCES, EMFILE, EROFS, EINTR].map { .error($0) }
    case .status: [EIO, EACCES, ENOENT].map { .error($0) }
    case .read: [EIO, EINTR].map { .error($0) } + [.short]
    case .write: [ENOSPC, EDQUOT, EIO, EINTR].map { .error($0) } + [.short]
    case .truncate: [EIO, EROFS, EINTR].map { .error($0) }
    case .setMode: [EPERM, EIO].map { .error($0) }
    case .synchronize: [EIO, ENOSPC, EDQUOT].map { .error($0) }
    case .lock: [EWOULDBLOCK, EINTR, ENOLCK, EIO].map { .error($0) }
    case .sharedMemory: [EINTR, EIO, ENOMEM, EAGAIN].map { .error($0) }
    case .names: [EIO, EMFILE, EACCES].map { .error($0) }
    case .makeDirectory: [ENOSPC, EACCES, EROFS, EDQUOT].map { .error($0) }
    case .remove: [EIO, EACCES, EROFS].map { .error($0) }
    case .rename: [EIO, ENOSPC, EACCES].map { .error($0) }
    }
  }

  /// A disk that fails at the call of a number: once, or from then on whenever that is called.
  private final class Failing: Sendable {
    private struct State {
      var calls = 0
      var call: FailingSystem.Call?
      var fault: FailingSystem.Fault?
      var isNew = true
    }

    private let state = Locked(State())
    private let number: Int
    private let variant: Int
    private let isLasting: Bool

    init(_ number: Int, variant: Int, isLasting: Bool) {
      self.number = number
      self.variant = variant
      self.isLasting = isLasting
    }

    func decide(_ call: FailingSystem.Call) -> FailingSystem.Fault? {
      state.withLock { state in
        defer { state.calls += 1 }
        if state.calls == number {
          let faults = FaultRun.faults(of: call)
          state.call = call
          state.isNew = variant < faults.count
          state.fault = faults[variant % faults.count]
          return state.fault
        }
        // A call that is interrupted, or cut short, for ever would be another kind of disk, as a lock that is never given
        // back; one on which nothing exists has gone.
        guard isLasting, call == state.call, ![.short, .error(EINTR), .error(EWOULDBLOCK)].contains(state.fault) else {
          return nil
        }
        if call == .status, state.fault == .error(ENOENT) { return nil }
        return state.fault
      }
    }

    /// What it did, if the session came so far.
    var told: String? { state.withLock { state in state.fault.map { "\(state.call.map { "\($0)" } ?? ""): \($0)" } } }
    /// Whether the call has so many errors.
    var isNew: Bool { state.withLock { $0.isNew } }
  }

  /// Has each call fail, and looks at what is there afterwards.
  func everyCall() async -> Outcome {
    var outcome = Outcome()
    for isLasting in [false, true] {
      var number = only ?? Int(seed % UInt64(stride))
      var isOver = false
      while !isOver, outcome.found.count < Self.most {
        for turn in 0..<variants {
          // All errors of each call, or other ones each time.
          let variant = variants < 7 ? turn + number / stride + Int(seed % 7) : turn
          let disk = ModelDisk()
          let ledger = Ledger()
          let failing = Failing(number, variant: variant, isLasting: isLasting)
          await session.run(
            FailingSystem(disk) { ledger.isLooking ? nil : failing.decide($0) }, ledger, isSettled: isSettled)
          guard let told = failing.told else {
            isOver = true
            break
          }
          if variants == 7, !failing.isNew { break }
          outcome.tried += 1
          let faults = await inspect(disk, ledger.now, isLenient: isLenient) + ledger.complaints
          outcome.found += faults.map {
            "\(session), seed \(seed), call \(number), \(told)\(isLasting ? ", lasting" : ""): \($0)"
          }
        }
        if only != nil { break }
        number += stride
      }
    }
    return outcome
  }

  // MARK: Moments that are the last

  private struct Moment {
    var number: Int
    var disk: ModelDisk
    var accounts: [String: Ledger.Account]
  }

  /// How many moments are in memory at once, each with a copy of the disk.
  private static let slice = 64

  /// Takes what a kill, or a loss of power, leaves at each moment, and looks at it.
  func everyMoment() async -> Outcome {
    var outcome = Outcome()
    var first = only ?? 1
    while outcome.found.count < Self.most {
      // A life of the session for each slice.
      let numbers = first..<first + (only == nil ? Self.slice * stride : 1)
      let (moments, calls) = await moments(numbers, &outcome)
      for moment in moments where outcome.found.count < Self.most { await look(at: moment, &outcome) }
      if only != nil || calls < numbers.upperBound { break }
      first = numbers.upperBound
    }
    return outcome
  }

  /// Copies the disk at the moments of some numbers, and counts all moments.
  private func moments(_ numbers: Range<Int>, _ outcome: inout Outcome) async -> ([Moment], calls: Int) {
    let (disk, ledger) = (ModelDisk(), Ledger())
    let (moments, calls) = (Locked<[Moment]>([]), Locked(0))
    let system = FailingSystem(disk) { call in
      // What does not change the disk makes no new moment.
      guard ![.open, .status, .read, .names, .lock].contains(call) else { return nil }
      let number = calls.withLock { calls in
        calls += 1
        return calls
      }
      guard numbers.contains(number), only != nil || number % stride == Int(seed % UInt64(stride)) else { return nil }
      let moment = Moment(number: number, disk: disk.copy(), accounts: ledger.now)
      moments.withLock { $0.append(moment) }
      return nil
    }
    await session.run(system, ledger, isSettled: isSettled)
    outcome.found += ledger.complaints
    return (moments.withLock { $0 }, calls.withLock { $0 })
  }

  /// Looks at what a kill leaves, and at what each loss of power does: the same one wherever the moment is looked at.
  private func look(at moment: Moment, _ outcome: inout Outcome) async {
    var chance = SplitMix(state: seed &+ UInt64(moment.number) << 32)
    for loss in -1..<losses {
      let left = loss < 0 ? moment.disk.copy() : moment.disk.afterLossOfPower(&chance)
      let kind = loss < 0 ? "kill" : "loss of power \(loss)"
      outcome.tried += 1
      let faults = await inspect(left, moment.accounts, isLenient: false)
      outcome.found += faults.map { "\(session), seed \(seed), call \(moment.number), \(kind): \($0)" }
    }
  }

  /// Opens what is left, without faults, and looks into it; twice, because the first opening clears away.
  private func inspect(_ disk: ModelDisk, _ accounts: [String: Ledger.Account], isLenient: Bool) async -> [String] {
    let gone = accounts.values.reduce(into: Set<Data>()) { $0.formUnion($1.gone) }
    var faults = gone.isEmpty ? [] : disk.remains(of: gone).map { "\($0) has what was removed and flushed" }
    for round in 0..<2 where faults.isEmpty {
      do {
        guard let vfs = TestVFS(disk) else { return ["there is no SQLite"] }
        let store = try DiskStore(at: FaultSession.directory, options: session.options(disk, vfs))
        faults += await Ledger.faults(of: store, accounts, isLenient: isLenient)
        // It goes on.
        try await store.put(Ledger.draft("new", round, 10), body: Ledger.body("new", round, 10))
        try await store.flush()
        let heads = try await Ledger.heads(store, "new")
        if heads.last != "new \(round) 10 0" { faults.append("what is stored later is not there: \(heads)") }
        await store.close()
      } catch {
        faults.append("the archive does not open, or does not go on: \(error)")
      }
    }
    return faults
  }
}
