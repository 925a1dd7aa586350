import Foundation
import StoreFaults
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

/// Stores, replaces and removes planted responses in an archive, and knows which of them are left.
final class Gardener {
  let archive: ArchiveCache
  private(set) var planted: [Planted] = []
  private(set) var removed: [Planted] = []
  private var lastKey = 0
  private var chance: SplitMix

  init(_ archive: ArchiveCache, seed: Int) {
    self.archive = archive
    chance = SplitMix(state: UInt64(seed))
  }

  func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &chance) }

  func plant(_ count: Int) async throws {
    for _ in 0..<count {
      lastKey += 1
      let new = Planted(1 + roll(4), lastKey, 1)
      try await new.store(in: archive)
      planted.append(new)
    }
  }

  /// Stores another version of some.
  func replace(_ count: Int) async throws {
    for _ in 0..<count where !planted.isEmpty {
      let index = roll(planted.count)
      planted[index].version += 1
      try await planted[index].store(in: archive)
    }
  }

  /// Removes some, by one way or another.
  func remove() async throws {
    switch roll(4) {
    case 0: try await remove(.host("p\(1 + roll(4)).example")) { $0.host }
    case 1: try await remove(.partition(ArchivePartition("p\(1 + roll(4)).example"))) { $0.host }
    default:
      let share = 1 + roll(9)
      for one in planted where roll(10) < share {
        #expect(try await archive.remove(for: one.request) == 1)
        move { $0 == one }
      }
    }
  }

  private func remove(_ filter: EntryFilter, _ host: (Planted) -> String) async throws {
    let doomed = try await Set(archive.entries(filter).compactMap { URL(string: $0.url)?.host })
    try await archive.removeAll(filter)
    move { doomed.contains(host($0)) }
  }

  func removeEverything() async throws {
    try await archive.removeAll()
    move { _ in true }
  }

  private func move(_ isRemoved: (Planted) -> Bool) {
    removed += planted.filter(isRemoved)
    planted.removeAll(where: isRemoved)
  }

  /// Compares what the archive and its directory have with what they must.
  func check(_ directory: URL, isFlushed: Bool = true) async throws {
    for one in planted { #expect(try await one.version(in: archive) == one.version) }
    for one in removed { #expect(try await one.version(in: archive) == nil) }
    guard isFlushed else { return }
    let remains = Planted.remains(in: directory)
    for one in removed { #expect(remains.parts(of: one).isEmpty, "\(one)") }
  }
}

@Suite("What is removed", .timeLimit(.minutes(20)))
struct GoneTests {
  let directory = TemporaryDirectory()

  @Test(
    "is not answered any more, and after a flush it is in no byte of the directory", .heavy,
    arguments: 1...Sizes.of(60, small: 4))
  func removed(seed: Int) async throws {
    let archive = ArchiveCache(at: directory.url, Planted.configure)
    let gardener = Gardener(archive, seed: seed)
    for _ in 0..<5 {
      try await gardener.plant(20 + gardener.roll(120))
      if gardener.roll(2) == 0 { try await archive.flush() }
      try await gardener.replace(gardener.roll(40))
      try await gardener.remove()
      let isFlushed = gardener.roll(3) > 0
      if isFlushed { try await archive.flush() }
      try await gardener.check(directory.url, isFlushed: isFlushed)
    }
    try await gardener.removeEverything()
    try await archive.flush()
    try await gardener.check(directory.url)
    // Nor is what was replaced.
    let remains = Planted.remains(in: directory.url)
    #expect(remains.urls.isEmpty && remains.fields.isEmpty && remains.bodies.isEmpty)
    await archive.close()
  }

  @Test("is gone though another process has it in its memory, and reads or stores something else", .heavy)
  func beside() async throws {
    let archive = ArchiveCache(at: directory.url, Planted.configure)
    let gardener = Gardener(archive, seed: 7)
    try await gardener.plant(150)
    try await archive.flush()
    // A store of its own on the same directory, as another process has it.
    let other = ArchiveCache(
      store: try DiskStore(at: directory.url, options: .init(logger: .silent)), Planted.configure)
    for one in gardener.planted { #expect(try await one.version(in: other) == 1) }
    let long = try #require(gardener.planted.first { $0.body.count > 50_000 })
    let stream = try await #require(try await other.response(for: long.request)).body()
    for _ in 0..<4 {
      try await gardener.remove()
      for one in gardener.removed { #expect(try await one.version(in: other) == nil) }
      try await Planted(9, gardener.roll(5), gardener.roll(1000)).store(in: other)
      try await archive.flush()
      try await gardener.check(directory.url)
    }
    try await gardener.removeEverything()
    try await archive.flush()
    try await gardener.check(directory.url)
    // A body that was being read is read to its end.
    #expect(try await stream.collect(upTo: 1 << 20) == long.body)
    await other.close()
    await archive.close()
  }
}
