import Foundation
import TestSupport
import Testing
import WaylayHAR

@Suite("Redaction", .heavy)
struct RedactionTests {
  static let secret = "pl4nted-s3cret/+ä\"x"

  private static func entry(
    url: String = "https://api.test/", headers: [HAR.Field] = [], body: HAR.Body? = nil, answer: HAR.Body = HAR.Body(),
    answerHeaders: [HAR.Field] = []
  ) -> HAR.Entry {
    HAR.Entry(
      started: Date(timeIntervalSince1970: 1_700_000_000),
      request: .init(method: "POST", url: url, headers: headers, body: body),
      response: .init(status: 200, headers: answerHeaders, body: answer))
  }

  /// An exchange with the same secret in each place where one can be, under names that say so.
  static func planted(_ secret: String) -> [HAR.Entry] {
    let safe = CharacterSet.alphanumerics.intersection(CharacterSet(charactersIn: "\u{0}"..."\u{7F}"))
    let escaped = secret.addingPercentEncoding(withAllowedCharacters: safe) ?? ""
    let quoted = String(
      String(decoding: (try? JSONEncoder().encode(secret)) ?? Data(), as: UTF8.self).dropFirst().dropLast())
    let twice = String(
      String(decoding: (try? JSONEncoder().encode(quoted)) ?? Data(), as: UTF8.self).dropFirst().dropLast())
    let base64 = Data("user:\(secret)".utf8).base64EncodedString()
    let multipart = """
      --b\r\nContent-Disposition: form-data; name="note"\r\n\r\nshown\r\n--b\r\nContent-Disposition: form-data; \
      name="password"\r\n\r\n\(secret)\r\n\
      --b\r\nContent-Disposition: form-data; name="json"\r\nContent-Type: \
      application/json\r\n\r\n{"token":"\(quoted)"}\r\n--b--\r\n
      """
    var entries = [
      entry(url: "https://user:\(escaped)@api.test/a?access_token=\(escaped)&x=shown"),
      entry(url: "https://api.test/a?next=https%3A%2F%2Fb.test&api%5Fkey=\(escaped)"),
      entry(headers: [.init("Authorization", "Bearer \(secret)")]),
      entry(headers: [.init("authorization", "Basic \(base64)")]),
      entry(headers: [.init("Cookie", "a=shown; sid=\(secret)")]), entry(headers: [.init("X-Api-Key", secret)]),
      entry(headers: [.init("Referer", "https://b.test/?token=\(escaped)")]),
      entry(answerHeaders: [
        .init("Set-Cookie", "sid=\(secret); Path=/"), .init("Location", "/next?session=\(escaped)#id_token=\(escaped)"),
      ]),
      entry(
        body: .init(Data(#"{"a":{"b":[{"api_key":"\#(quoted)","shown":1}]}}"#.utf8), mediaType: "application/json")),
      entry(body: .init(Data(#"{"text":"{\"password\": \"\#(twice)\"}"}"#.utf8), mediaType: "application/json")),
      entry(
        body: .init(
          Data(#"{"credentials": {"deep": ["\#(quoted)", 1, {"x": "\#(quoted)"}]}, "shown": 1}"#.utf8),
          mediaType: "text/plain")),
      entry(body: .init(Data("a=shown&client_secret=\(escaped)".utf8), mediaType: "application/x-www-form-urlencoded")),
      entry(body: .init(Data(multipart.utf8), mediaType: "multipart/form-data; boundary=b")),
      entry(
        answer: .init(Data("<user><ns:password kind='x'>\(secret)</ns:password></user>".utf8), mediaType: "text/xml")),
      entry(
        answer: .init(
          Data("data: {\"token\":\"\(quoted)\"}\n\ndata: {\"token\":\"\(quoted)".utf8), mediaType: "text/event-stream")),
      // What is a secret in one place is one in all others.
      entry(
        headers: [.init("Authorization", "Bearer \(secret)"), .init("X-Echo", "it was \(secret)")],
        answer: .init(
          Data("You sent \(Data(secret.utf8).base64EncodedString()), \(escaped) and \(secret).".utf8),
          mediaType: "text/plain")),
    ]
    for index in entries.indices {
      entries[index].extensions["_request"] = [
        "headers": [["name": "Authorization", "value": .init(secret)]], "apiKey": .init(secret),
      ]
    }
    return entries
  }

  @Test(
    "takes a secret out of URL, query, fields, cookies, JSON, forms, parts, XML, streams, and wherever it comes again",
    arguments: [true, false])
  func nowhere(isPretty: Bool) throws {
    for (number, entry) in Self.planted(Self.secret).enumerated() {
      let redacted = Redaction.standard.redacted(entry)
      let text = String(decoding: HAR(entries: [redacted]).data(isPretty: isPretty), as: UTF8.self)
      #expect(!text.contains("pl4nted"), "\(number): \(text)")
      #expect(!text.contains(Data("pl4nted-s3cre".utf8).base64EncodedString().dropLast(4)), "\(number): \(text)")
      #expect(text.contains("REDACTED"), "\(number)")
      // Bodies in base64 are searched as what they are.
      for body in [redacted.request.body, redacted.response.body].compactMap(\.self) {
        #expect(!String(decoding: body.data, as: UTF8.self).contains("pl4nted"), "\(number)")
      }
      #expect(Redaction.standard.redacted(redacted) == redacted, "\(number): redacted twice")
    }
  }

  @Test("makes the same of exchanges that differ in their secrets alone: what was recorded matches what is asked")
  func matching() {
    let (one, other) = (Self.planted(Self.secret), Self.planted("another-s3cret-of-another-length"))
    for (one, other) in zip(one, other) {
      let (one, other) = (Redaction.standard.redacted(one), Redaction.standard.redacted(other))
      #expect(one.request.url == other.request.url && one.request.headers == other.request.headers)
      #expect(one.request.query == other.request.query && one.request.cookies == other.request.cookies)
      #expect(one.request.body?.data == other.request.body?.data)
    }
  }

  @Test("leaves what is no secret as it is, byte for byte")
  func shown() {
    let entry = Self.entry(
      url: "https://api.test/a?page=2&sort=name",
      headers: [.init("Accept", "text/html;q=0.9, */*"), .init("X-Tokens", "3")],
      body: .init(
        Data(#"{ "name" : "Ada",  "list": [1, 2.50, "a:b"], "total_tokens": 12, "token_type": "bearer" }"#.utf8),
        mediaType: "application/json"),
      answer: .init(Data([0, 34, 116, 111, 107, 101, 110, 34, 58, 34, 120, 34]), mediaType: "image/png"))
    var redaction = Redaction.standard
    redaction.show("X-Tokens")
    #expect(redaction.redacted(entry) == entry)
    #expect(Redaction.none.redacted(Self.planted(Self.secret)[2]) == Self.planted(Self.secret)[2])
  }

  @Test("hides and shows names by saying so, however they are spelt")
  func names() {
    var redaction = Redaction.standard
    #expect(
      redaction.hides("X-API-Key") && redaction.hides("apiKey") && redaction.hides("user[password]")
        && redaction.hides("pin"))
    #expect(redaction.hides("token\u{301}") && redaction.hides("my_s\u{200D}secret\u{20DD}"), "a mark hides no letter")
    #expect(redaction.hides("ttoken") && redaction.hides("totoken") && !redaction.hides("toke") && !redaction.hides(""))
    #expect(!redaction.hides("page") && !redaction.hides("patient_id"))
    redaction.hide("Patient-Id")
    redaction.show("pin", "sort_key")
    #expect(redaction.hides("patient_id") && !redaction.hides("PIN") && !redaction.hides("sortKey"))
  }

  @Test("of any bytes ends, in time in proportion to them")
  func anything() {
    var random = SystemRandomNumberGenerator()
    let pieces = [
      "\"", "\\", ":", "{", "}", "[", "]", "token", "password", "=", "&", "?", "<", ">", "://", "@", "/", ",", " ", "a",
      "\u{E4}", "\r\n\r\n", "--", "name=", "1",
    ]
    for _ in 0..<1000 {
      let text = (0..<Int.random(in: 0..<60)).map { _ in pieces.randomElement(using: &random)! }.joined()
      for mediaType in ["", "application/json", "application/x-www-form-urlencoded", "multipart/form-data"] {
        _ = Redaction.standard.redacted(Self.entry(url: text, body: .init(Data(text.utf8), mediaType: mediaType)))
      }
    }
    for text in ["\"", "<", "\\\"", "?", "://", "\"token\":\"", "&token=", "{\"token\":[", "<token>"] {
      _ = Redaction.standard.redacted(
        Self.entry(body: .init(Data(String(repeating: text, count: 5_000).utf8), mediaType: "application/json")))
    }
  }
}
