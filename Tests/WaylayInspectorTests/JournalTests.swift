import Foundation
import TestSupport
import Testing
import WaylayCore
import WaylayHAR

@testable import WaylayInspector

@Suite("The journal of an inspector", .timeLimit(.minutes(10)))
struct JournalTests {
  private static func load(_ count: Int, _ inspector: Inspector, from first: Int = 1) async throws {
    let registry = inspected(inspector) {
      InterceptedResponse(to: $0, fields: [.contentType: "text/plain"], body: .text("answer \($0.url.path)"))
    }
    for number in first..<first + count {
      _ = try await registry.data(for: URLRequest(url: url("https://a.test/\(number)")))
    }
  }

  @Test("has the checksum of ISO 3309 before each line")
  func checksum() { #expect(CRC32.of(Data("123456789".utf8)) == 0xCBF4_3926) }

  @Test("has every exchange that has ended, though the process is killed", .exitTest)
  func killed() async throws {
    try await withDirectory { directory in
      let file = directory.appendingPathComponent("traffic.journal")
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = file.path as String] in
        Process.limit(isToFail: false)
        let inspector = Inspector(journal: try Inspector.Journal(URL(fileURLWithPath: path)))
        try await Self.load(100, inspector)
        await inspector.flush()
        // And some that are on their way into it.
        try await Self.load(100, inspector, from: 101)
        kill(getpid(), SIGKILL)
        while true { try await Task.sleep(for: .seconds(1)) }
      }
      let contents = try Inspector.Journal.read(file)
      #expect(contents.exchanges.count >= 100)
      #expect(contents.exchanges.prefix(100).map(\.request.url) == (1...100).map { "https://a.test/\($0)" })
      #expect(
        contents.exchanges.allSatisfy { $0.response?.body.text?.hasPrefix("answer") == true && $0.source == .mocked })
      // It is gone on with.
      let next = Inspector(journal: try Inspector.Journal(file))
      try await Self.load(1, next, from: 999)
      await next.flush()
      #expect(try Inspector.Journal.read(file).exchanges.last?.request.url == "https://a.test/999")
    }
  }

  @Test("loses an exchange to a full disk, and not the next one", .exitTest)
  func fullDisk() async throws {
    try await withDirectory { directory in
      let file = directory.appendingPathComponent("traffic.journal")
      await #expect(processExitsWith: .success) { [path = file.path as String] in
        Process.limit()
        let journal = try Inspector.Journal(URL(fileURLWithPath: path))
        func write(_ number: Int) {
          let request = HAR.Request(method: "GET", url: "https://a.test/\(number)")
          journal.append([HAR.Entry(started: Date(), request: request, response: HAR.Response(status: 200))])
        }
        write(1)
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
        Process.limitingFiles(toBytes: UInt(size?.intValue ?? 0) + 10) { write(2) }
        Process.require(journal.failure != nil, "the disk was not full")
        write(3)
        Process.require(journal.failure == nil, "\(journal.failure as Any)")
      }
      let contents = try Inspector.Journal.read(file)
      #expect(contents.exchanges.map(\.request.url) == ["https://a.test/1", "https://a.test/3"])
      #expect(contents.damaged == 1)
    }
  }

  @Test("leaves out what is not whole, wherever the file was cut off or changed")
  func damage() async throws {
    try await withDirectory { directory in
      let file = directory.appendingPathComponent("traffic.journal")
      do {
        let inspector = Inspector(journal: try Inspector.Journal(file))
        try await Self.load(3, inspector)
        await inspector.flush()
      }
      let whole = try Data(contentsOf: file)
      for cut in stride(from: 0, to: whole.count, by: 61) {
        try whole.prefix(cut).write(to: file)
        let lines = whole.prefix(cut).split(separator: 0x0A, omittingEmptySubsequences: true).count
        let contents = try Inspector.Journal.read(file)
        #expect(contents.exchanges.count + contents.damaged == lines && contents.damaged <= 1)
        var changed = whole
        changed[cut] ^= 1
        try changed.write(to: file)
        #expect(try Inspector.Journal.read(file).exchanges.count <= 3)
      }
      // A line that was cut off does not spoil the next one.
      try whole.dropLast(10).write(to: file)
      let inspector = Inspector(journal: try Inspector.Journal(file))
      try await Self.load(1, inspector, from: 4)
      await inspector.flush()
      let contents = try Inspector.Journal.read(file)
      #expect(contents.exchanges.map(\.request.url) == ["https://a.test/1", "https://a.test/2", "https://a.test/4"])
      #expect(contents.damaged == 1)
    }
  }

  @Test("has bounds, is for its owner alone, and says when it cannot be written")
  func bounds() async throws {
    try await withDirectory { directory in
      let file = directory.appendingPathComponent("traffic.journal")
      let inspector = Inspector(journal: try Inspector.Journal(file, limit: 40_000))
      try await Self.load(300, inspector)
      await inspector.flush()
      let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
      #expect(names == ["traffic.journal", "traffic.journal.old"])
      var size = 0
      for name in names {
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.appendingPathComponent(name).path)
        size += (attributes[.size] as? NSNumber)?.intValue ?? 0
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
      }
      #expect(size <= 40_000)
      let urls = try Inspector.Journal.read(file).exchanges.map(\.request.url)
      #expect(
        urls.last == "https://a.test/300" && urls == (301 - urls.count...300).map { "https://a.test/\($0)" }
          && urls.count > 20)
      #expect(inspector.journal?.failure == nil)
      // What others could read before is theirs no more.
      for name in names {
        try FileManager.default.setAttributes(
          [.posixPermissions: 0o644], ofItemAtPath: directory.appendingPathComponent(name).path)
      }
      _ = try Inspector.Journal(file)
      for name in names {
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.appendingPathComponent(name).path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
      }
      let nowhere = directory.appendingPathComponent("none/traffic.journal")
      #expect { try Inspector.Journal(nowhere) } throws: { ($0 as? HARError)?.code == .unwritable }
      #expect { try Inspector.Journal.read(nowhere) } throws: { ($0 as? HARError)?.code == .unreadable }
    }
  }

  @Test(
    "is refused at once where a file of its name is not this user's: a FIFO, a link, a file of another owner",
    arguments: ["traffic.journal", "traffic.journal.old"], ["fifo", "link", "owner"])
  func foreign(name: String, kind: String) async throws {
    try await withDirectory { directory in
      let path = directory.appendingPathComponent(name).path
      switch kind {
      case "fifo": #expect(mkfifo(path, 0o600) == 0)
      case "link": #expect(symlink("other", path) == 0)
      default:
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        // Only root gives files away.
        guard geteuid() == 0 else { return }
        #expect(chown(path, 65534, 65534) == 0)
      }
      let file = directory.appendingPathComponent("traffic.journal")
      #expect { try Inspector.Journal(file) } throws: { ($0 as? HARError)?.code == .unwritable }
    }
  }
}
