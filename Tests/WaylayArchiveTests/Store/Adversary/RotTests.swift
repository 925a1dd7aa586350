import Foundation
import StoreFaults
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

/// The files of a directory, to be written again with something wrong.
struct Rot {
  let directory: TemporaryDirectory
  let files: [String: Data]

  init(_ directory: TemporaryDirectory) {
    self.directory = directory
    files = Dictionary(uniqueKeysWithValues: directory.files.map { ($0, directory.contents($0)) })
  }

  /// Writes the files as they were, but for one.
  func write(_ changed: Data?, as path: String) throws {
    try? FileManager.default.removeItem(at: directory.url)
    for (name, bytes) in files where name != path { try directory.write(bytes, name) }
    if let changed { try directory.write(changed, path) }
  }
}

@Suite("A rotten archive", .timeLimit(.minutes(60)))
struct RotTests {
  static let planted = [Planted(1, 1, 1), Planted(1, 2, 1), Planted(2, 3, 2), Planted(2, 4, large)]
  /// A version whose body is in a file of its own.
  private static let large = (1...).first { Planted(2, 4, $0).body.count > 60_000 } ?? 1
  private static let removed = Planted(1, 9, 1)

  /// Stores some, replaces one and removes one; what a kill leaves then, or a close.
  private func archive(isClosed: Bool) async throws -> Rot {
    let original = TemporaryDirectory()
    let archive = ArchiveCache(at: original.url, Planted.configure)
    for one in [Planted(2, 3, 1), Self.removed] { try await one.store(in: archive) }
    try await archive.flush()
    for one in Self.planted { try await one.store(in: archive) }
    try await archive.remove(for: Self.removed.request)
    if isClosed { await archive.close() }
    let copy = TemporaryDirectory(inMemory: true)
    try FileManager.default.copyItem(at: original.url, to: copy.url)
    if !isClosed { await archive.close() }
    // The part of it that is shared memory does not survive its processes.
    for path in copy.files where path.hasSuffix("-shm") {
      try FileManager.default.removeItem(at: copy.url.appendingPathComponent(path))
    }
    return Rot(copy)
  }

  /// Opens an archive, which gives out what was stored or nothing, and goes on: at once, or at a later opening, where a
  /// call finds the damage and says so. Returns how much of it there was.
  @discardableResult
  private func inspect(_ directory: URL, _ what: String, hasRemoval: Bool = true) async throws -> Int {
    var found = 0
    for attempt in 1...4 {
      let archive = ArchiveCache(at: directory, Planted.configure)
      do {
        try await archive.waitUntilOpen()
        found = 0
        for one in Self.planted {
          guard let version = try await one.version(in: archive) else { continue }
          #expect(version == one.version || one.key == 3, "\(one), \(what)")
          found += 1
        }
        if hasRemoval { #expect(try await Self.removed.version(in: archive) == nil, "\(what)") }
        let next = Planted(3, 1, 1)
        try await next.store(in: archive)
        try await archive.flush()
        #expect(try await next.version(in: archive) == 1, "\(what)")
        // What is damaged and removed is gone as well.
        try await archive.removeAll()
        try await archive.flush()
        let remains = Planted.remains(in: directory)
        #expect(remains.fields.isEmpty && remains.bodies.isEmpty, "\(what)")
        await archive.close()
        return found
      } catch let error as ArchiveError {
        #expect(attempt < 4, "\(error), \(what)")
        await archive.close()
      }
    }
    return found
  }

  @Test("with any byte flipped gives out what was stored or nothing, and goes on", .heavy, arguments: [true, false])
  func flips(isClosed: Bool) async throws {
    let rot = try await archive(isClosed: isClosed)
    try rot.write(nil, as: "")
    #expect(try await inspect(rot.directory.url, "as it was") == Self.planted.count)
    var lost = 0
    for (path, bytes) in rot.files.sorted(by: { $0.key < $1.key }) {
      let step = Sizes.of(1, small: 2003)
      for position in stride(from: Int.random(in: 0..<step), to: bytes.count, by: step) {
        var damaged = bytes
        damaged[damaged.startIndex + position] ^= UInt8.random(in: 1...255)
        try rot.write(damaged, as: path)
        let found = try await inspect(rot.directory.url, "byte \(position) of \(path)", hasRemoval: isClosed)
        lost += Self.planted.count - found
      }
    }
    #expect(lost > 0)
  }

  @Test("cut at any page, or without one of its files, does the same", .heavy, arguments: [true, false])
  func cuts(isClosed: Bool) async throws {
    let rot = try await archive(isClosed: isClosed)
    for (path, bytes) in rot.files.sorted(by: { $0.key < $1.key }) {
      let lengths =
        stride(from: 0, to: bytes.count, by: 4096).flatMap { [$0, $0 + 600, $0 + 4000] } + [bytes.count - 1]
      let few = Sizes.isWhole ? lengths : Array(lengths.shuffled().prefix(12))
      for length in Set(few).sorted() where length < bytes.count {
        try rot.write(bytes.prefix(length), as: path)
        try await inspect(rot.directory.url, "\(length) bytes of \(path)", hasRemoval: isClosed)
      }
      try rot.write(nil, as: path)
      try await inspect(rot.directory.url, "without \(path)", hasRemoval: isClosed)
      try rot.write(Data(count: bytes.count), as: path)
      try await inspect(rot.directory.url, "zeros as \(path)", hasRemoval: isClosed)
    }
  }

  @Test("with a log or a body of another archive does the same", .heavy)
  func others() async throws {
    let (rot, other) = (try await archive(isClosed: true), try await archive(isClosed: false))
    for (path, bytes) in other.files {
      try rot.write(bytes, as: path)
      try await inspect(rot.directory.url, "another's \(path)")
    }
    for (path, _) in rot.files where path.hasPrefix("bodies/") {
      for (another, bytes) in other.files where another.hasPrefix("bodies/") {
        try rot.write(bytes, as: path)
        try await inspect(rot.directory.url, "another's \(another) as \(path)")
      }
    }
  }
}
