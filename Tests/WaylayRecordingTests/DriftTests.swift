import Foundation
import TestSupport
import Testing
import WaylayHAR
import WaylayRecording

@Suite("The drift of an API", .heavy, .timeLimit(.minutes(10)))
struct DriftTests {
  static func entry(
    _ body: String, _ method: String = "GET", _ url: String = "https://a.test/users/42", status: Int = 200,
    type: String = "application/json; charset=utf-8", fields: [HAR.Field] = [.init("ETag", "\"1\"")],
    sent: String? = nil
  ) -> HAR.Entry {
    HAR.Entry(
      started: Date(timeIntervalSince1970: 0),
      request: HAR.Request(
        method: method, url: url, body: sent.map { HAR.Body(Data($0.utf8), mediaType: "application/json") }),
      response: HAR.Response(
        status: status, headers: [.init("Content-Type", type)] + fields,
        body: HAR.Body(Data(body.utf8), mediaType: type)))
  }

  static let old =
    #"{"id":1,"name":"Ada","email":"a@b.test","tags":["x"],"address":{"street":"S","zip":"1"},"score":null,"items":[{"id":1,"price":2},{"id":2,"price":3,"note":"n"}],"isAdmin":true}"#

  struct Planted: Sendable, CustomStringConvertible {
    var description: String
    var old = DriftTests.entry(DriftTests.old)
    var new: HAR.Entry
    var severity: Drift.Severity
    var place: String

    init(_ name: String, _ severity: Drift.Severity, _ place: String, from: String? = nil, to: String) {
      self.init(name, severity, place, DriftTests.entry(from ?? DriftTests.old), DriftTests.entry(to))
    }

    init(_ name: String, _ severity: Drift.Severity, _ place: String, replacing text: String, by other: String) {
      self.init(name, severity, place, to: DriftTests.old.replacingOccurrences(of: text, with: other))
    }

    init(_ name: String, _ severity: Drift.Severity, _ place: String, _ old: HAR.Entry, _ new: HAR.Entry) {
      (description, self.severity, self.place, self.old, self.new) = (name, severity, place, old, new)
    }
  }

  static let planted: [Planted] = [
    Planted("a member is removed", .error, "$.email", replacing: #""email":"a@b.test","#, by: ""),
    Planted("a nested member is removed", .error, "$.address.zip", replacing: #","zip":"1""#, by: ""),
    Planted("a member of elements is removed", .error, "$.items[*].price", replacing: #","price""#, by: #","cost""#),
    Planted("an object is removed", .error, "$.address", replacing: #""address":{"street":"S","zip":"1"},"#, by: ""),
    Planted("a member is renamed", .error, "$.name", replacing: #""name""#, by: #""fullName""#),
    Planted("a number becomes a string", .error, "$.id", replacing: #"{"id":1,"name""#, by: #"{"id":"1","name""#),
    Planted("a string becomes a number", .error, "$.address.zip", replacing: #""zip":"1""#, by: #""zip":1"#),
    Planted("a boolean becomes a number", .error, "$.isAdmin", replacing: "true", by: "1"),
    Planted("a boolean becomes a string", .error, "$.isAdmin", replacing: "true", by: #""true""#),
    Planted("an object becomes a string", .error, "$.address", replacing: #"{"street":"S","zip":"1"}"#, by: #""S, 1""#),
    Planted("an array becomes an object", .error, "$.tags", replacing: #"["x"]"#, by: #"{"x":true}"#),
    Planted("a value becomes an array", .error, "$.name", replacing: #""Ada""#, by: #"["Ada"]"#),
    Planted("elements change their type", .error, "$.tags[*]", replacing: #"["x"]"#, by: "[1]"),
    Planted("some elements change their type", .error, "$.tags[*]", replacing: #"["x"]"#, by: #"["x",{"name":"y"}]"#),
    Planted("a member may be null", .warning, "$.name", replacing: #""Ada""#, by: "null"),
    Planted("an object may be null", .warning, "$.address", replacing: #"{"street":"S","zip":"1"}"#, by: "null"),
    Planted("a member of some elements is null", .warning, "$.items[*].id", replacing: #"{"id":2"#, by: #"{"id":null"#),
    Planted("a member of some elements is missing", .warning, "$.items[*].price", replacing: #","price":3"#, by: ""),
    Planted("a member is added", .note, "$.nick", replacing: #"{"id":1,"name""#, by: #"{"nick":"A","id":1,"name""#),
    Planted(
      "a nested member is added", .note, "$.address.city", replacing: #""zip":"1""#, by: #""zip":"1","city":"C""#),
    Planted("the top becomes an array", .error, "$", to: "[\(old)]"),
    Planted("the top is wrapped", .error, "$.id", to: #"{"data":\#(old)}"#),
    Planted(
      "members of a dictionary change", .error, "$.*.name", from: #"{"101":{"name":"a"},"102":{"name":"b"}}"#,
      to: #"{"103":{"title":"a"}}"#),
    Planted("the status changes", .error, "status", entry(old), entry(old, status: 404)),
    Planted(
      "the type of the body changes", .error, "field Content-Type", entry(old), entry("<html>", type: "text/html")),
    Planted("the body is gone", .error, "body", entry(old), entry("")),
    Planted("a field is gone", .warning, "field ETag", entry(old), entry(old, fields: [])),
    Planted(
      "a field is new", .note, "field Deprecation", entry(old),
      entry(old, fields: [.init("ETag", "2"), .init("Deprecation", "true")])),
    Planted(
      "the data of events change", .error, "event price $.value",
      entry("event: price\ndata: {\"value\":1}\n\n", type: "text/event-stream"),
      entry("event: price\ndata: {\"value\":\"1\"}\n\n", type: "text/event-stream")),
    Planted(
      "lines of JSON lose a member", .error, "$.b",
      entry("{\"a\":1,\"b\":2}\n{\"a\":1,\"b\":2}\n", type: "application/x-ndjson"),
      entry("{\"a\":1}\n{\"a\":2}\n", type: "application/x-ndjson")),
    Planted(
      "an integer becomes a fraction", .warning, "$.items[*].price", replacing: #""price":3"#, by: #""price":3.5"#),
    Planted("a secret's type changes", .error, "$.token", from: #"{"token":"a"}"#, to: #"{"token":1}"#),
    Planted(
      "one event of two is renamed", .error, "event b",
      entry("event: a\ndata: {}\n\nevent: b\ndata: {}\n\n", type: "text/event-stream"),
      entry("event: a\ndata: {}\n\nevent: c\ndata: {}\n\n", type: "text/event-stream")),
    Planted(
      "a login sets no cookie", .warning, "field Set-Cookie session",
      entry("{}", fields: [.init("Set-Cookie", "session=1; Path=/")]), entry("{}", fields: [])),
    Planted(
      "XML loses an element", .error, "body", entry("<a><b>1</b><c/></a>", type: "text/xml"),
      entry("<a><c/></a>", type: "text/xml")),
    Planted(
      "a table loses a column", .error, "body", entry("id,name\n1,x\n", type: "text/csv"),
      entry("id\n1\n", type: "text/csv")),
    Planted("MAX of three is gone", .error, "$.MAX", from: #"{"MIN":1,"MAX":3,"AVG":2}"#, to: #"{"MIN":1,"AVG":2}"#),
    Planted("LON is gone", .error, "$.LON", from: #"{"LAT":1.5,"LON":2.5}"#, to: #"{"LAT":1.5}"#),
    Planted("sha256 is gone", .error, "$.sha256", from: #"{"sha256":"a","sha512":"b"}"#, to: #"{"sha512":"b"}"#),
    Planted("@type is gone", .error, #"$["@type"]"#, from: #"{"@id":"a","@type":"b"}"#, to: #"{"@id":"a"}"#),
    Planted("a language is gone", .error, "$.t.de", from: #"{"t":{"en":"a","de":"b"}}"#, to: #"{"t":{"en":"a"}}"#),
    Planted("an envelope is renamed", .error, "$.user", from: #"{"user":{"id":1}}"#, to: #"{"account":{"id":1}}"#),
    Planted(
      "a member is renamed among others of other types", .error, "$.name", from: #"{"id":1,"name":"a","nick":"b"}"#,
      to: #"{"id":1,"title":"a","nick":"b"}"#),
    Planted(
      "a member of optional ones in a map changes its type", .error, "$.*.name",
      from: #"{"ada":{"name":"a"},"bob":{"name":"b","nick":"c"}}"#,
      to: #"{"bob":{"name":1,"nick":"c"},"eve":{"name":2,"nick":"d"}}"#),
    Planted(
      "the character set changes", .warning, "field Content-Type", entry("a", type: "text/plain; charset=utf-8"),
      entry("a", type: #"text/plain; charset="ISO-8859-1""#)),
    Planted(
      "a redirect leads elsewhere", .warning, "field Location", entry("", fields: [.init("Location", "/users/1/done")]),
      entry("", fields: [.init("Location", "https://a.test/users/2/welcome")])),
    Planted(
      "another scheme authenticates", .warning, "field WWW-Authenticate",
      entry("", status: 401, fields: [.init("WWW-Authenticate", #"Basic realm="a, b", Bearer realm="c""#)]),
      entry("", status: 401, fields: [.init("WWW-Authenticate", #"Bearer realm="c""#)])),
    Planted(
      "a cookie loses an attribute", .warning, "field Set-Cookie theme",
      entry("{}", fields: [.init("Set-Cookie", "theme=1; Path=/; Secure; Max-Age=3")]),
      entry("{}", fields: [.init("Set-Cookie", "theme=2; path=/; Max-Age=9")])),
    Planted(
      "the end mark of a stream is gone", .error, "event [DONE]",
      entry("data: {}\n\ndata: [DONE]\n\n", type: "text/event-stream"),
      entry("data: {}\n\n", type: "text/event-stream")),
    Planted(
      "one event of two is gone", .warning, "event b",
      entry("event: a\ndata: {}\n\nevent: b\ndata: x\n\n", type: "text/event-stream"),
      entry("event: a\ndata: {}\n\n", type: "text/event-stream")),
    Planted(
      "a table loses a column with a comma in its name", .error, "body",
      entry("\u{FEFF}id,\"a, b\",c\n1,2,3\n", type: "text/csv"), entry("id,c\n1,3\n", type: "text/csv")),
    Planted(
      "the answer to a created resource changes", .error, "$.name", entry(old, "GET", "https://a.test/users/8812"),
      entry(#"{"id":1}"#, "GET", "https://a.test/users/9913")),
  ]

  @Test("is found", arguments: planted)
  func found(drift: Planted) {
    let found = Drift.between([drift.old], [drift.new])
    #expect(found.contains { $0.place == drift.place && $0.severity == drift.severity }, "\(found)")
    #expect(found.map(\.severity).max() == found.first?.severity)
  }

  @Test("is not seen in 200 recordings of the same API, whatever their values are")
  func unchanged() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      let (old, new) = (Self.recording(&random), Self.recording(&random))
      let found = Drift.between(old, new.shuffled())
      #expect(found.isEmpty, "\(found)")
    }
  }

  /// What a server says at any time: other numbers, texts, orders, lengths of lists, fields of machines on the way.
  private static func recording(_ random: inout SystemRandomNumberGenerator) -> [HAR.Entry] {
    func number() -> Int { Int.random(in: 0...9_999_999, using: &random) }
    func text() -> String { String(UInt64.random(in: .min ... .max, using: &random), radix: 36) }
    func object(_ members: [(String, String)]) -> String {
      "{" + members.shuffled(using: &random).map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
    }
    func list(_ element: () -> String) -> String {
      "[" + (0..<Int.random(in: 0...4, using: &random)).map { _ in element() }.joined(separator: ",") + "]"
    }
    let user = object([
      ("id", "\(number())"), ("name", "\"\(text())\""), ("token", "\"\(text())\""),
      ("score", Bool.random() ? "1.25" : "1.5"),
      ("rates", object([("EUR", "1.5"), (Bool.random() ? "USD" : "SEK", "2.5")])),
      ("created", "\"2026-0\(Int.random(in: 1...9, using: &random))-11T10:00:00Z\""),
      ("tags", list { "\"\(text())\"" }),
      ("orders", list { object([("id", "\(number())"), ("total", "\(number()).5")]) }), ("isAdmin", "\(Bool.random())"),
      ("deleted", "null"), ("byID", object((0..<3).map { _ in ("\(number())", object([("n", "\(number())")])) })),
    ])
    let noise = [
      HAR.Field("Date", text()), .init("Age", "1"), .init("CF-Ray", text()), .init("Set-Cookie", "a=\(text())"),
      .init("X-Request-ID", text()),
    ]
    let fields = [HAR.Field("ETag", "\"\(text())\"")] + noise.filter { _ in Bool.random() }
    let polls = (0..<Int.random(in: 1...3, using: &random)).map { _ in
      entry("{\"state\":\"running\"}", "GET", "https://a.test/jobs/1", status: 202)
    }
    let events = (0..<Int.random(in: 1...5, using: &random)).map { "event: tick\ndata: {\"n\":\($0)}\n\n" }.joined()
    return [
      entry(user, fields: fields),
      entry("{\"id\":\(number())}", "POST", "https://a.test/orders", status: 201, sent: "{\"at\":\(number())}"),
      entry(user, "GET", "https://a.test/orders/\(number())?page=1&ts=\(number())"),
      entry(text(), "GET", "https://a.test/text", type: "text/plain"),
      entry(events, "GET", "https://a.test/events", type: "text/event-stream"),
      entry("", "DELETE", "https://a.test/users/\(number())", status: 204),
    ] + polls + [entry("{\"state\":\"done\"}", "GET", "https://a.test/jobs/1")]
  }

  @Test("is no error that was retried, no member that is ignored, and no other currency")
  func chance() {
    let (good, bad) = (Self.entry(Self.old), Self.entry("busy", status: 503, type: "text/plain"))
    #expect(Drift.between([good], [bad, good]).isEmpty && Drift.between([bad, good], [good]).isEmpty)
    #expect(Drift.between([good], [good, bad]).map(\.severity) == [.error])
    let (old, new) = (Self.entry(#"{"a":{"b":1},"c":1}"#), Self.entry(#"{"a":{"b":"1"},"c":"1"}"#))
    #expect(Drift.between([old], [new], ignoring: ["$.a"]).map(\.place) == ["$.c"])
    let one = Self.entry(#"{"r":{"EUR":1.5,"USD":2.5},"t":{"en":"a","de":"b"}}"#)
    let two = Self.entry(#"{"r":{"EUR":1.5,"SEK":2.5},"t":{"en":"a","fr":"b"}}"#)
    #expect(Drift.between([one], [two]).isEmpty)
  }

  @Test("counts an object as a map if names differ between the recordings and values agree, or as the user says")
  func maps() {
    func drift(_ old: String, _ new: String, _ ignoring: String...) -> [Drift] {
      Drift.between([Self.entry(old)], [Self.entry(new)], ignoring: ignoring)
    }
    #expect(drift(#"{"ada":{"n":1},"bob":{"n":2.5,"o":[1]}}"#, #"{"bob":{"n":1},"eve":{"n":2,"o":[]}}"#).isEmpty)
    #expect(drift(#"{"a":{"x":{"n":1}},"b":{"y":{"n":1}}}"#, #"{"c":{"z":{"n":1}},"d":{"x":{"n":1}}}"#).isEmpty)
    let (one, two) = (#"{"r":{"EUR":1.5,"USD":2.5}}"#, #"{"r":{"EUR":1.5}}"#)
    #expect(drift(one, two).map(\.place) == ["$.r.USD"])
    #expect(drift(one, two, "$.r.*").isEmpty && drift(two, one, "$.r.*").isEmpty)
    #expect(drift(one, #"{"r":{"SEK":"1.5"}}"#, "$.r.*").map(\.place) == ["$.r.*"])
    #expect(drift(one, #"{"r":{"SEK":"1.5"}}"#, "$.r").isEmpty)
  }

  @Test("is neither in quotes, a byte order mark, an absolute URL nor another order of challenges")
  func syntax() {
    func same(_ old: HAR.Entry, _ new: HAR.Entry) { #expect(Drift.between([old], [new]).isEmpty) }
    same(
      Self.entry("id,\"a, \"\"b\",c\r\n1,2,3", type: "text/csv"),
      Self.entry("\u{FEFF}\"id\",\"a, \"\"b\",\"c\"\n1,2,3", type: "text/csv"))
    same(
      Self.entry("", fields: [.init("Location", "done?at=1")]),
      Self.entry("", fields: [.init("Location", "https://a.test/users/done?at=2")]))
    same(
      Self.entry("", status: 401, fields: [.init("WWW-Authenticate", #"Basic realm="a", Bearer error="b""#)]),
      Self.entry("", status: 401, fields: [.init("WWW-Authenticate", "bearer"), .init("WWW-Authenticate", "BASIC")]))
    same(Self.entry("a", type: "text/plain; charset=UTF-8"), Self.entry("b", type: #"text/plain;charset="utf-8""#))
  }

  @Test("says neither values nor secrets")
  func secrets() {
    func fields(_ path: String, _ secret: String) -> [HAR.Field] {
      [
        .init("Location", "https://a.test/\(path)?token=\(secret)"),
        .init("Set-Cookie", "session=\(secret); Path=/\(path)"), .init("WWW-Authenticate", "\(path) \(secret)"),
      ]
    }
    let old = Self.entry(
      #"{"token":"pl4nted-a","name":"x"}"#, "GET", "https://a.test/x?api_key=pl4nted-b",
      fields: fields("one", "pl4nted-e"))
    let new = Self.entry(
      #"{"token":null,"title":"pl4nted-c"}"#, "GET", "https://a.test/x?api_key=pl4nted-d",
      fields: fields("two", "pl4nted-f"))
    let text = Drift.between([old], [new]).map(\.description).joined(separator: "\n")
    #expect(text.contains("$.name is gone"), "\(text)")
    #expect(text.contains("$.token may be null"), "\(text)")
    for name in ["Location", "Set-Cookie session", "WWW-Authenticate"] {
      #expect(text.contains("field \(name) has no"), "\(text)")
    }
    #expect(!text.contains("pl4nted"), "\(text)")
  }

  @Test("is said once for many requests, and of requests that only one recording has it is a note")
  func once() {
    let old = (0..<5).map { _ in Self.entry(Self.old) } + [Self.entry("{}", "GET", "https://a.test/gone")]
    let new = (0..<5).map { _ in Self.entry(#"{"id":1}"#) } + [Self.entry("{}", "GET", "https://a.test/new")]
    let found = Drift.between(old, new)
    #expect(found.count { $0.place == "$.name" } == 1)
    #expect(
      found.filter { $0.severity == .note }.map(\.request) == ["GET https://a.test/gone", "GET https://a.test/new"])
  }
}
