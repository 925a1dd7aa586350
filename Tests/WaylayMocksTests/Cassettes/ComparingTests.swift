import Foundation
import TestSupport
import Testing
import WaylayHAR
import WaylayMocks

@Suite("A cassette that compares the whole request", .timeLimit(.minutes(5)))
struct ComparingTests {
  let folder: CassetteFolder
  let url = "https://a.test/orders"
  let json: HTTPFields = [.contentType: "application/json"]
  let form: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]

  init() throws {
    folder = try CassetteFolder()
  }

  @Test("answers a request with another body, and warns of it with the JSON path")
  func jsonBodies() async throws {
    try folder.write([.made("POST", url, "ok", body: #"{"item":{"id":1,"count":2},"password":"pl4nted-a"}"#)])
    let cassette = folder.cassette()
    let asked = MessageBody.text(#"{"password":"pl4nted-b","item":{"count":3,"id":1}}"#)
    #expect(try await cassette.text(.post, url, body: asked, fields: json) == "ok")
    let issue = try #require(cassette.issues.first)
    #expect(cassette.issues.count == 1)
    #expect(issue.kind == .differing)
    #expect(issue.isWarning)
    #expect(issue.message.contains("body at $.item.count  expected 2"), "\(issue.message)")
    #expect(issue.message.contains("but was  3"), "\(issue.message)")
    #expect(issue.message.contains("$.password") && !issue.message.contains("pl4nted"), "\(issue.message)")
  }

  @Test("names the field of a form, the part of a multipart form, and the first byte that differs")
  func otherKinds() async throws {
    func parts(_ boundary: String, _ value: String) -> String {
      "--\(boundary)\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\n\(value)\r\n--\(boundary)--\r\n"
    }
    try folder.write([
      .made("POST", url, "1", at: 1, body: "a=1&b=2", type: "application/x-www-form-urlencoded"),
      .made("POST", url + "/2", "2", at: 2, body: parts("x", "old"), type: "multipart/form-data; boundary=x"),
      .made("POST", url + "/3", "3", at: 3, body: "plain text", type: "text/plain"),
      .made("POST", url + "/4", "4", at: 4),
    ])
    let cassette = folder.cassette()
    let multipart: HTTPFields = [.contentType: "multipart/form-data; boundary=y"]
    #expect(try await cassette.text(.post, url, body: .text("b=3&a=1"), fields: form) == "1")
    #expect(try await cassette.text(.post, url + "/2", body: .text(parts("y", "new")), fields: multipart) == "2")
    #expect(try await cassette.text(.post, url + "/3", body: .text("plain test")) == "3")
    #expect(try await cassette.text(.post, url + "/4", body: .text("more")) == "4")
    let texts = cassette.issues.map(\.message)
    for (text, part) in zip(
      texts, ["form field b  expected b=2", "part title  expected", "body from byte 8", "body  expected none"])
    {
      #expect(text.contains(part), "\(text)")
    }
    #expect(texts.count == 4)
  }

  @Test("says nothing of a body that is the same by its kind")
  func same() async throws {
    try folder.write([
      .made("POST", url, "1", at: 1, body: #"{"a":1,"b":[1,2]}"#),
      .made("POST", url, "2", at: 2, body: "a=1&b=2", type: "application/x-www-form-urlencoded"),
      .made("GET", url, "3", at: 3),
    ])
    let cassette = folder.cassette()
    #expect(try await cassette.text(.post, url, body: .text(#"{ "b": [1, 2.0], "a": 1 }"#), fields: json) == "1")
    #expect(try await cassette.text(.post, url, body: .text("b=2&a=1"), fields: form) == "2")
    #expect(try await cassette.text(.get, url) == "3")
    #expect(cassette.issues.isEmpty)
  }

  @Test("fails for another body where bodies must match")
  func failing() async throws {
    try folder.write([.made("POST", url, "ok", body: #"{"a":1}"#)])
    let cassette = folder.cassette { $0.matching.insert(.body) }
    let error = await failure { try await cassette.ask(.post, url, body: .text(#"{"a":2}"#), fields: json) }
    #expect(cassetteError(error)?.message.contains("body at $.a  expected 1") == true)
    #expect(cassette.issues.first?.isWarning == false)
  }

  @Test("does not compare what may differ: items of the query, fields, and what a JSON path leads to")
  func ignoring() async throws {
    try folder.write([
      .made(
        "POST", url + "?id=1&ts=100", "ok", at: 1, body: #"{"nonce":"x","items":[{"id":1,"at":5},{"id":2,"at":6}]}"#,
        headers: [.init("X-Request-ID", "1")]),
      .made("POST", url + "?id=2", "form", at: 2, body: "a=1&token_count=5", type: "application/x-www-form-urlencoded"),
    ])
    let cassette = folder.cassette {
      $0 = .ignoring(
        .query("ts"), .field("X-Request-ID"), .field("token_count"), .json("$.nonce"), .json("$.items[*].at"))
      $0.matching.insert(.field("X-Request-ID"))
    }
    let body = MessageBody.text(#"{"items":[{"id":1,"at":7},{"id":2}],"nonce":7}"#)
    #expect(try await cassette.text(.post, url + "?ts=200&id=1", body: body, fields: json) == "ok")
    #expect(
      try await cassette.text(.post, url + "?id=2&ts=9", body: .text("token_count=6&a=1"), fields: form) == "form")
    #expect(cassette.issues.isEmpty, "\(cassette.issues)")
    let other = folder.cassette { $0 = .ignoring(.body, .query("ts")) }
    #expect(try await other.text(.post, url + "?id=1", body: .text("whatever")) == "ok")
    #expect(!other.issues.contains { $0.kind == .differing })
  }

  @Test("compares single items, fields and JSON values where it is told to")
  func single() async throws {
    try folder.write([
      .made("POST", url + "?op=a&x=1", "a", at: 1, body: #"{"op":"a","n":1}"#),
      .made("POST", url + "?op=b&x=1", "b", at: 2, body: #"{"op":"b","n":1}"#),
    ])
    for aspect in [Cassette.Aspect.query("op"), .json("$.op")] {
      let cassette = folder.cassette { ($0.matching, $0.unused) = ([.method, .path, aspect], .ignore) }
      let body = MessageBody.text(#"{"op":"b","n":9}"#)
      #expect(try await cassette.text(.post, url + "?op=b&x=2", body: body, fields: json) == "b")
    }
    let miss = folder.cassette { $0.matching = [.method, .path, .json("$.op")] }
    let error = await failure { try await miss.ask(.post, url, body: .text(#"{"op":"c","n":1}"#), fields: json) }
    #expect(
      cassetteError(error)?.message.contains("body at $.op  expected \"a\"") == true, "\(String(describing: error))")
  }

  @Test("says that a JSON path cannot be parsed, before anything is asked")
  func invalidPath() async throws {
    try folder.write([.made("GET", url, "ok")])
    let cassette = folder.cassette { $0 = .ignoring(.json("$..")) }
    #expect(cassette.issues.first?.message.contains("cannot be parsed") == true)
    #expect(cassetteError(await failure { try await cassette.ask(.get, url) })?.code == .invalidPattern)
  }

  @Test("leaves the verdict to a matcher of one's own, which sees no secret")
  func matcher() async throws {
    try folder.write([
      .made("POST", url, "small", at: 1, body: #"{"size":1}"#),
      .made("POST", url, "large", at: 2, body: #"{"size":100}"#),
    ])
    let seen = Locked<[String]>([])
    let cassette = folder.cassette {
      $0.unused = .ignore
      $0.matcher = { recorded, asked in
        seen.withLock { $0.append(asked.headers.map(\.value).joined()) }
        return (recorded.body?.size ?? 0) / 12 == (asked.body?.size ?? 0) / 12
      }
    }
    let fields: HTTPFields = [
      .contentType: "application/json", .authorization: "Bearer \("\(Recording.mark)-matcher")",
    ]
    #expect(try await cassette.text(.post, url, body: .text(#"{"size":999}"#), fields: fields) == "large")
    #expect(cassette.issues.isEmpty)
    #expect(await failure { try await cassette.ask(.post, url, body: .text(#"{"size":9999999999999}"#)) } != nil)
    #expect(seen.withLock { $0 }.allSatisfy { !$0.contains("\(Recording.mark)-matcher") })
  }

  @Test("changes or leaves out what is written, and redacts what it is given")
  func willWrite() async throws {
    let cassette = folder.cassette(.once) {
      $0.willWrite = { entry in
        guard !entry.request.url.hasSuffix("/noise") else { return nil }
        var entry = entry
        entry.request.headers.append(HAR.Field("X-Token", "\(Recording.mark)-added"))
        entry.comment = "by hand"
        return entry
      }
    }
    _ = try await cassette.text(.get, "https://a.test/noise", network: echo)
    _ = try await cassette.text(.get, "https://a.test/kept", network: echo)
    try cassette.eject()
    let entries = try folder.archive().entries
    #expect(entries.map(\.request.url) == ["https://a.test/kept"])
    #expect(entries.map(\.comment) == ["by hand"])
    #expect(entries.first?.request.headers.last?.value == "REDACTED-1")
  }
}
