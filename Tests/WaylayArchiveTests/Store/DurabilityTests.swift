import Foundation
import StoreFaults
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("What a kill leaves", .timeLimit(.minutes(10)))
struct DurabilityTests {
  let directory = TemporaryDirectory()

  /// What a process would find that opens the archive after a kill at this moment.
  private func left(_ key: String) async throws -> [Data] {
    let copy = TemporaryDirectory()
    try FileManager.default.copyItem(at: directory.url, to: copy.url)
    let store = try copy.store()
    let bodies = try await store.bodies(key)
    await store.close()
    return bodies
  }

  @Test("an entry that is replaced before it was written does not take with it the one that it replaced")
  func replacedWhileItWaits() async throws {
    let gate = Gate(.create)
    let store = try directory.store(gate.options)
    var last = try store.put(.sample("a"), body: .noise(100, seed: 1))
    try await store.flush()
    gate.close()
    try store.put(.sample("other"), body: .noise(100))
    try await gate.wait(for: 1)
    for seed in 2...6 {
      last = try store.put(.sample("a", replacing: [last.id]), body: .noise(100, seed: UInt64(seed)))
    }
    gate.letPass()
    try await gate.wait(for: 2)
    let before = try await left("a")
    #expect(before == [.noise(100, seed: 1)])
    gate.open()
    try await store.flush()
    let after = try await left("a")
    #expect(after == [.noise(100, seed: 6)])
    #expect(directory.files.filter { $0.hasPrefix("entries/") }.count == 2)
    // Those between have never been on the disk.
    #expect(gate.calls == 2)
    await store.close()
  }

  @Test("has a key that is stored again faster than the disk takes it")
  func replacedAllTheTime() async throws {
    let gate = Gate(.create)
    let store = try directory.store(gate.options)
    gate.close()
    var last: StoredEntry?
    var version: UInt64 = 0
    func storeBoth() throws {
      version += 1
      try store.put(.sample("other \(version)"), body: .noise(100))
      last = try store.put(.sample("a", replacing: last.map { [$0.id] } ?? []), body: .noise(100, seed: version))
    }
    for _ in 0..<5 { try storeBoth() }
    for round in 1...30 {
      try await gate.wait(for: round)
      try storeBoth()
      gate.letPass()
    }
    try await gate.wait(for: 31)
    let bodies = try await left("a")
    // Not further behind than the queue is long.
    #expect((version - 15...version).contains { bodies == [.noise(100, seed: $0)] })
    gate.open()
    await store.close()
  }

  @Test("has what was stored while the disk was waited for", .heavy)
  func slowDisk() async throws {
    let gate = Gate(.synchronize)
    let store = try directory.store(gate.options)
    gate.close()
    try store.put(.sample("kept", isPinned: true), body: .noise(300))
    // Enough for the log to be shortened.
    for _ in 0..<1600 { store.remove([try store.put(.sample("passing"), body: .noise(1)).id]) }
    try await gate.wait(for: 1)
    while !directory.files.contains(where: { $0.hasSuffix(".new") }), !Task.isCancelled { await Task.yield() }
    try store.put(.sample("late"), body: .noise(200))
    var late: [Data] = []
    while late.isEmpty, !Task.isCancelled { late = try await left("late") }
    #expect(late == [.noise(200)])
    gate.open()
    try await store.flush()
    await store.close()
    for key in ["late", "kept"] {
      let bodies = try await left(key)
      #expect(bodies == [.noise(key == "late" ? 200 : 300)])
    }
  }
}

/// Holds up one of the store's calls to the file system.
private final class Gate: Sendable {
  private struct State {
    var isClosed = false
    var calls = 0
    var waiting = 0
  }

  private let call: FailingSystem.Call
  private let state = Locked(State())
  private let permits = DispatchSemaphore(value: 0)

  init(_ call: FailingSystem.Call) {
    self.call = call
  }

  var options: DiskStore.Options {
    var options = DiskStore.Options(logger: .silent)
    options.system = FailingSystem { [self] call in
      if call == self.call { pass() }
      return nil
    }
    return options
  }

  /// How many calls have come since it was closed.
  var calls: Int { state.withLock { $0.calls } }

  func close() { state.withLock { $0.isClosed = true } }

  func letPass() {
    state.withLock { $0.waiting -= 1 }
    permits.signal()
  }

  func open() {
    let waiting = state.withLock { state in
      state.isClosed = false
      defer { state.waiting = 0 }
      return state.waiting
    }
    for _ in 0..<waiting { permits.signal() }
  }

  func wait(for calls: Int) async throws {
    while self.calls < calls {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  private func pass() {
    let waits = state.withLock { state in
      if state.isClosed || state.calls > 0 { state.calls += 1 }
      if state.isClosed { state.waiting += 1 }
      return state.isClosed
    }
    if waits { permits.wait() }
  }
}
