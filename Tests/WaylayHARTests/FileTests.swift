import Foundation
import TestSupport
import Testing
import WaylayHAR

@Suite("HTTP archives of any size", .heavy)
struct FileTests {
  private func inFolder(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
  }

  private func entries(of file: URL) throws -> [HAR.Entry] {
    var reader = try HARReader(file)
    var entries: [HAR.Entry] = []
    while let entry = try reader.next() { entries.append(entry) }
    return entries
  }

  @Test("are written and read entry by entry, as they are as a whole", arguments: [true, false])
  func both(isPretty: Bool) throws {
    try inFolder { folder in
      let file = folder.appendingPathComponent("a.har")
      let archive = ReadingTests.samples(700)
      var writer = try HARWriter(file, isPretty: isPretty)
      for entry in archive.entries { try writer.append(entry) }
      try writer.finish()
      #expect(try Data(contentsOf: file) == archive.data(isPretty: isPretty))
      #expect(try entries(of: file) == archive.entries)
      #expect(try HAR(contentsOf: file) == archive)
    }
  }

  @Test("are readable by their owner alone, whatever was there before", arguments: [true, false])
  func permissions(isWhole: Bool) throws {
    try inFolder { folder in
      let file = folder.appendingPathComponent("a.har")
      _ = FileManager.default.createFile(atPath: file.path, contents: Data(), attributes: [.posixPermissions: 0o644])
      let archive = ReadingTests.samples(3)
      if isWhole { try archive.write(to: file) } else { try HARWriter(file, archive: archive, isPretty: true).finish() }
      let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
      #expect(try Data(contentsOf: file) == archive.data())
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.har"])
      #expect(throws: HARError.self) { try archive.write(to: folder.appendingPathComponent("none/a.har")) }
    }
  }

  @Test("that were not finished leave what was there, and nothing else")
  func unfinished() throws {
    try inFolder { folder in
      let file = folder.appendingPathComponent("a.har")
      try Data("old".utf8).write(to: file)
      do {
        var writer = try HARWriter(file)
        try writer.append(ReadingTests.samples(1).entries[0])
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.har"])
      #expect(try Data(contentsOf: file) == Data("old".utf8))
    }
  }

  @Test("that end too early are an error after the entries that are whole")
  func cutOff() throws {
    try inFolder { folder in
      let file = folder.appendingPathComponent("a.har")
      let data = ReadingTests.samples(4).data(isPretty: false)
      try data.dropLast(40).write(to: file)
      var reader = try HARReader(file)
      for _ in 0..<3 { #expect(try reader.next() != nil) }
      var message = ""
      do throws(HARError) { _ = try reader.next() } catch { message = error.message }
      #expect(message.contains("ends before its entries do, after entry 3"))
    }
  }

  @Test(
    "that are anything else are no archives without entries",
    arguments: ["]", "}{", "]{\"log\":{\"entries\":[]}}"])
  func noise(text: String) throws {
    try inFolder { folder in
      let file = folder.appendingPathComponent("noise.har")
      try Data(text.utf8).write(to: file)
      var reader = try HARReader(file)
      do {
        _ = try reader.next()
        Issue.record("read as an archive")
      } catch {
        #expect((error as? HARError)?.code == .notAnArchive)
      }
    }
  }

  @Test("say what stands beside their entries without these")
  func walked() throws {
    try inFolder { folder in
      let file = folder.appendingPathComponent("walked.har")
      var archive = ReadingTests.samples(3)
      archive.pages = [HAR.Page(id: "p", title: "A page", started: Date(timeIntervalSince1970: 1_700_000_000))]
      try archive.data().write(to: file)
      let outline = try HAR(withoutEntriesOf: file)
      #expect(outline.entries.isEmpty && outline.pages == archive.pages && outline.creator == archive.creator)
    }
  }

  @Test("do not take more memory for an entry than they are allowed")
  func tooLarge() throws {
    try inFolder { folder in
      let file = folder.appendingPathComponent("a.har")
      try Data((#"{"log":{"entries":[{"a":""# + String(repeating: "x", count: 1 << 20)).utf8).write(to: file)
      var reader = try HARReader(file, entryLimit: 1 << 16)
      var code: OpenEnum<HARError>?
      do throws(HARError) { _ = try reader.next() } catch { code = error.code }
      #expect(code == .tooLarge)
    }
  }

  @Test("say which file it is that cannot be read or written")
  func missing() throws {
    try inFolder { folder in
      let file = folder.appendingPathComponent("none/a.har")
      #expect(throws: HARError.self) { try HAR(contentsOf: file) }
      #expect(throws: HARError.self) { try HAR().write(to: file) }
      var codes: [OpenEnum<HARError>] = []
      do throws(HARError) { _ = try HARReader(file) } catch { codes.append(error.code) }
      do throws(HARError) { _ = try HARWriter(file) } catch { codes.append(error.code) }
      #expect(codes == [.unreadable, .unwritable])
    }
  }
}
