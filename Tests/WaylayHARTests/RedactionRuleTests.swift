import Foundation
import TestSupport
import Testing
import WaylayBase
import WaylayHAR

@Suite("The rules of redaction")
struct RedactionRuleTests {
  private static let secret = "pl4nted-s3cret"

  private func body(_ text: String, _ type: String = "application/json", _ redaction: Redaction = .standard) -> String {
    redaction.redacted(Plantings.entry(Data(text.utf8), type)).response.body.text ?? ""
  }

  private func field(_ name: String, _ value: String) -> String {
    Redaction.standard.redacted(Plantings.entry(headers: [.init(name, value)])).request.headers[0].value
  }

  struct RowCase: CustomTestStringConvertible, Sendable {
    let row: String
    let name: String
    let kind: CredentialNames.Kind
    let values: CredentialNames.Values

    var testDescription: String { row }

    static let all = CredentialNames.table.flatMap { group in
      group.rows.map { row in
        let words = row.split(separator: " ").filter {
          !["=", "x", "…"].contains($0) || $0 == "x" && !row.hasPrefix("x … ")
        }
        let name = words.map { $0.replacing("…", with: "") }.joined(separator: "_")
        return RowCase(
          row: row, name: row.hasPrefix("x … ") ? "X-Some-\(name)" : name, kind: group.kind, values: group.values)
      }
    }
  }

  @Test("Each row of names hides what it says", arguments: RowCase.all)
  func row(_ row: RowCase) {
    let isHidden = row.kind != .harmless
    func expect(_ json: String, _ result: String) {
      #expect(body(json) == (isHidden ? result : json), "\(row.row)")
    }
    #expect(Redaction.standard.hides(row.name) == isHidden)
    expect(#"{"\#(row.name)":"abc"}"#, #"{"\#(row.name)":"REDACTED"}"#)
    let words = #"{"\#(row.name)":"two words"}"#
    expect(words, row.values.contains(.spaces) ? #"{"\#(row.name)":"REDACTED"}"# : words)
    let number = #"{"\#(row.name)":4711}"#
    expect(number, row.values.contains(.numbers) ? #"{"\#(row.name)":0}"# : number)
    let plural = #"{"\#(row.name)s":"abc"}"#
    if isHidden, row.values.contains(.plural) {
      expect(plural, #"{"\#(row.name)s":"REDACTED"}"#)
      #expect(body(#"{"\#(row.name)s":12}"#) == #"{"\#(row.name)s":12}"#, "a number of them")
    }
    #expect(field(row.name, "two words") == (isHidden ? hidden(row.name, "two words") : "two words"))
    #expect(
      body("\(row.name)=abc&a=b", "application/x-www-form-urlencoded")
        == (isHidden ? "\(row.name)=REDACTED&a=b" : "\(row.name)=abc&a=b"))
    #expect(body("<a><\(row.name)>abc</\(row.name)></a>", "text/xml").contains("REDACTED") == isHidden)
  }

  /// A field is hidden whole, but for the scheme of credentials and the names of cookies.
  private func hidden(_ name: String, _ value: String) -> String {
    switch name {
    case "authorization": "two REDACTED"
    default: "REDACTED"
    }
  }

  @Test(
    "Of a container under a name, what has a name of its own and what is unlikely by chance is hidden",
    arguments: [
      (
        #"{"tokens":{"access":"abcdefgh1","refresh":"ab","type":"bearer"}}"#,
        #"{"tokens":{"access":"REDACTED","refresh":"ab","type":"bearer"}}"#
      ),
      (
        #"{"sessions":[{"title":"Keynote and more words","id":5,"secret":"x"}]}"#,
        #"{"sessions":[{"title":"Keynote and more words","id":5,"secret":"REDACTED"}]}"#
      ),
      (
        #"{"tokens":["Hello","world"],"session":{"start":"2026-06-01T09:00:00Z"}}"#,
        #"{"tokens":["Hello","world"],"session":{"start":"2026-06-01T09:00:00Z"}}"#
      ),
      (#"{"recovery_codes":["a1b2-c3d4",12345678]}"#, #"{"recovery_codes":["REDACTED",12345678]}"#),
    ])
  func containers(json: String, result: String) { #expect(body(json) == result) }

  @Test(
    "Names are read where they stand",
    arguments: [
      (
        "application/json", #"[{"name":"token","value":"abc"},{"value":"abc","key":"pin"}]"#,
        #"[{"name":"token","value":"REDACTED"},{"value":"REDACTED","key":"pin"}]"#
      ),
      (
        "application/json", #"{"text":"{\"a\":{\"api_key\":\"abc\"}}","n":1}"#,
        #"{"text":"{\"a\":{\"api_key\":\"REDACTED\"}}","n":1}"#
      ),
      ("application/json", #"{"a":1}"# + "\n" + #"{"token":"abc"}"#, #"{"a":1}"# + "\n" + #"{"token":"REDACTED"}"#),
      (
        "application/json", #"{"query":"mutation($t:String){a}","variables":{"token":"abc"}}"#,
        #"{"query":"mutation($t:String){a}","variables":{"token":"REDACTED"}}"#
      ),
      ("application/json", #"{"a":"x","token":"ab"#, #"{"a":"x","token":"REDACTED"#),
      (
        "text/html", "<form><input type=\"password\" value=\"abc\"><input name=a value=b></form>",
        "<form><input type=\"password\" value=\"REDACTED\"><input name=a value=b></form>"
      ),
      ("text/html", "<meta name='csrf-token' content='abc'>", "<meta name='csrf-token' content='REDACTED'>"),
      ("text/xml", "<string name=\"api_key\">abc</string>", "<string name=\"api_key\">REDACTED</string>"),
      (
        "text/plain", "host = a.test\napi_key = abc\nexport: x\n  \"token\": \"abc\",\nport: 80\n",
        "host = a.test\napi_key = REDACTED\nexport: x\n  \"token\": \"REDACTED\",\nport: 80\n"
      ),
      (
        "text/plain", "pin: 4711\ntoken: 4711\nAuthorization: Token a b\npassword: must be long\n",
        "pin: 0\ntoken: 4711\nAuthorization: REDACTED\npassword: must be long\n"
      ),
      (
        "text/plain", "GET https://u:pw@a.test/?token=abc&a=b HTTP/1.1",
        "GET https://REDACTED@a.test/?token=REDACTED&a=b HTTP/1.1"
      ),
    ])
  func places(type: String, text: String, result: String) {
    #expect(body(text, type) == result)
    #expect(body(result, type) == result, "redacted twice")
  }

  @Test(
    "Shapes are hidden under any name",
    arguments: [
      ("Bearer abcdefgh1", "Bearer REDACTED"), ("Bearer of the ring", "Bearer of the ring"),
      ("Basic dXNlcjpwYXNz", "Basic REDACTED"), ("Basic authentication", "Basic authentication"),
    ])
  func schemes(text: String, result: String) {
    #expect(body(#"{"a":"\#(text)"}"#) == #"{"a":"\#(result)"}"#)
    #expect(body(text, "text/plain") == result)
  }

  @Test("Credentials with a known shape are hidden in every format, read or not", arguments: Secrets.known.indices)
  func shapes(index: Int) {
    let secret = Secrets.known[index]
    for (type, text) in Secrets.places(secret) {
      let redacted = body(text, type)
      #expect(!Plantings.isSeen(in: Data(redacted.utf8)) && redacted != text, "\(type): \(redacted)")
      #expect(body(redacted, type) == redacted)
    }
  }

  @Test("A declared prefix of XML is no attribute, and a field without credentials is none as a whole")
  func namespaces() {
    let xml = #"<a xmlns:wsse="urn:x" xmlns:auth="urn:y"><b auth:i="1" wsse:i="2" wsse="REDACTED"/></a>"#
    #expect(body(xml, "application/xml") == xml)
    let fields = [
      HAR.Field("Accept-Signature", #"sig1=("@method");created;keyid="k1""#),
      HAR.Field("X-RateLimit-Remaining-Tokens", "149984"), HAR.Field("Idempotency-Key", "a=1;token=b"),
    ]
    #expect(Redaction.standard.redacted(Plantings.entry(headers: fields)).request.headers == fields)
    let echo = [HAR.Field("X-Api-Key", Self.secret), HAR.Field("Idempotency-Key", "of \(Self.secret)")]
    #expect(
      Redaction.standard.redacted(Plantings.entry(headers: echo)).request.headers.map(\.value)
        == ["REDACTED", "of REDACTED"])
  }

  @Test("Echoes are hidden as words, in every spelling, and only what is unlikely by chance")
  func echoes() {
    let base64 = Data("user:\(Self.secret)".utf8).base64EncodedString()
    for (echo, result) in [
      ("it was \(Self.secret).", "it was REDACTED."), ("x\(Self.secret)", "x\(Self.secret)"), (base64, "REDACTED"),
      ("a%2D\(Self.secret.replacing("-", with: "%2D"))", nil), ("letmein", "letmein"),
    ] {
      let redacted = body(#"{"token":"\#(Self.secret)","secret":"letmein","a":"\#(echo)"}"#)
      if let result { #expect(redacted.hasSuffix(#""a":"\#(result)"}"#), "\(redacted)") }
    }
  }

  @Test("A truncated body ends in no part of a secret")
  func cut() {
    let whole = #"{"a":"x","b":"\#(Self.secret)"}"#
    for count in 1..<whole.utf8.count {
      var entry = Plantings.entry(
        headers: [.init("X-Api-Key", Self.secret)], Data(whole.utf8.prefix(count)), "application/json")
      entry.response.body.size = whole.utf8.count
      let text = Redaction.standard.redacted(entry).response.body.text ?? ""
      #expect(!text.contains(Self.secret.prefix(8)), "\(text)")
    }
  }

  @Test(
    "Formats that are not read are named, kept, removed or an error",
    arguments: [
      ("text/javascript", "a = 'b'"), ("text/csv", "a,b\n1,2"), ("application/yaml", "a: b"),
      ("application/graphql", "{ a }"), ("application/x-plist", "<plist/>"), ("application/x-protobuf", "\u{8}\u{1}"),
      ("application/octet-stream", "\u{0}\u{1}"), ("application/json", "a"),
    ])
  func unread(type: String, text: String) throws {
    var redaction = Redaction.standard
    let archive = HAR(entries: [Plantings.entry(Data(text.utf8), type)])
    #expect(try redaction.redacted(archive).entries[0].response.body.data == Data(text.utf8))
    #expect(redaction.report(archive).contains("Not read:\n  POST"))
    redaction.unread = .remove
    let removed = try redaction.redacted(archive).entries[0].response.body.text
    #expect(removed == (type.hasSuffix("json") ? "\"REDACTED\"" : "REDACTED"))
    redaction.unread = .fail
    let error = #expect(throws: HARError.self) { try redaction.redacted(archive) }
    #expect(error?.code == .unread)
  }

  @Test("An app hides values by a name, and changes entries by itself")
  func own() {
    var redaction = Redaction.standard
    redaction.hide(value: "4f2a-ada", as: "USER A")
    redaction.change { $0.response.body.comment = "changed" }
    let entry = redaction.redacted(
      Plantings.entry(Data(#"{"a":"4f2a-ada","token":"4f2a-ada"}"#.utf8), "application/json"))
    #expect(entry.response.body.text == #"{"a":"REDACTED-USER-A","token":"REDACTED-USER-A"}"#)
    #expect(entry.response.body.comment == "changed")
    #expect(redaction.redacted(entry) == entry)
    redaction.hide(value: "4f2a-ada-lovelace", as: "USER B")
    #expect(
      redaction.redacted(Plantings.entry(url: "https://a.test/of/4f2a-ada-lovelace/4f2a-ada")).request.url
        == "https://a.test/of/REDACTED-USER-B/REDACTED-USER-A")
  }

  @Test("A report names the rules that hid something")
  func report() {
    let archive = HAR(entries: [
      Plantings.entry(Data(#"{"access_token":"pl4nted-1","a":"Bearer abcdefgh1"}"#.utf8), "application/json")
    ])
    let report = Redaction.standard.report(archive)
    #expect(report.contains("…token") && report.contains("(scheme)"), "\(report)")
  }

  @Test("Numbers of cards and accounts are hidden if the app wants that")
  func payment() {
    var redaction = Redaction.standard
    let body =
      #"{"pan":"4111 1111 1111 1111","text":"pay 5555555555554444 from DE89 3704 0044 0532 0130 00, order 4111111111111112"}"#
    let entry = Plantings.entry(Data(body.utf8), "application/json")
    #expect(redaction.redacted(entry) == entry)
    redaction.hidesPaymentNumbers = true
    #expect(
      redaction.redacted(entry).response.body.text
        == #"{"pan":"REDACTED","text":"pay REDACTED from REDACTED, order 4111111111111112"}"#)
  }

  @Test("An entry lists what was replaced by its place, so that a 0 is known for what it is")
  func places() {
    let entry = Plantings.entry(
      url: "https://a.test/?token=pl4nted1", Data(#"{"pin":4711,"a":[{"card_pin":"1234"}],"n":0}"#.utf8),
      "application/json")
    let redacted = Redaction.standard.redacted(entry)
    #expect(redacted.request.body?.text == #"{"pin":0,"a":[{"card_pin":"REDACTED"}],"n":0}"#)
    let list = redacted.extensions["_redacted"]?.object ?? [:]
    #expect(
      Set(list.keys).isSuperset(of: [
        "request.url.token", "request.body.pin", "request.body.a.0.card_pin", "response.body.pin",
      ])
        && list.values.allSatisfy(\.isNull), "\(list)")
    #expect(Redaction.standard.redacted(redacted) == redacted)
  }
}
