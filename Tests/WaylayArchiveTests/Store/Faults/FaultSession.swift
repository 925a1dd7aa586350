import Foundation
import StoreFaults
import WaylayCore

@testable import WaylayArchive

/// A scripted life of an archive on a disk that may fail. Each step is tried, whatever became of the one before.
enum FaultSession: String, CaseIterable, Sendable {
  case storing, parts, evicting, freshening, removing

  static let directory = URL(fileURLWithPath: "/above/archive", isDirectory: true)

  func options(_ system: any SystemCalls, _ vfs: TestVFS) -> DiskStore.Options {
    var options = DiskStore.Options(memory: 0, logger: .silent)
    if self == .evicting { options.limits = StoreLimits(bytes: 60_000, entryBytes: 30_000) }
    (options.system, options.vfs) = (system, vfs.name)
    return options
  }

  /// Lives twice: what the first life leaves, the second one opens.
  ///
  /// - Parameter isSettled: Whether each step waits until nothing goes on behind it, so that the calls are the same
  ///   each time.
  func run(_ system: any SystemCalls, _ ledger: Ledger, isSettled: Bool = true) async {
    guard let vfs = TestVFS(system) else { return ledger.complain(["there is no SQLite"]) }
    for life in 0..<2 {
      guard let store = try? DiskStore(at: Self.directory, options: options(system, vfs)) else { continue }
      // A full volume evicts.
      store.observe { if $0.kind == .evicted { ledger.mayEvict() } }
      let actor = Actor(store: store, ledger: ledger, life: life, isSettled: isSettled)
      switch self {
      case .storing: await actor.storing()
      case .parts: await actor.parts()
      case .evicting: await actor.evicting()
      case .freshening: await actor.freshening()
      case .removing: await actor.removing()
      }
      await store.close()
    }
  }

  private struct Actor: Sendable {
    let store: DiskStore
    let ledger: Ledger
    let life: Int
    let isSettled: Bool

    func settle() async {
      guard isSettled else { return }
      store.bodies.pool.wait()
      if await !store.settle() { ledger.complain(["the store goes on and on"]) }
    }

    /// Stores a version in the place of what is there.
    func put(_ key: String, _ version: Int, _ length: Int) async {
      let version = version + life * 100
      ledger.touch(key)
      let old = (try? await store.entries(for: ArchiveKey(key)).map(\.id)) ?? []
      let draft = Ledger.draft(key, version, length, replacing: old)
      _ = try? await store.put(draft, body: Ledger.body(key, version, length))
      await settle()
    }

    func write(_ key: String, _ version: Int, _ length: Int) async {
      let version = version + life * 100
      ledger.touch(key)
      let old = (try? await store.entries(for: ArchiveKey(key)).map(\.id)) ?? []
      _ = try? await store.write(
        Ledger.draft(key, version, length, replacing: old), Ledger.body(key, version, length), by: 40_000)
      await settle()
    }

    func freshen(_ key: String, _ round: Int) async {
      guard let entry = try? await store.entries(for: ArchiveKey(key)).last else { return }
      ledger.touch(key)
      var parts = String(decoding: entry.head, as: UTF8.self).split(separator: " ").map(String.init)
      parts[3] = "\(round + life * 100)"
      _ = try? store.update(entry, head: Array(parts.joined(separator: " ").utf8), details: entry.details)
      await settle()
    }

    func flush() async {
      let isFlushed = (try? await store.flush()) != nil
      await settle()
      if isFlushed { await ledger.flushed(store) }
    }

    func remove(_ key: String) async {
      let entries = (try? await store.entries(for: ArchiveKey(key))) ?? []
      ledger.remove(key, entries)
      store.remove(entries.map(\.id))
      await settle()
    }

    func keys(_ keys: [String]) async -> [String: [StoredEntry]] {
      var found: [String: [StoredEntry]] = [:]
      for key in keys { found[key] = try? await store.entries(for: ArchiveKey(key)) }
      return found
    }

    func read(_ key: String) async {
      for entry in (try? await store.entries(for: ArchiveKey(key))) ?? [] {
        _ = try? await entry.body().collect(upTo: 1 << 22)
      }
      await settle()
    }

    func storing() async {
      await put("a", 1, 300)
      await put("b", 1, 66_000)
      await write("c", 1, 80_000)
      await flush()
      await freshen("a", 1)
      await put("b", 2, 5000)
      await freshen("c", 1)
      for key in ["a", "b", "c"] { await read(key) }
      await flush()
      await freshen("a", 2)
      await freshen("a", 3)
      await put("b", 3, 66_000)
      await put("b", 4, 700)
      await put("d", 1, 10)
      await freshen("c", 2)
      for key in ["a", "b", "c", "d"] { await read(key) }
    }

    func parts() async {
      let draft = Ledger.draft("part", 1, 66_000)
      ledger.touch("part")
      let body = Ledger.body("part", 1, 90_000)
      if let writer = try? store.makeWriter(for: draft.key) {
        _ = try? await writer.append(body.prefix(66_000))
        _ = try? await writer.checkpoint(draft)
        _ = try? await writer.append(Data(body[66_000..<80_000]))
        await settle()
        writer.abort()
      }
      await settle()
      await flush()
      ledger.touch("part")
      if let entry = try? await store.entries(for: draft.key).last, entry.bodyLength == 66_000,
        let writer = try? await store.resumeWriting(entry)
      {
        _ = try? await writer.append(Data(body[66_000..<72_000]))
        _ = try? await writer.checkpoint(Ledger.draft("part", 1, 72_000))
        _ = try? await writer.append(Data(body[72_000...]))
        _ = try? await writer.commit(Ledger.draft("part", 1, 90_000))
      }
      await read("part")
      await freshen("part", 1)
      await flush()
      await put("small", 1, 50)
    }

    func evicting() async {
      for number in 0..<10 {
        ledger.mayEvict()
        await put("e\(number)", 1, 9000)
        if number % 3 == 2 { await flush() }
        await read("e\(number / 2)")
      }
    }

    func freshening() async {
      await put("kept", 1, 400)
      await put("large", 1, 66_000)
      await flush()
      for round in 0..<8 {
        await put("passing", round, 20)
        await freshen("kept", round)
        await remove("passing")
        if round == 4 { await flush() }
      }
      await put("last", 1, 30)
      await flush()
      await put("kept", 2, 500)
    }

    func removing() async {
      for key in ["x", "y", "z"] { await put(key, 1, 2000) }
      await flush()
      await remove("x")
      await put("y", 2, 3000)
      await flush()
      if life == 1 {
        for key in ["x", "y", "z"] { ledger.remove(key) }
        let found = await keys(["x", "y", "z"])
        // One that fails has promised nothing.
        if (try? await store.removeAll(.all)) != nil { for (key, entries) in found { ledger.remove(key, entries) } }
        await flush()
        await put("w", 1, 100)
        await flush()
      }
    }
  }
}
