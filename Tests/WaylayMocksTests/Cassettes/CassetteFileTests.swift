import Foundation
import TestSupport
import Testing
import WaylayHAR
import WaylayMocks

@Suite("The file of a cassette", .heavy, .timeLimit(.minutes(10)))
struct CassetteFileTests {
  let folder: CassetteFolder

  init() throws {
    folder = try CassetteFolder()
  }

  @Test("is beside the source, in Cassettes or in __Cassettes__ where that is; an absolute path is taken as it is")
  func places() throws {
    let source = StaticString("/nowhere/Tests/LoginTests.swift")
    func place(_ path: String, _ source: StaticString) -> String {
      Cassette(path, mode: .none, fileID: "A/B.swift", filePath: source).file.path
    }
    #expect(place("login", source) == "/nowhere/Tests/Cassettes/login.har")
    #expect(place("a/b.HAR", source) == "/nowhere/Tests/Cassettes/a/b.HAR")
    #expect(place("/tmp/x", source) == "/tmp/x.har")
    #expect(Cassette("x", mode: .none).file.path.hasSuffix("Tests/WaylayMocksTests/Cassettes/Cassettes/x.har"))
  }

  @Test("stays as it was when a call fails, with whatever error, and nothing is left beside it")
  func faults() async throws {
    try folder.write([.made("https://a.test/old", "old")])
    let before = folder.data()
    let numbers = [
      ENOSPC, EDQUOT, EACCES, EPERM, EROFS, EIO, EFBIG, EMFILE, ENFILE, ENAMETOOLONG, ELOOP, ENOENT, ENOTDIR, EISDIR,
      EINVAL,
    ]
    var cures: Set<String> = []
    for call in [AtomicFile.Calls.Name.create, .write, .close, .rename] {
      for number in numbers {
        let cassette = folder.cassette(.all, calls: .init { $0 == call ? number : 0 })
        _ = try await cassette.text("https://a.test/new", network: echo)
        let error = #expect(throws: MockError.self) { try cassette.eject() }
        #expect(error?.code == .unwritableFile)
        #expect((error?.underlying as? POSIXError)?.code.rawValue == number)
        let message = error?.message ?? ""
        #expect(
          message.contains("\(folder.path()) cannot be written: ")
            && message.contains("An existing file is unchanged."),
          "\(message)")
        cures.insert(String(message.split(separator: ":")[1].prefix(40)))
        #expect(folder.data() == before, "\(call) \(number)")
        #expect(folder.names == ["tape.har"], "\(call) \(number)")
      }
    }
    #expect(cures.count >= 10, "\(cures)")
    // After all of that, it is written.
    let cassette = folder.cassette(.all)
    _ = try await cassette.text("https://a.test/new", network: echo)
    try cassette.eject()
    #expect(try folder.archive().entries.map(\.request.url) == ["https://a.test/new"])
  }

  @Test("is written in as many pieces as the system takes, and in folders that are made for it")
  func large() async throws {
    let cassette = folder.cassette(.all, "a/b/tape.har")
    let text = String(repeating: "x", count: 5 << 20)
    _ = try await cassette.ask("https://a.test/new") { InterceptedResponse(to: $0, body: .text(text)) }
    try cassette.eject()
    #expect(try folder.archive("a/b/tape.har").entries.first?.response.body.text == text)
  }

  @Test("that cannot be is refused by the system, and the error says why")
  func impossible() async throws {
    try Data().write(to: folder.url.appendingPathComponent("file"))
    for (name, words) in [
      ("file/tape.har", "folder cannot be created"),
      (String(repeating: "n", count: 300) + ".har", "its name is too long"),
    ] {
      let cassette = folder.cassette(.all, name)
      _ = try await cassette.text("https://a.test/new", network: echo)
      let error = #expect(throws: MockError.self) { try cassette.eject() }
      #expect(
        error?.message.contains(words) == true || error?.message.contains("something else is in its place") == true,
        "\(error?.message ?? "")")
    }
    #expect(folder.names == ["file"])
  }

  @Test(
    "is the old one when the process is killed while it records or writes", .exitTest,
    arguments: [nil, .create, .write, .rename, .unlink] as [AtomicFile.Calls.Name?])
  func killed(call: AtomicFile.Calls.Name?) async throws {
    try folder.write([.made("https://a.test/old", "old")])
    let before = folder.data()
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = folder.path() as String, call = call?.rawValue as String?] in
      let cassette = Cassette(
        path, mode: .all, options: Cassette.Options(),
        location: MockSourceLocation(fileID: #fileID, filePath: #filePath, line: 1, column: 1), environment: [:],
        calls: AtomicFile.Calls { $0.rawValue == call ? kill(getpid(), SIGKILL) : 0 })
      _ = try await cassette.text("https://a.test/new", network: echo)
      if call == nil { kill(getpid(), SIGKILL) }
      try cassette.eject()
    }
    let entries = try folder.archive().entries.map(\.request.url)
    // The first name that is removed is that of the old file, when the new one has its place.
    if call == .unlink {
      #expect(entries == ["https://a.test/new"])
    } else {
      #expect(folder.data() == before)
    }
    // The next one removes what the killed one has left.
    let next = folder.cassette(.all)
    _ = try await next.text("https://a.test/next", network: echo)
    try next.eject()
    #expect(folder.names == ["tape.har"])
    #expect(try folder.archive().entries.map(\.request.url) == ["https://a.test/next"])
  }
}
