import Foundation
import TestSupport
import Testing
import WaylayBase

@Suite("A file that is replaced whole", .timeLimit(.minutes(10)))
struct AtomicFileTests {
  let folder: Folder

  init() throws { folder = try Folder() }

  @Test("is made with the mode that is asked for, and replaced, and nothing is left beside it")
  func simple() throws {
    try folder.replace(with: "one")
    #expect(folder.text() == "one" && folder.mode() == "600")
    try folder.replace(with: "two")
    #expect(folder.text() == "two" && folder.mode() == "600")
    try folder.replace("other", with: "", mode: 0o640)
    #expect(folder.text("other") == "" && folder.mode("other") == "640")
    #expect(folder.names == ["file", "other"])
  }

  @Test("is written piece by piece, and is the old one until it is complete")
  func pieces() throws {
    try folder.write("old")
    let piece = Data(repeating: 0x78, count: 3 << 20)
    do {
      var writer = try AtomicFile.Writer(folder["file"])
      try writer.write(piece)
      #expect(folder.text() == "old" && folder.names.count == 2)
    }
    #expect(folder.text() == "old" && folder.names == ["file"])
    var writer = try AtomicFile.Writer(folder["file"])
    for _ in 0..<3 { try writer.write(piece) }
    try writer.commit()
    #expect(folder.status().st_size == 9 << 20 && folder.names == ["file"])
  }

  @Test("stays as it is when a piece could not be written, though its writer goes on")
  func failed() throws {
    try folder.write("old")
    let calls = RecordedCalls { $0 == .write && $1.count { $0 == .write } == 1 ? ENOSPC : 0 }
    var writer = try AtomicFile.Writer(folder["file"], calls: calls.calls)
    try writer.write(Data("a".utf8))
    #expect(throws: SystemError.self) { try writer.write(Data("b".utf8)) }
    try writer.write(Data("c".utf8))
    do {
      try writer.commit()
      Issue.record("committed without a piece")
    } catch { #expect(error == SystemError("write", folder["file"], code: ENOSPC)) }
    #expect(folder.text() == "old" && folder.names == ["file"])
  }

  @Test("is not replaced by a writer that must not, whether it was there before or came meanwhile")
  func new() throws {
    try folder.write("old")
    #expect(throws: SystemError("open", folder["file"], code: EEXIST)) {
      _ = try AtomicFile.Writer(folder["file"], replaces: false)
    }
    for code in [0, EPERM] {
      // The second is a file system without hard links.
      let calls = RecordedCalls { name, _ in name == .link ? code : 0 }
      var writer = try AtomicFile.Writer(folder["late\(code)"], replaces: false, calls: calls.calls)
      try writer.write(Data("new".utf8))
      try folder.write("first", to: "late\(code)")
      do {
        try writer.commit()
        Issue.record("replaced what had come")
      } catch { #expect(error.code == EEXIST) }
      #expect(folder.text("late\(code)") == "first")
      writer = try AtomicFile.Writer(folder["new\(code)"], replaces: false, calls: calls.calls)
      try writer.write(Data("new".utf8))
      try writer.commit()
      #expect(folder.text("new\(code)") == "new")
    }
    #expect(folder.names == ["file", "late0", "late1", "new0", "new1"])
  }

  @Test("is known from the one that was read, however it was changed")
  func versions() throws {
    #expect(AtomicFile.Version(of: folder["file"]) == nil)
    try folder.write("old")
    let first = AtomicFile.Version(of: folder["file"])
    #expect(first != nil && first == AtomicFile.Version(of: folder["file"]))
    try folder.replace(with: "new")
    let second = AtomicFile.Version(of: folder["file"])
    #expect(second != first)
    try folder.write("longer")
    let third = AtomicFile.Version(of: folder["file"])
    #expect(third != second)
    // The draft that a dead process leaves may be another name of the file.
    #expect(link(folder["file"], folder["other"]) == 0 && unlink(folder["other"]) == 0)
    #expect(AtomicFile.Version(of: folder["file"]) == third)
    var times = [timespec(tv_sec: 1_700_000_000, tv_nsec: 4), timespec(tv_sec: 1_700_000_000, tv_nsec: 5)]
    #expect(utimensat(AT_FDCWD, folder["file"], &times, 0) == 0)
    #expect(AtomicFile.Version(of: folder["file"]) != third)
  }

  @Test("is left as it is when it may not be replaced any more")
  func stale() throws {
    try folder.write("old")
    let version = AtomicFile.Version(of: folder["file"])
    let data = Data("new".utf8)
    try AtomicFile.replace(folder["file"], with: data) { AtomicFile.Version(of: folder["file"]) == version }
    #expect(folder.text() == "new")
    #expect(throws: SystemError("rename", folder["file"], code: ESTALE)) {
      try AtomicFile.replace(folder["file"], with: Data("newer".utf8)) {
        AtomicFile.Version(of: folder["file"]) == version
      }
    }
    #expect(folder.text() == "new" && folder.names == ["file"])
  }

  @Test("has a draft that another writer leaves alone, and that the next one removes when its process is dead")
  func drafts() throws {
    var first = try AtomicFile.Writer(folder["file"])
    try first.write(Data("first".utf8))
    // What no lock is held of, and what only looks like it.
    try folder.write("dead", to: ".waylay-draft-0123456789abcdef")
    try folder.write("alive", to: ".waylay-draft-notes")
    symlink("nowhere", folder[".waylay-draft-1123456789abcdef"])
    try folder.replace("other", with: "other")
    #expect(folder.names.count == 4 && !folder.names.contains(".waylay-draft-0123456789abcdef"))
    try folder.replace(with: "second")
    try first.commit()
    #expect(folder.text() == "first")
    #expect(folder.names == [".waylay-draft-1123456789abcdef", ".waylay-draft-notes", "file", "other"])
  }

  @Test("loses its drafts when a signal is about to end the process", .exitTest)
  func signalled() async throws {
    var writer = try AtomicFile.Writer(folder["file"])
    try writer.write(Data("half".utf8))
    let before = folder.names
    #expect(before.count == 1)
    // The drafts of other tests would go, too.
    await #expect(processExitsWith: .success) { [path = folder["child"] as String] in
      Process.limit()
      var writer = try AtomicFile.Writer(path)
      try writer.write(Data("half".utf8))
      AtomicFile.removeDrafts()
    }
    #expect(folder.names == before)
  }

  @Test("has the last rename, whole, when writers of one process replace it at once")
  func crowd() async throws {
    let folder = folder
    let texts = (0..<4).map { String(repeating: "\($0)", count: 70_000 + $0) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for text in texts {
        group.addTask {
          for _ in 0..<25 {
            try folder.replace(with: text)
            #expect(folder.text().map(texts.contains) == true)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(folder.names == ["file"])
  }
}
