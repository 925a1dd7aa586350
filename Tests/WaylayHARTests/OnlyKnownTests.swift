import Foundation
import TestSupport
import Testing
import WaylayHAR

@Suite("Only what is known")
struct OnlyKnownTests {
  /// What people do not want to be shown, under names of all kinds.
  static let personal = [
    "Ada Lovelace", "ada.lovelace@example.org", "8731-4711-0042", "+44 20 7946 0958", "usr_8f3k2j1q9", "1815-12-10",
    "0b9d3c52-6a1e-4c0f-9f1d-2b7a5f3e8c41", "Müller", "51.507,-0.128", "4711 Byron Street", "DE89370400440532013000",
  ]

  /// Entries with a text in each place that an entry has, but the host and segments of the path.
  private static func entries(_ text: String) throws -> [HAR.Entry] {
    let (quoted, coded) = (JSONValue(text).description, Plantings.escaped(text))
    let json =
      #"{"a":\#(quoted),\#(quoted):1,"list":[\#(quoted),{\#(quoted):{\#(quoted):[\#(quoted)]}}],"operationName":\#(quoted)}"#
    let fields = [
      "Accept", "Accept-Encoding", "Access-Control-Allow-Headers", "Access-Control-Allow-Origin", "Age", "Allow",
      "Authorization", "Cache-Control", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Cookie",
      "Date",
      "ETag", "Host", "If-Modified-Since", "Last-Modified", "Link", "Location", "Origin", "Referer", "Retry-After",
      "Server",
      "Set-Cookie", "User-Agent", "Vary", "X-Forwarded-For", ":authority", ":path", ":method", text,
    ]
    let values = [
      text, "a=\(text); b", "https://\(coded)@a.test/\(coded)?\(coded)=\(coded)#\(coded)", "no-cache, \(text)",
    ]
    let bodies = [
      ("application/json", json), ("", json), ("application/x-ndjson", json + "\n" + json + "\n" + quoted),
      ("text/event-stream", "event: \(text)\nid: \(text)\ndata: \(json)\n\ndata: \(text)\n\n: \(text)\n\n"),
      ("application/x-www-form-urlencoded", "\(coded)=\(coded)&a=\(coded)&\(coded)"), ("text/plain", text),
      ("text/html", "<p title='\(text)'>\(text)</p>"), ("text/csv", "a,\(text)\n\(text),1"), ("text/\(text)", text),
      ("application/json; profile=\(text)", "[\(quoted)"),
      ("multipart/form-data; boundary=\(text)", "--\(text)\r\n\r\n\(text)"),
    ]
    return try bodies.enumerated().map { index, body in
      let list = fields.map { name -> JSONValue in
        ["name": .init(name), "value": .init(values[index % values.count]), "comment": .init(text)]
      }
      let other: JSONValue = [
        "name": .init(text), "value": .init(text), "path": .init(text), "domain": .init(text), "expires": .init(text),
        "comment": .init(text), "_x": .init(text),
      ]
      let message: [String: JSONValue] = [
        "httpVersion": .init(text), "headers": .init(list), "cookies": [other], "comment": .init(text),
        "_x": .init(text),
        "_\(text)": .init(text),
      ]
      let url =
        "https://\(coded):\(coded)@a.test/\(coded.contains("%") ? coded : "x")?\(coded)=\(coded)&a=\(coded)#\(coded)"
      let request: [String: JSONValue] = [
        "method": .init(text), "url": .init(url), "queryString": [other],
        "postData": [
          "mimeType": .init(body.0), "text": .init(body.1), "params": [other], "comment": .init(text),
          "_x": .init(text),
        ],
      ]
      let response: [String: JSONValue] = [
        "status": 200, "statusText": .init(text), "redirectURL": .init(values[index % values.count]),
        "_error": .init(text),
        "content": [
          "size": 9, "mimeType": .init(body.0), "text": .init(body.1), "comment": .init(text), "_x": .init(text),
        ],
      ]
      let entry: JSONValue = [
        "startedDateTime": "2026-05-04T09:30:00.000Z", "time": 7, "pageref": .init(text),
        "serverIPAddress": .init(text),
        "connection": .init(text), "comment": .init(text), "cache": ["beforeRequest": ["comment": .init(text)]],
        "timings": ["send": 1, "wait": 2, "receive": 4, "comment": .init(text), "_x": .init(text)],
        "_state": .init(text), "_source": .init(text), "_phase": .init(text), "_error": .init(text), "_x": .init(text),
        "request": .init(message.merging(request) { $1 }), "response": .init(message.merging(response) { $1 }),
      ]
      return try HAR.Entry(data: Data(entry.description.utf8))
    }
  }

  /// The text of a written entry, in each spelling, and of its bodies.
  private static func texts(_ entry: HAR.Entry) -> [String] {
    let all = [entry.data(), entry.request.body?.data ?? Data(), entry.response.body.data].map {
      String(decoding: $0, as: UTF8.self)
    }
    return all + all.map { $0.removingPercentEncoding ?? "" }
  }

  @Test("has nothing of what is personal, in whatever place", arguments: personal)
  func hidden(text: String) throws {
    for entry in try Self.entries(text) {
      let seen = Self.texts(entry).filter { $0.contains(text) }
      #expect(seen.count > 1, "it is not there at all")
      let shown = OnlyKnown.entry(entry)
      for shown in Self.texts(shown) { #expect(!shown.contains(text), "\(shown)") }
      #expect(shown.response.status == 200 && shown.request.url.hasPrefix("https://a.test/"))
    }
  }

  @Test("has no planted secret, though no redaction has removed it before", arguments: Plantings.all)
  func planted(planting: Plantings.Planting) {
    #expect(!Plantings.isSeen(in: OnlyKnown.entry(planting.entry)))
    #expect(!Plantings.isSeen(in: OnlyKnown.entry(Redaction.standard.redacted(planting.entry))))
  }

  private static let sample: HAR.Entry = {
    var entry = HAR.Entry(
      started: Date(timeIntervalSince1970: 1_700_000_000),
      request: HAR.Request(
        method: "POST",
        url: "https://ada:pw@api.example.com:8443/v1/users/42/Ada%20L?page=2&ids%5B%5D=7&ada@b.test=1&operationName=Me",
        headers: [
          HAR.Field("Accept", "application/json, text/*; q=0.5; x=Ada"), HAR.Field("User-Agent", "App/1.0 (Ada)"),
          HAR.Field("X-Count", "12"), HAR.Field("X-Since", "Sun, 06 Nov 1994 08:49:37 GMT"),
          HAR.Field("Referer", "https://example.com/a?q=Ada"), HAR.Field("X Ada", "1"),
        ],
        body: HAR.Body(
          Data(
            #"{"operationName":"Order","query":"query Order($id: ID!) { a }","variables":{"id":7,"mail":"ada@b.test"}}"#
              .utf8),
          mediaType: "application/json; charset=utf-8")),
      response: HAR.Response(
        status: 404, statusText: "Not Found, Ada",
        headers: [
          HAR.Field("Content-Type", "application/json"), HAR.Field("Cache-Control", "private, max-age=60"),
          HAR.Field("Set-Cookie", "sid=1"), HAR.Field("Vary", "Accept, Origin"),
          HAR.Field("Location", "/login?next=/ada"),
        ],
        body: HAR.Body(
          Data(#"{"users":{"ada@b.test":{"n":1},"bob@b.test":{"n":2}},"sums":[1,2,2.5],"note":null,"ok":true}"#.utf8),
          mediaType: "application/json")), timings: HAR.Timings(wait: 10, receive: 1))
    entry.request.headersSize = 400
    entry.extensions = ["_state": "failed", "_error": "net::ERR_FAILED", "_phase": "receiving", "_note": "Ada"]
    return entry
  }()

  @Test("has names, types, statuses, sizes and times")
  func shown() throws {
    let shown = OnlyKnown.entry(Self.sample)
    #expect(
      shown.request.url
        == "https://api.example.com:8443/v1/users/42/*?page=&ids%5B%5D=&*1=&operationName=Me")
    #expect(shown.request.query.map(\.name) == ["page", "ids[]", "*1", "operationName"])
    #expect(
      shown.request.headers.map { "\($0.name): \($0.value)" } == [
        "Accept: application/json, text/*; q=0.5", "User-Agent: string", "X-Count: number", "X-Since: date",
        "Referer: https://example.com/a?q=", "*1: number",
      ])
    #expect(
      shown.request.body?.text
        == #"{"operationName":"Order","query":"query Order","variables":{"id":0,"mail":"string"}}"#)
    #expect(shown.request.body?.mediaType == "application/json; charset=utf-8")
    #expect(
      shown.response.body.text == #"{"users":{"*1":{"n":0}},"sums":[0,0.5],"note":null,"ok":false}"#)
    #expect(
      shown.response.headers.map(\.value) == [
        "application/json", "private, max-age=60", "string", "Accept, Origin", "/login?next=",
      ])
    #expect(shown.response.redirectURL == "/login?next=" && shown.response.statusText == "")
    #expect(shown.response.status == 404 && shown.time == 11 && shown.started == Self.sample.started)
    #expect(shown.response.body.size == Self.sample.response.body.size && shown.request.headersSize == 400)
    #expect(shown.extensions == ["_state": "failed", "_error": "net::ERR_FAILED", "_phase": "receiving"])
    // What is written is read again as it is.
    let data = HAR(entries: [shown]).data()
    #expect(try HAR(data: data).entries == [shown] && HARFormat.problems(in: data).isEmpty)
  }

  @Test("is shown by one row of the table, which does without no row", arguments: OnlyKnown.table.indices)
  func rows(index: Int) {
    var rows = OnlyKnown.table
    rows.remove(at: index)
    #expect(OnlyKnown.entry(Self.sample, by: rows) != OnlyKnown.entry(Self.sample), "\(OnlyKnown.table[index].shows)")
    // Without a row, there is nothing.
    #expect(OnlyKnown.entry(Self.sample, by: []) == OnlyKnown.entry(Plantings.entry(), by: []))
  }

  @Test(
    "takes for a name what a programmer writes, and no datum",
    arguments: [
      ("id", true), ("user_id", true), ("@type", true), ("$ref", true), ("_links", true), ("x-amz-id-2", true),
      ("sha256", true), ("isOAuth2Enabled", true), ("filter[name]", true), ("xmlns:soap", true), ("", false),
      ("42", false),
      ("user_4711", false), ("ada@b.test", false), ("b.test", false), ("a b", false), ("é", false), ("-a", false),
      (String(repeating: "a", count: 65), false), ("ghp_abcdefghijklmnopqrstuvwxyzABCDEFGHij1", false), ("a\n", false),
    ])
  func names(text: String, isName: Bool) {
    #expect(OnlyKnown.isName(text) == isName)
  }

  @Test(
    "has of a URL no part that is not known",
    arguments: [
      ("data:text/plain,Ada", "data:"), ("mailto:ada@b.test", "*"), ("ada.lovelace:x", "*"),
      ("myapp://cb?code=1", "myapp://cb?code="),
      ("Ada", "*"), ("/a;v=Ada/b", "/*/b"), ("//a.test/x", "//a.test/x"), ("https:\\\\ada:pw@a.test", "https:"),
      ("https://ä.test/", "https://*/"), ("https://[2001:db8::1]:8443", "https://[2001:db8::1]:8443"), ("", ""),
      ("https://a.test/\(String(repeating: "a", count: 65))", "https://a.test/*"),
      ("https://a.test?Ada&b=", "https://a.test?*1=&b="),
      ("https:///ada:pw@a.test/", "https:///*/"),
    ])
  func urls(url: String, shown: String) {
    var entry = Self.sample
    entry.request.url = url
    #expect(OnlyKnown.entry(entry).request.url == shown)
  }

  @Test("has of events, lines of JSON and forms the names")
  func bodies() {
    for (type, text, shape) in [
      (
        "text/event-stream",
        "event: add\ndata: {\"a\":1}\n\nevent: add\ndata: {\"a\":2}\n\ndata: Ada\n\ndata: [DONE]\n\n",
        "event: add\ndata: {\"a\":0}\n\ndata: string\n\ndata: [DONE]\n\n"
      ), ("application/x-ndjson", "{\"a\":1}\n{\"a\":2}\n{\"b\":", "{\"a\":0}\n"),
      ("application/json-seq", "\u{1E}{\"a\":1}\n\u{1E}{\"b\":\"Ada\"}\n", "{\"a\":0}\n{\"b\":\"string\"}\n"),
      ("application/x-www-form-urlencoded", "a=1&b%20c=2&b%20c=3&d=4", "a=&*1=&*1=&d="), ("text/plain", "Ada", ""),
      ("application/json", "\"Ada\"", "\"string\""), ("application/json", "{\"Ada\":", ""),
      ("", " [true, -1.5e3, 1e2]", "[false,0]"),
    ] {
      var entry = Self.sample
      entry.response.body = HAR.Body(Data(text.utf8), mediaType: type)
      let shown = OnlyKnown.entry(entry).response.body
      #expect(shown.text == shape && shown.size == text.utf8.count, "\(type): \(shown.text ?? "")")
    }
  }
}
