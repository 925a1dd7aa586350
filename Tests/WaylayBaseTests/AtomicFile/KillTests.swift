import Foundation
import TestSupport
import Testing
import WaylayBase

@Suite("A process that replaces a file", .exitTest, .timeLimit(.minutes(10)))
struct AtomicFileKillTests {
  let folder: Folder

  init() throws { folder = try Folder() }

  /// As many calls as a write of three pieces makes.
  private static let places = 0...(try! AtomicFileFaultTests.Way.pieces.names().count)

  @Test(
    "leaves the old file or the new when it is killed at a call, and the next write removes its draft",
    arguments: places)
  func killed(place: Int) async throws {
    try folder.write("old", mode: 0o640)
    await #expect(processExitsWith: place == Self.places.upperBound ? .success : .signal(SIGKILL)) {
      [path = folder["file"] as String, place = place as Int] in
      Process.limit()
      let calls = RecordedCalls { _, before in before.count == place ? kill(getpid(), SIGKILL) : 0 }
      var writer = try AtomicFile.Writer(path, mode: 0o666, calls: calls.calls)
      for piece in ["n", "e", "w"] { try writer.write(Data(piece.utf8)) }
      try writer.commit()
    }
    let names = try AtomicFileFaultTests.Way.pieces.names()
    let isRenamed = names.firstIndex(of: .rename).map { place > $0 } == true
    #expect(folder.text() == (isRenamed ? "new" : "old") && folder.mode() == "640")
    try folder.replace(with: "next", mode: 0o666)
    #expect(folder.text() == "next" && folder.mode() == "640" && folder.names == ["file"])
  }

  @Test("beside another one leaves one of their files, whole, and no draft")
  func two() async throws {
    let file = folder["file"]
    let (mine, theirs) = (String(repeating: "a", count: 300_000), String(repeating: "b", count: 200_000))
    try folder.write(mine)
    let isOver = Locked(false)
    let own = Worker {
      while !isOver.withLock({ $0 }) {
        try AtomicFile.replace(file, with: Data(mine.utf8))
        let text = try String(contentsOfFile: file, encoding: .utf8)
        guard text == mine || text == theirs else { throw CocoaError(.fileReadCorruptFile) }
      }
    }
    await #expect(processExitsWith: .success) { [path = file as String, text = theirs as String] in
      Process.limit()
      for _ in 0..<100 { try AtomicFile.replace(path, with: Data(text.utf8)) }
    }
    isOver.withLock { $0 = true }
    try own.wait()
    #expect(folder.names == ["file"])
  }

  @Test("beside another one loses none of its changes when it asks whether the file is still the one that it read")
  func counting() async throws {
    try folder.write("0")
    let file = folder["file"]
    let own = Worker { for _ in 0..<100 { try Self.increment(file) } }
    await #expect(processExitsWith: .success) { [path = file as String] in
      Process.limit()
      for _ in 0..<100 { try Self.increment(path) }
    }
    try own.wait()
    #expect(folder.text() == "200" && folder.names == ["file"])
  }

  private static func increment(_ path: String) throws {
    while true {
      let version = AtomicFile.Version(of: path)
      let count = try Int(String(contentsOfFile: path, encoding: .utf8))
      do {
        return try AtomicFile.replace(path, with: Data("\(try #require(count) + 1)".utf8)) {
          AtomicFile.Version(of: path) == version
        }
      } catch let error as SystemError where error.code == ESTALE {}
    }
  }
}

/// Work on a thread of its own: that of an exit test waits for the child.
private final class Worker: Sendable {
  private let outcome = Locked<Result<Void, any Error>>(.success(()))
  private let end = DispatchSemaphore(value: 0)

  init(_ work: @escaping @Sendable () throws -> Void) {
    Thread.detachNewThread { [outcome, end] in
      let result = Result { try work() }
      outcome.withLock { $0 = result }
      end.signal()
    }
  }

  func wait() throws {
    end.wait()
    try outcome.withLock { $0 }.get()
  }
}
