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
      #expect(message.contains("ends after entry 3, before the end of its entries"))
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
      archive.pages = [["id": "p", "title": "A page", "pageTimings": ["onLoad": 5, "_startRender": 3]]]
      try archive.data().write(to: file)
      let outline = try HAR(withoutEntriesOf: HARReader(file))
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

  @Test("lose an entry that cannot be read, and say which, whole and entry by entry")
  func single() throws {
    try inFolder { folder in
      let file = folder.appendingPathComponent("a.har")
      let good =
        #"{"request":{"method":"GET","url":"https://a.test/"},"response":{"status":200,"content":{"text":"a\ud83d!"}}}"#
      for (bad, reason) in [
        (#"{"request":{"url":"/"}}"#, "has no method"), (#"{"request":nonsense}"#, "is not JSON"),
        ("{}", "has no request"),
      ] {
        let text =
          #"{"log":{"version":"1.2","creator":{"name":"a","version":"1"},"entries":["#
          + "\(good),\(bad),\(good)],\"comment\":\"c\"}}"
        let archive = try HAR(data: Data(text.utf8))
        #expect(archive.entries.count == 2 && archive.comment == "c" && archive.creator["name"] == "a", "\(bad)")
        #expect(archive.entries[0].response.body.text == "a\u{FFFD}!")
        #expect(
          archive.unreadEntries.count == 1 && archive.unreadEntries[0].contains("ntry 2 \(reason)")
            || archive.unreadEntries[0].contains("entry 2 \(reason)"), "\(archive.unreadEntries)")
        try Data(text.utf8).write(to: file)
        #expect(try entries(of: file).count == 2)
        #expect(throws: HARError.self) { try HAR(data: Data(text.utf8).dropLast(4)) }
      }
    }
  }

  /// The names that Playwright gives to bodies, and others.
  private static let attachments = [
    "b1946ac92492d2347c6235b4d2611184e1b35c0a.html", "3f786850e387550fdab836ed7e6dc881de23001b.dat",
    "89e6c98d92887913cadf06b2adb97f26cde4849b.7z",
  ]
  private static let others = [
    ".env", "body.txt", "inner/\(attachments[0])", "../\(attachments[0])", "./\(attachments[0])", "/etc/hosts",
    "missing.txt",
    "b1946ac92492d2347c6235b4d2611184e1b35c0a", "b1946ac92492d2347c6235b4d2611184e1b35c0a.tar.gz",
    "B1946AC92492D2347C6235B4D2611184E1B35C0B.html", "b1946ac92492d2347c6235b4d2611184e1b35c0.html", "",
    "\(attachments[0])/..", "\(attachments[0])\n", " \(attachments[0])",
  ]

  /// An entry that names a file in its request and in its response.
  private static func naming(_ name: String) -> String {
    #"{"request":{"method":"POST","url":"https://a.test/","postData":{"mimeType":"","_file":\#(JSONValue(name))}},"#
      + #""response":{"status":200,"content":{"size":9,"_file":\#(JSONValue(name))}}}"#
  }

  @Test("have bodies in Playwright's files beside them or in one zip file with them, and in no other file")
  func attachments() throws {
    try inFolder { folder in
      let inner = folder.appendingPathComponent("inner")
      try FileManager.default.createDirectory(
        at: inner.appendingPathComponent("inner"), withIntermediateDirectories: true)
      for name in Self.attachments.prefix(1) + Self.others
      where !["", "/etc/hosts", "missing.txt"].contains(name) && !name.hasPrefix("./") && !name.hasSuffix("/..") {
        try Data((Self.attachments.contains(name) ? "inside" : "secret").utf8).write(
          to: inner.appendingPathComponent(name))
      }
      try FileManager.default.createSymbolicLink(
        at: inner.appendingPathComponent(Self.attachments[1]), withDestinationURL: inner.appendingPathComponent(".env"))
      let names = Self.attachments + Self.others
      let file = inner.appendingPathComponent("a.har")
      try Data((#"{"log":{"entries":["# + names.map(Self.naming).joined(separator: ",") + "]}}").utf8).write(to: file)
      for entries in [try HAR(contentsOf: file).entries, try self.entries(of: file)] {
        #expect(entries.count == names.count)
        for (entry, name) in Swift.zip(entries, names) {
          let isRead = name == Self.attachments[0]
          for body in [entry.response.body, entry.request.body ?? HAR.Body()] {
            #expect(body.text == (isRead ? "inside" : "") && body.extensions.isEmpty == isRead, "\(name)")
          }
        }
      }
      let zip = inner.appendingPathComponent("a.zip")
      // Few, because each byte is broken below.
      let zipped = [Self.attachments[0], Self.attachments[2], ".env", "inner/\(Self.attachments[0])"]
      let text = Data((#"{"log":{"entries":["# + zipped.map(Self.naming).joined(separator: ",") + "]}}").utf8)
      try Self.zip([
        ("har.har", text, true), (Self.attachments[0], Data("zipped".utf8), true),
        (Self.attachments[2], Data("stored".utf8), false), (".env", Data("secret".utf8), true),
        ("inner/\(Self.attachments[0])", Data("secret".utf8), false),
      ]).write(to: zip)
      let texts = ["zipped", "stored", "", ""]
      #expect(try HAR(contentsOf: zip).entries.map(\.response.body.text) == texts)
      var reader = try HARReader(zip)
      var read: [String?] = []
      while let entry = try reader.next() { read.append(entry.response.body.text) }
      #expect(read == texts)
      #expect(try HAR(withoutEntriesOf: HARReader(zip)).entries.isEmpty)
      // Whatever is broken in it ends with an error or an archive, and nothing else.
      let whole = try Data(contentsOf: zip)
      for index in whole.indices {
        var broken = whole
        broken[index] ^= 0xFF
        try broken.write(to: zip)
        _ = try? HAR(contentsOf: zip)
        do throws(HARError) {
          var reader = try HARReader(zip)
          while try reader.next() != nil {}
        } catch { #expect(error.file == zip) }
      }
      try Self.zip([("har.har", text, true)], claiming: 2 << 30).write(to: zip)
      #expect(throws: HARError.self) { try HAR(contentsOf: zip) }
      #expect(throws: HARError.self) { try HAR(withoutEntriesOf: HARReader(zip)) }
    }
  }

  /// A zip file (APPNOTE 4.3) without checksums.
  private static func zip(_ files: [(String, Data, Bool)], claiming size: Int? = nil) -> Data {
    func number(_ value: Int, _ count: Int) -> Data { Data((0..<count).map { UInt8(value >> (8 * $0) & 255) }) }
    var (body, directory) = (Data(), Data())
    for (name, content, isCompressed) in files {
      let data = isCompressed ? Deflate.compressed(content, as: .raw) ?? Data() : content
      let head =
        number(20, 2) + number(0, 2) + number(isCompressed ? 8 : 0, 2) + number(0, 8) + number(data.count, 4)
        + number(size ?? content.count, 4) + number(name.utf8.count, 2) + number(0, 2)
      directory +=
        number(0x0201_4B50, 4) + number(20, 2) + head + number(0, 10) + number(body.count, 4) + Data(name.utf8)
      body += number(0x0403_4B50, 4) + head + Data(name.utf8) + data
    }
    return body + directory + number(0x0605_4B50, 4) + number(0, 4) + number(files.count, 2) + number(files.count, 2)
      + number(directory.count, 4) + number(body.count, 4) + number(0, 2)
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
