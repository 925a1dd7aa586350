import Foundation
import TestSupport
import Testing
import WaylayHAR
import WaylayMocks

@Suite("Secrets in cassettes", .timeLimit(.minutes(5)))
struct CassetteSecretTests {
  let folder: CassetteFolder

  init() throws {
    folder = try CassetteFolder()
  }

  /// What an app asks, with its credential in every place where one can be.
  private func requests(_ secret: String) -> [(HTTPRequest.Method, String, HTTPFields, MessageBody)] {
    let json: HTTPFields = [.contentType: "application/json"]
    let multipart = """
      --b\r\nContent-Disposition: form-data; name="password"\r\n\r\n\(secret)\r\n--b\r\nContent-Disposition: \
      form-data; \
      name="note"\r\n\r\nshown\r\n--b\r\nContent-Disposition: form-data; name="file"; \
      filename="of \(secret).txt"\r\n\r\nshown\r\n--b--\r\n
      """
    return [
      (.get, "https://user:\(secret)@a.test/info", [:], .empty),
      (.get, "https://a.test/query?access_token=\(secret)&page=1", [:], .empty),
      (.get, "https://a.test/bearer", [.authorization: "Bearer \(secret)"], .empty),
      (
        .get, "https://a.test/basic", [.authorization: "Basic \(Data("ada:\(secret)".utf8).base64EncodedString())"],
        .empty
      ),
      (.get, "https://a.test/cookie", [.cookie: "theme=dark; sid=\(secret)"], .empty),
      (.get, "https://a.test/field", [HTTPField.Name("X-Api-Key")!: secret], .empty),
      (.post, "https://a.test/json", json, .text(#"{"user":{"name":"ada","api_key":"\#(secret)","pins":[1,2]}}"#)),
      (.post, "https://a.test/nested", json, .text(#"{"text":"{\"token\":\"\#(secret)\"}"}"#)),
      (
        .post, "https://a.test/form", [.contentType: "application/x-www-form-urlencoded"],
        .text("user=ada&client_secret=\(secret)")
      ),
      (.post, "https://a.test/parts", [.contentType: "multipart/form-data; boundary=b"], .text(multipart)),
      // In bytes that are no text, and in base64 within a longer text: known from the field.
      (
        .post, "https://a.test/bytes", [.authorization: "Bearer \(secret)", .contentType: "application/octet-stream"],
        .data(Data([0, 1, 2]) + Data(secret.utf8) + Data([0]))
      ),
      (
        .post, "https://a.test/base64", [.authorization: "Bearer \(secret)"],
        .text("payload " + Data("user ada has the key \(secret), which she keeps".utf8).base64EncodedString())
      ),
      // Under no name at all: known from the other exchanges.
      (.get, "https://a.test/sessions/\(secret)/messages?q=\(secret)", [:], .empty),
    ]
  }

  @Test("stand nowhere in the file, and it plays to a client with another secret")
  func nowhere() async throws {
    let recorded = "pl4nted-s3cret-0f-the-recording"
    // A server that shows what it was sent, and gives tokens of its own.
    let server: @Sendable (InterceptedRequest) async throws -> InterceptedResponse = { request in
      let fields: HTTPFields = [
        .contentType: "application/json", .setCookie: "sid=\(recorded); Path=/; HttpOnly",
        .location: "/next?token=\(recorded)",
      ]
      return InterceptedResponse(
        to: request, status: .created, fields: fields,
        body: .text(#"{"path":"\#(request.url.path)","refresh_token":"\#(recorded)","echo":"you are \#(recorded)"}"#))
    }
    for matching in [
      Set<Cassette.Aspect>([.method, .url, .query]),
      [.method, .url, .query, .body, .headerField("Authorization"), .headerField("Cookie")],
    ] {
      let recording = folder.cassette(.all) { $0.matching = matching }
      for (method, url, fields, body) in requests(recorded) {
        _ = try await recording.text(method, url, body: body, fields: fields, network: server)
      }
      // What failed speaks of it as well.
      _ = await failure {
        try await recording.ask("https://a.test/failed?api_key=\(recorded)") { _ in
          throw TransportError(.cannotFindHost, message: "https://a.test/failed?api_key=\(recorded) is not there.")
        }
      }
      try recording.eject()
      let bytes = try #require(folder.data())
      let base64 = (0..<3).map { offset in
        Data(repeating: 65, count: offset) + Data("pl4nted-s3cret-0f-the-recording".utf8)
      }.map { $0.base64EncodedString().dropFirst(4).dropLast(4) }
      let text = String(decoding: bytes, as: UTF8.self)
      for trace in ["pl4nted", "s3cret"] + base64.map(String.init) { #expect(!text.contains(trace), "\(trace)") }
      for entry in try folder.archive().entries {
        for body in [entry.request.body, entry.response.body].compactMap(\.self) {
          #expect(!body.data.contains(Data("pl4nted".utf8)), "\(entry.request.url)")
        }
      }
      let playing = folder.cassette { $0.matching = matching }
      for (method, url, fields, body) in requests("an0ther-one-of-another-length-altogether") {
        let text = try await playing.text(method, url, body: body, fields: fields)
        #expect(text.contains(#""refresh_token":"REDACTED-"#), "\(text)")
      }
      let error =
        await failure {
          try await playing.ask("https://a.test/failed?api_key=an0ther-one-of-another-length-altogether")
        } as? TransportError
      #expect(error?.urlErrorCode == .cannotFindHost)
      #expect(playing.issues.isEmpty, "\(playing.issues)")
    }
  }

  @Test("that a file holds are compared as they are: each request has its own response, and another has none")
  func asTheyAre() async throws {
    try folder.write(
      ["alpha", "beta", "gamma"].flatMap { key in
        ["key", "access_token"].map { .made("GET", "https://a.test/\($0)?\($0)=\(key)", "answer to \(key)") }
      })
    let cassette = folder.cassette()
    for name in ["key", "access_token"] {
      for key in ["gamma", "alpha", "beta"] {
        #expect(try await cassette.text(.get, "https://a.test/\(name)?\(name)=\(key)") == "answer to \(key)")
      }
    }
    let error = await failure { try await folder.cassette().ask("https://a.test/access_token?access_token=pl4nted") }
    #expect(cassetteError(error)?.code == .unmatched && cassetteError(error)?.message.contains("pl4nted") == false)
    #expect(cassette.issues.isEmpty, "\(cassette.issues)")
  }

  @Test("that are numbers are 0 in the file, and stand for any number there, and nowhere else")
  func numbers() async throws {
    let recording = folder.cassette(.all) { $0.matching.insert(.body) }
    let server: @Sendable (InterceptedRequest) async throws -> InterceptedResponse = { request in
      InterceptedResponse(to: request, fields: [.contentType: "application/json"], body: .text(#"{"pin":123456}"#))
    }
    _ = try await recording.text(.post, "https://a.test/x", body: .text(#"{"a":0,"pin":123456}"#), network: server)
    try recording.eject()
    #expect(try folder.archive().entries[0].request.body?.text == #"{"a":0,"pin":0}"#)
    for (body, isRight) in [(#"{"a":0,"pin":654321}"#, true), (#"{"a":1,"pin":123456}"#, false)] {
      let playing = folder.cassette { $0.matching.insert(.body) }
      #expect((await failure { try await playing.ask(.post, "https://a.test/x", body: .text(body)) } == nil) == isRight)
    }
  }

  @Test("of names that the redaction is told of are hidden, too; nothing is where it is switched off")
  func names() async throws {
    let recording = folder.cassette(.all) { $0.redaction.hide("patient_id") }
    _ = try await recording.text("https://a.test/x?patient_id=pl4nted", network: echo)
    try recording.eject()
    #expect(folder.data()?.contains(Data("pl4nted".utf8)) == false)
    #expect(
      try await folder.cassette { $0.redaction.hide("patient_id") }.text("https://a.test/x?patient_id=7")
        == "answer to /x")
    let open = folder.cassette(.all) { $0.redaction = .none }
    _ = try await open.text("https://a.test/x?token=sh0wn", network: echo)
    try open.eject()
    #expect(folder.data()?.contains(Data("sh0wn".utf8)) == true)
  }

  @Test("stand in no report of a request without an entry")
  func reports() async throws {
    let entry = HAR.Entry.made(
      "POST", "https://a.test/x?token=pl4nted1", body: #"{"password":"pl4nted2","a":1}"#,
      headers: [.init("X-Api-Key", "pl4nted3")])
    try folder.write([Redaction.standard.redacted(entry)])
    let cassette = folder.cassette { $0.matching = [.method, .url, .query, .body, .headerField("X-Api-Key")] }
    let error = await failure {
      try await cassette.ask(
        .post, "https://user:pl4nted4@a.test/y?token=pl4nted5&pin=pl4nted6",
        body: .text(#"{"password":"pl4nted7","a":2}"#), fields: [HTTPField.Name("X-Api-Key")!: "pl4nted8"])
    }
    let text = cassetteError(error)?.message ?? ""
    #expect(text.contains("path         expected /x"), "\(text)")
    #expect(text.contains("body at $.a  expected 1"), "\(text)")
    // What differs in its secrets alone does not differ.
    let comparison = text.components(separatedBy: "The request:")[0]
    #expect(!text.contains("pl4nted"), "\(text)")
    #expect(!comparison.contains("x-api-key") && !comparison.contains("password"), "\(text)")
  }
}
