import Foundation
import TestSupport
import Testing
import WaylayHAR
import WaylayMocks

@Suite("A cassette that plays", .timeLimit(.minutes(5)))
struct PlayingTests {
  let folder: CassetteFolder

  init() throws {
    folder = try CassetteFolder()
  }

  @Test("says of an entry without its body which one it is, and answers with none")
  func missingBody() async throws {
    var (missing, cut, empty) = (
      HAR.Entry.made("GET", "https://a.test/missing", ""), HAR.Entry.made("GET", "https://a.test/cut", "begin"),
      HAR.Entry.made("GET", "https://a.test/empty", "")
    )
    missing.response.body.size = 1_000
    cut.response.body.size = 1_000
    empty.response = HAR.Response(status: 304, headers: [.init("Content-Length", "1000")])
    try folder.write([missing, cut, empty])
    let cassette = folder.cassette()
    let error = await failure { try await cassette.ask("https://a.test/missing") }
    #expect(cassetteError(error)?.message.contains("entry 1: GET https://a.test/missing") == true, "\(error as Any)")
    #expect(try await cassette.text(.get, "https://a.test/cut") == "begin")
    #expect(try await cassette.text(.get, "https://a.test/empty").isEmpty)
    #expect(cassette.issues.map(\.kind) == [.invalidCassette, .invalidCassette], "\(cassette.issues)")
  }

  @Test("gives identical requests their answers in the order in which they were recorded, and one more fails as played")
  func order() async throws {
    try folder.write([
      .made("https://a.test/x", "third", at: 30), .made("https://a.test/x", "first", at: 10),
      .made("https://a.test/y", "other", at: 15), .made("https://a.test/x", "second", at: 20),
    ])
    let cassette = folder.cassette()
    for expected in ["first", "second", "third"] { #expect(try await cassette.text("https://a.test/x") == expected) }
    #expect(try await cassette.text("https://a.test/y") == "other")
    let error = cassetteError(await failure { try await cassette.ask("https://a.test/x") })
    #expect(error?.code == .exhausted)
    #expect(error?.message.contains("has been played already") == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("3 entries for it") == true)
    #expect(cassette.issues.map(\.kind) == [.exhausted])
  }

  @Test("lets the last answer come again where that is allowed")
  func repeats() async throws {
    try folder.write([.made("https://a.test/x", "1", at: 1), .made("https://a.test/x", "2", at: 2)])
    let cassette = folder.cassette { $0.allowsRepeats = true }
    var answers: [String] = []
    for _ in 0..<4 { answers.append(try await cassette.text("https://a.test/x")) }
    #expect(answers == ["1", "2", "2", "2"])
  }

  @Test("gives each of a hundred identical requests at once an entry of its own")
  func concurrent() async throws {
    try folder.write((0..<100).map { .made("https://a.test/x", "\($0)", at: Double($0 + 1)) })
    let cassette = folder.cassette()
    let answers = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<100 { group.addTask { try await cassette.text("https://a.test/x") } }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(answers.count == 100)
    #expect(cassette.issues.isEmpty)
  }

  @Test("gives each of many requests its own entry, in any order, without a comparison with all of them")
  func many() async throws {
    let count = 300
    try folder.write(
      (0..<count).map { .made("POST", "https://a.test/x", "\($0)", at: Double($0 + 1), body: #"{"id":\#($0)}"#) }
        + (0..<count).map { .made("https://a.test/x?id=\($0)", "\($0)", at: Double($0 + 1000)) })
    let compared = Locked(0)
    let cassette = folder.cassette { options in
      options.matcher = { _, _ in
        compared.withLock { $0 += 1 }
        return true
      }
    }
    for number in (0..<count).reversed() {
      let body = MessageBody.text(#"{ "id": \#(number) }"#)
      let type: HTTPFields = [.contentType: "application/json"]
      #expect(try await cassette.text(.post, "https://a.test/x", body: body, fields: type) == "\(number)")
    }
    for number in 0..<count { #expect(try await cassette.text("https://a.test/x?id=\(number)") == "\(number)") }
    #expect(compared.withLock { $0 } == 2 * count)
    #expect(cassette.issues.isEmpty)
  }

  @Test("compares method, URL and query, the latter in any order, and says of a miss what came nearest and what to do")
  func misses() async throws {
    try folder.write([
      .made("https://a.test/users?page=2&sort=name", "two"), .made("POST", "https://a.test/users", "made", status: 201),
      .made("https://b.test/other", "other"), .made("https://c.test/far/away", "far"),
    ])
    let cassette = folder.cassette()
    #expect(try await cassette.text("https://a.test/users?sort=name&page=2") == "two")
    let again = try folder.again()
    for (method, url, expectation) in [
      (
        HTTPRequest.Method.get, "https://a.test/users?page=3&sort=name",
        "query page  expected page=2\n                but was  page=3"
      ),
      (.delete, "https://a.test/users", "method  expected POST\n            but was  DELETE"),
      (.get, "https://b.test/othre", "path  expected /other\n          but was  /othre"),
      (.get, "http://b.test/other", "scheme  expected https"),
      (.get, "https://b.test:8443/other", "port  expected 443"),
      (.get, "https://bb.test/other", "host  expected b.test"),
    ] {
      let error = cassetteError(await failure { try await again.ask(method, url) })
      let text = error?.message ?? ""
      #expect(error?.code == .unmatched)
      #expect(
        text.hasPrefix("No entry of the cassette tape.har matches \(method) \(url)\nNearest of 4 entries:\n"), "\(text)"
      )
      #expect(text.contains(expectation), "\(text)")
      #expect(text.contains("WAYLAY_RECORD=newEpisodes swift test"), "\(text)")
    }
    #expect(again.issues.filter { $0.kind == .unmatched }.count == 6)
  }

  @Test("compares what it is told to: the path alone, header fields, the body by value")
  func matching() async throws {
    try folder.write([
      .made(
        "POST", "https://live.test/graph", "users", body: #"{"query":"users","page":1.0}"#,
        headers: [.init("X-Tenant", "a")]),
      .made(
        "POST", "https://live.test/graph", "orders", body: #"{"query":"orders"}"#, headers: [.init("X-Tenant", "a")]),
      .made(
        "POST", "https://live.test/graph", "form", body: "b=2&a=1", type: "application/x-www-form-urlencoded",
        headers: [.init("x-tenant", "b")]),
    ])
    let change: (inout Cassette.Options) -> Void = { $0.matching = [.method, .path, .body, .headerField("X-Tenant")] }
    let cassette = folder.cassette(changed: change)
    let url = "http://127.0.0.1:8080/graph?ignored=1"
    let tenant = HTTPField.Name("X-Tenant")!
    let json: HTTPFields = [.contentType: "application/json", tenant: "a"]
    #expect(try await cassette.text(.post, url, body: .text(#"{ "query": "orders" }"#), fields: json) == "orders")
    #expect(try await cassette.text(.post, url, body: .text(#"{"page":1,"query":"users"}"#), fields: json) == "users")
    let form: HTTPFields = [.contentType: "application/x-www-form-urlencoded", tenant: "b"]
    #expect(try await cassette.text(.post, url, body: .text("a=1&b=2"), fields: form) == "form")
    let again = folder.cassette(changed: change)
    let error = await failure {
      try await again.ask(
        .post, url, body: .text(#"{"query":"invoices"}"#), fields: [.contentType: "application/json", tenant: "b"])
    }
    let text = cassetteError(error)?.message ?? ""
    #expect(text.contains("header x-tenant  expected a") && text.contains("but was  b"), "\(text)")
    #expect(text.contains(#"body at $.query  expected "orders""#), "\(text)")
  }

  @Test("of entries that are equally for a request, plays the one with its body first")
  func tieBreak() async throws {
    try folder.write([
      .made("POST", "https://a.test/q", "one", at: 1, body: #"{"id":1}"#),
      .made("POST", "https://a.test/q", "two", at: 2, body: #"{"id":2}"#),
    ])
    let cassette = folder.cassette()
    #expect(try await cassette.text(.post, "https://a.test/q", body: .text(#"{"id":2}"#)) == "two")
    #expect(try await cassette.text(.post, "https://a.test/q", body: .text(#"{"id":9}"#)) == "one")
  }

  @Test("takes multipart forms for the same whatever their boundaries")
  func multipart() async throws {
    func body(_ boundary: String, _ value: String) -> String {
      "--\(boundary)\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\(value)\r\n--\(boundary)--\r\n"
    }
    try folder.write([
      .made("POST", "https://a.test/f", "ok", body: body("b1", "x"), type: "multipart/form-data; boundary=b1")
    ])
    let change: (inout Cassette.Options) -> Void = { $0.matching = [.method, .url, .body] }
    let fields: HTTPFields = [.contentType: "multipart/form-data; boundary=b22"]
    let cassette = folder.cassette(changed: change)
    let error = await failure {
      try await cassette.ask(.post, "https://a.test/f", body: .text(body("b22", "y")), fields: fields)
    }
    #expect(cassetteError(error)?.code == .unmatched)
    #expect(try await cassette.text(.post, "https://a.test/f", body: .text(body("b22", "x")), fields: fields) == "ok")
  }

  @Test("without a file says where it looked and how to record one")
  func missing() async throws {
    let cassette = folder.cassette()
    let error = cassetteError(await failure { try await cassette.ask("https://a.test/") })
    #expect(error?.code == .unreadableFile)
    #expect(
      error?.message.contains(folder.path()) == true && error?.message.contains("WAYLAY_RECORD=once swift test") == true
    )
    #expect(cassette.issues.map(\.kind) == [.invalidCassette])
    let strict = folder.cassette(.none, environment: ["WAYLAY_RECORD": "all"])
    let other = cassetteError(await failure { try await strict.ask("https://a.test/", network: echo) })
    #expect(other?.message.contains("Its mode is .none") == true)
  }

  @Test("of a file that is no archive says so", arguments: ["", "{}", "{\"log\":{\"entries\":[{", "[1,2"])
  func broken(text: String) async throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path()))
    let error = cassetteError(await failure { try await folder.cassette().ask("https://a.test/") })
    #expect(error?.code == .unreadableFile)
    #expect(error?.message.contains("WAYLAY_RECORD=all swift test") == true)
    #expect(folder.data() == Data(text.utf8))
  }

  @Test("that has expired warns, fails, or is recorded anew where its mode records")
  func expiry() async throws {
    try folder.write([
      .made("https://a.test/x", "old", at: 1_000_000_000), .made("https://a.test/y", "new", at: 1_000_864_000),
    ])
    let now = Date(timeIntervalSince1970: 1_000_000_000 + 31 * 86_400)
    func options(_ days: Double, _ action: OpenEnum<Cassette.Expiry>) -> (inout Cassette.Options) -> Void {
      { options in
        options.expiry = .days(days, then: action)
        options.now = { now }
        options.unused = .ignore
      }
    }
    let young = folder.cassette(changed: options(31.5, .fail))
    #expect(try await young.text("https://a.test/x") == "old")
    #expect(young.issues.isEmpty)
    let warned = folder.cassette(changed: options(30, .warn))
    #expect(try await warned.text("https://a.test/x") == "old")
    #expect(warned.issues.map(\.kind) == [.expired])
    #expect(warned.issues.first?.message.contains("its age in days is 31, and the limit is 30") == true)
    let failed = folder.cassette(changed: options(30, .fail))
    #expect(cassetteError(await failure { try await failed.ask("https://a.test/x") })?.code == .expiredCassette)
    let strict = folder.cassette(changed: options(30, .record))
    #expect(try await strict.text("https://a.test/x", network: echo) == "old")
    #expect(strict.issues.map(\.kind) == [.expired])
    let recorded = folder.cassette(.once, changed: options(30, .record))
    #expect(try await recorded.text("https://a.test/x", network: echo) == "answer to /x")
    try recorded.eject()
    #expect(try folder.archive().entries.map(\.response.body.text) == ["answer to /x"])
  }

  @Test("takes as long as the recording did, or so many times that, on the clock it is given")
  func timing() async throws {
    let timings = HAR.Timings(connect: 300, send: 100, wait: 600, receive: 1000)
    for (scale, head, total) in [(1.0, 1.0, 2.0), (3, 3, 6), (.nan, 0, 0), (-1, 0, 0), (0, 0, 0)] {
      try folder.write([.made("https://a.test/x", String(repeating: "x", count: 4000), timings: timings)])
      let clock = MockClock(isAutomatic: true)
      let cassette = folder.cassette {
        $0.timeScale = scale
        $0.clock = clock
      }
      let response = try await cassette.ask("https://a.test/x")
      #expect(clock.now.offset == .seconds(head))
      #expect(try await response.body.collect(upTo: 5000).count == 4000)
      #expect(clock.now.offset == .seconds(total))
    }
  }

  @Test("names entries that nobody has asked for, or takes them out of the file")
  func unused() async throws {
    let entries: [HAR.Entry] = [
      .made("https://a.test/x", "x", at: 10), .made("https://a.test/y?token=s", "y", at: 20),
      .made("https://a.test/z", "z", at: 30),
    ]
    try folder.write(entries)
    let cassette = folder.cassette()
    _ = try await cassette.text("https://a.test/z")
    let issue = try #require(cassette.issues.first)
    #expect(cassette.issues.count == 1 && issue.kind == .unused)
    #expect(
      issue.message.hasPrefix("The cassette tape.har has entries that were not played: 2 of 3."), "\(issue.message)")
    #expect(issue.message.contains("entry 1: GET https://a.test/x (200"), "\(issue.message)")
    #expect(folder.cassette { $0.unused = .ignore }.issues.isEmpty)
    // Without a mode that writes, pruning says what it would do.
    let before = folder.data()
    let strict = folder.cassette { $0.unused = .prune }
    _ = try await strict.text("https://a.test/z")
    try strict.eject()
    #expect(folder.data() == before && strict.issues.map(\.kind) == [.unused])
    let pruning = folder.cassette(environment: ["WAYLAY_RECORD": "newEpisodes"]) { $0.unused = .prune }
    _ = try await pruning.text("https://a.test/z")
    try pruning.eject()
    #expect(try folder.archive().entries.map(\.response.body.text) == ["z"])
    #expect(pruning.issues.isEmpty)
  }

  @Test("refuses WebSockets, which would go past it")
  func webSockets() throws {
    try folder.write([.made("https://a.test/x")])
    let cassette = folder.cassette { $0.unused = .ignore }
    for _ in 0..<2 {
      #expect(throws: MockError.self) { try cassette.validate(webSocket: .get("wss://a.test/live")) }
    }
    #expect(cassette.issues.count == 1)
  }

  @Test(
    """
    takes what browsers export: their dialects, several cookies in one field, bodies that are decoded already, \
    failures
    """,
    arguments: ["chrome", "firefox", "safari"])
  func browsers(name: String) async throws {
    let sample = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "Samples/\(name).har")
    let cassette = Cassette(sample.path, mode: .none)
    let session = URLSession(configuration: .ephemeral.intercepted(by: InterceptorRegistry { cassette }))
    // The length of what was compressed is nobody's: URLSession would wait for it, or cut the body off.
    let url = try #require(URL(string: "https://api.example.com/v1/profile?v=2&lang=en"))
    let (profile, head) = try await session.data(from: url)
    #expect(String(decoding: profile, as: UTF8.self) == #"{"name":"Ada","plan":"pro"}"#)
    let fields = try #require((head as? HTTPURLResponse)?.allHeaderFields as? [String: String])
    let dropped = ["content-encoding", "content-length", "transfer-encoding"]
    #expect(fields.keys.filter { dropped.contains($0.lowercased()) || $0.hasPrefix(":") } == [])
    let login = try await cassette.ask(
      .post, "https://api.example.com/v1/login", body: .text(#"{"user":"ada","password":"y"}"#))
    #expect(login.fields[values: .setCookie].map { $0.prefix(3) } == ["a=1", "b=2"])
    let logo = try await cassette.ask("https://api.example.com/logo.png")
    #expect(try await logo.body.collect(upTo: 100).starts(with: [0x89, 0x50, 0x4E, 0x47]))
    if name != "safari" {
      let error = await failure { try await cassette.ask("https://api.example.com/v1/gone") } as? TransportError
      #expect(error?.urlErrorCode == (name == "chrome" ? .cannotConnectToHost : .networkConnectionLost))
    }
    // Chrome's preflight is left; its rows of WebSockets and data: are none that could be asked for.
    let unused = cassette.issues.first { $0.kind == .unused }?.message
    #expect(name == "chrome" ? unused?.contains("were not played: 1 of 5.") == true : unused == nil, "\(unused ?? "")")
    session.invalidateAndCancel()
  }
}

extension CassetteFolder {
  fileprivate func again() throws -> Cassette { cassette { $0.unused = .ignore } }
}

extension HAR.Entry {
  static func made(
    _ url: String, _ answer: String = "", at second: Double = 1_790_000_000, timings: HAR.Timings = .init()
  ) -> HAR.Entry {
    made("GET", url, answer, at: second, timings: timings)
  }
}

extension Cassette {
  func ask(
    _ url: String,
    network: @escaping @Sendable (InterceptedRequest) async throws -> InterceptedResponse = { _ in
      throw URLError(.notConnectedToInternet)
    }
  ) async throws -> InterceptedResponse { try await ask(.get, url, network: network) }

  func text(
    _ url: String,
    network: @escaping @Sendable (InterceptedRequest) async throws -> InterceptedResponse = { _ in
      throw URLError(.notConnectedToInternet)
    }
  ) async throws -> String { try await text(.get, url, network: network) }
}
