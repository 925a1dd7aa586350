import Foundation
import TestSupport
import Testing

@testable import WaylayHAR

@Suite("What redaction leaves", .heavy)
struct RedactionShapeTests {
  private func redacted(
    _ body: String, _ type: String = "application/json", headers: [HAR.Field] = [], _ redaction: Redaction = .standard
  ) -> String {
    let entry = Plantings.entry(headers: headers, Data(body.utf8), type)
    return String(decoding: redaction.redacted(entry).request.body?.data ?? Data(), as: UTF8.self)
  }

  @Test(
    "is untouched where nothing is a secret, however it looks",
    arguments: [
      ("application/json", #"{"from":"Ada <session@example.com>","id":5}"#),
      ("application/json", #"{"title":"Session: Introduction","text":"<token> is missing","a":"x < password > y"}"#),
      ("application/json", #"{"token":null,"session":true,"password":"","secret":[],"credentials":{}}"#),
      ("application/json", #"{"path":"\/a\u00e4","n":1.50e+3,"list":[ 1 ,2 ]}"#),
      ("application/json", #"{"ticket":{"id":7,"subject":"Printer 2","status":"open"},"tickets":[{"subject":"a"}]}"#),
      ("application/json", #"[{"key":"country","value":"Iceland"}]"#),
      ("text/plain", "Bearer of the ring; a=b; c == token; Password must have 8 letters: 1, 2"),
      ("text/javascript", "a={password:[Validators.required,v1.min8],tokens:[t1abc,'']};b||'s3cret';c??\"\""),
      ("text/javascript", "if(token==a){session=x?1:0}const f=token=>password;a&&b"),
      ("text/javascript", "open('/a?token='+token1+'&b='+c);label('password','Password');a['token']=b[1]"),
      ("application/json", #"{"tokens":[{"text":"quick","position":0},{"token":" the"}]}"#),
      ("text/css", ".token{content:'?'}"),
      ("text/html", "<p>The password</p><section id=session><a href='/token/reset'>token</a></section>"),
      ("application/xml", "<!DOCTYPE a><a><!-- token --><b>1 &lt; 2</b><c/></a>"),
      ("image/svg+xml", "<svg><text>secret</text></svg>"),
      ("text/xml", "<plist><dict><key>CFBundleName</key><string>Notes</string></dict></plist>"),
      (
        "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\ntoken\r\n--b--\r\n"
      ),
      ("application/x-www-form-urlencoded", "a=token&b=&c&=d&next=%2Fx%3Fy%3D1"), ("text/csv", "id,tokens\n1,2\n"),
    ])
  func untouched(type: String, body: String) {
    let entry = Plantings.entry(
      headers: [.init("Link", "<https://a.test/?page=2>; rel=\"next\"")], Data(body.utf8), type)
    #expect(Redaction.standard.redacted(entry) == entry, "\(redacted(body, type))")
  }

  @Test("loses whole values and words, and nothing from within numbers, words and names")
  func words() {
    let pin = [HAR.Field("X-Pin", "12345678901234567890")]
    #expect(
      redacted(#"{"id":123456789012345678901,"n":0.12345678901234567890,"a":"no 12345678901234567890."}"#, headers: pin)
        == #"{"id":123456789012345678901,"n":0.12345678901234567890,"a":"no REDACTED."}"#)
    #expect(
      redacted(#"{"a":12345678901234567890,"b":[12345678901234567890,1]}"#, headers: pin) == #"{"a":0,"b":[0,1]}"#)
    #expect(redacted(#"[{"name":"password","value":"password"}]"#) == #"[{"name":"password","value":"REDACTED"}]"#)
    #expect(redacted(#"{"password":"letmein","a":"she letmeins"}"#) == #"{"password":"REDACTED","a":"she letmeins"}"#)
    #expect(
      redacted("password=password&a=password", "application/x-www-form-urlencoded") == "password=REDACTED&a=password")
    #expect(redacted("<a><password>password</password></a>", "text/xml") == "<a><password>REDACTED</password></a>")
    #expect(redacted(#"{"sid":"ann","status":"ann"}"#) == #"{"sid":"REDACTED","status":"ann"}"#)
    #expect(
      redacted(#"{"session":{"id":"a-1","n":2,"ok":true}}"#)
        == #"{"session":{"id":"a-1","n":2,"ok":true}}"#)
    let link = "<https://a.test/?page=2&access_token=REDACTED>; rel=\"next\""
    let entry = Plantings.entry(headers: [.init("Link", link.replacing("REDACTED", with: "s3cret"))])
    #expect(Redaction.standard.redacted(entry).request.headers == [.init("Link", link)])
  }

  @Test(
    "is the rest of a URL whose path has a parameter: that ends with its segment",
    arguments: [
      (
        "https://a.test/x;jsessionid=ABC12345/next?page=2#top",
        "https://a.test/x;jsessionid=REDACTED/next?page=2#top"
      ),
      ("/x;v=1;jsessionid=ABC12345?page=2", "/x;v=1;jsessionid=REDACTED?page=2"),
      (
        "<https://a.test/x;jsessionid=ABC12345/next>; rel=next", "<https://a.test/x;jsessionid=REDACTED/next>; rel=next"
      ),
      // What is no path has slashes in its values.
      ("theme=a/b;token=ABC/12345?==;x=1", "theme=a/b;token=REDACTED;x=1"),
      ("https://a.test/?a=1;token=ABC/12345", "https://a.test/?a=1;token=REDACTED"),
    ])
  func paths(text: String, result: String) {
    var entry = Plantings.entry(headers: [.init("Link", text)])
    entry.response.redirectURL = text
    // What is noted as the secret is the value alone.
    entry.comment = "ABC12345 is not /next"
    let redacted = Redaction.standard.redacted(entry)
    #expect(redacted.request.headers[0].value == result && redacted.response.redirectURL == result)
    #expect(redacted.comment == (text.contains("ABC12345") ? "REDACTED is not /next" : entry.comment))
  }

  @Test("is the head of a part with all its names, though they be secrets elsewhere")
  func heads() {
    let head =
      "Content-Disposition: form-data; name=\"password\"; filename=\"an0ther1.txt\"\r\nContent-Type: text/plain"
    let body = "--b\r\n\(head)\r\n\r\npassword\r\n--b--\r\n"
    let type = "multipart/form-data; boundary=b"
    #expect(
      redacted(body, type, headers: [.init("X-Api-Key", "an0ther1")])
        == body.replacing("an0ther1", with: "REDACTED").replacing("\r\npassword", with: "\r\nREDACTED"))
  }

  @Test("is an instruction and a declaration without a secret that is known")
  func instructions() {
    let body = "<?a href='/x/an0ther1' b='c'?><!DOCTYPE a 'an0ther1'><a/>"
    #expect(
      redacted(body, "text/xml", headers: [.init("X-Api-Key", "an0ther1")])
        == body.replacing("an0ther1", with: "REDACTED"))
  }

  @Test("is the rest of a URL that has a known secret in Base64 as a segment, though slashes are digits, too")
  func segments() {
    // In the Base64 of the second stands a slash.
    for secret in ["s3cret-value-1", "s3cret???-value-1"] {
      for (before, after) in [("https://api.test/cache/", "/items/17"), ("/", "?a/b=c/d"), ("see https://a.test/", "")]
      {
        for padding in ["", "u:", "user:"] {
          var entry = Plantings.entry(headers: [.init("X-Api-Key", secret)])
          entry.comment = before + Plantings.base64(padding + secret).replacing("=", with: "") + after
          #expect(Redaction.standard.redacted(entry).comment == before + "REDACTED" + after)
        }
      }
      // Elsewhere all digits are those of one text.
      var entry = Plantings.entry(headers: [.init("X-Api-Key", secret)])
      entry.comment = "data: \(Plantings.base64("???\(secret)???"))"
      #expect(entry.comment?.contains("Pz8/") == true)
      #expect(Redaction.standard.redacted(entry).comment == "data: REDACTED")
    }
    #expect(Plantings.base64("s3cret???-value-1").contains("/"))
  }

  @Test(
    "is written beside a secret as it was, whatever escapes it has",
    arguments: [
      ("text/html", "<p>token=abc12345&nbsp;ok&eacute;'</p>", "<p>token=REDACTED&nbsp;ok&eacute;'</p>"),
      ("application/json", #"{"a":"token=abc12345 \ud83d\/\u00e4"}"#, #"{"a":"token=REDACTED \ud83d\/\u00e4"}"#),
      (
        "application/x-www-form-urlencoded", "p=a%3d~!*+b%26token%3Dabc12345%26%zz",
        "p=a%3d~!*+b%26token%3DREDACTED%26%zz"
      ),
    ])
  func beside(type: String, body: String, result: String) {
    #expect(redacted(body, type) == result)
  }

  // MARK: Properties

  /// SplitMix64.
  private struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var number = state
      number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
      number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
      return number ^ (number >> 31)
    }
  }

  /// Words that are names of secrets and others, and texts of every kind.
  private struct Source {
    var random: Numbers
    let secrets = (0..<6).map { "pl4nted-\($0)-\"ä/<&" } + ["pl4nted7"]
    static let plain = [
      "", "x", "Grüße 👋🏽", "1e5", "\u{0}\u{1F}\n\t", "null", "\\u0041", "a&b=c;d", "12:30", "<>", "]]>",
    ]
    static let names = [
      "a", "id", "name", "key", "value", "password", "access_token", "userPin", "data", "n\"m", "ü", "next", "ok",
    ]

    mutating func pick<Element>(_ list: [Element]) -> Element { list[Int.random(in: list.indices, using: &random)] }

    mutating func text() -> String {
      let (secret, name) = (pick(secrets), pick(Self.names))
      return switch Int.random(in: 0..<12, using: &random) {
      case 0: secret
      case 1: "it is \(secret), as always"
      case 2: "https://b.test/\(Plantings.escaped(secret))?a=1&token=\(Plantings.escaped(secret))#x"
      case 3: json(depth: 3).description
      case 4: Plantings.base64("user:\(secret)")
      case 5: "<\(name == "n\"m" ? "b" : name)>x</b> \" { [ \\ % & "
      case 6: "\(name)=\(secret)"
      case 7: "{\"\(name)\": [1, {\"x\":"
      default: pick(Self.plain)
      }
    }

    mutating func json(depth: Int = 0) -> JSONValue {
      switch Int.random(in: 0..<(depth > 4 ? 6 : 9), using: &random) {
      case 0:
        return .init(.number(pick(["0", "-1.5e10", "123456789012345678901234567890", "48150162342", "4815016234200"])))
      case 1: return .init(.bool(true))
      case 2: return nil
      case 3...5: return .init(text())
      case 6: return .init(.array((0..<Int.random(in: 0..<4, using: &random)).map { _ in json(depth: depth + 1) }))
      default:
        return .init(
          .object(
            (0..<Int.random(in: 0..<5, using: &random)).map { _ in
              .init(name: pick(Self.names), value: json(depth: depth + 1))
            }))
      }
    }

    /// Without characters that no document may have.
    mutating func xml(depth: Int = 0) -> String { element(depth: depth).filter { $0 >= " " } }

    private mutating func element(depth: Int) -> String {
      let name = pick(["a", "key", "name", "value", "password", "s:token", "dict", "string"])
      let attributes = ["b", "name", "value", "session", "x:y"].filter { _ in Int.random(in: 0..<4, using: &random) == 0
      }
      .map { " \($0)=\"\(Plantings.entities(text()))\"" }.joined()
      guard depth < 4, Int.random(in: 0..<5, using: &random) > 0 else { return "<\(name)\(attributes)/>" }
      let content = (0..<Int.random(in: 0..<4, using: &random)).map { _ in
        switch Int.random(in: 0..<5, using: &random) {
        case 0: "<![CDATA[\(text().replacing("]]>", with: ""))]]>"
        case 1: "<!-- \(pick(Self.plain)) {\"userPin\": [1, \"\(secrets[5])\" -->"
        // Texts in a row would be one.
        case 2: "<i/>\(Plantings.entities(text()))<i/>"
        default: element(depth: depth + 1)
        }
      }
      return "<\(name)\(attributes)>\(content.joined())</\(name)>"
    }
  }

  /// Whether two values differ in nothing but scalars, of which numbers and literals are the same or hidden.
  private func haveOneShape(_ one: JSONValue, _ other: JSONValue) -> Bool {
    switch (one.kind, other.kind) {
    case (.object(let one), .object(let other)):
      one.map(\.name) == other.map(\.name) && zip(one, other).allSatisfy { haveOneShape($0.value, $1.value) }
    case (.array(let one), .array(let other)):
      one.count == other.count && zip(one, other).allSatisfy { haveOneShape($0, $1) }
    case (.number(let one), .number(let other)): one == other || other == "0"
    case (.string, .string): true
    default: one == other
    }
  }

  @Test("is JSON as it was, with the same names, and holds no secret", arguments: 0..<4)
  func json(part: UInt64) throws {
    var source = Source(random: Numbers(state: part))
    for _ in 0..<Sizes.of(2500, small: 25) {
      let value: JSONValue = ["known": .init(source.json()), "api_keys": .init(source.secrets)]
      for isPretty in [false, true] {
        var writer = JSONWriter(isPretty: isPretty, escapesMarkup: isPretty)
        writer.value(value)
        let text = redacted(String(decoding: writer.bytes, as: UTF8.self))
        let result = try JSONValue(parsing: text)
        #expect(haveOneShape(value, result), "\(value) became \(text)")
        #expect(!Plantings.isSeen(in: Plantings.entry(Data(text.utf8))), "\(value) became \(text)")
        #expect(redacted(text) == text)
      }
    }
  }

  @Test("is a form as it was", arguments: ["application/x-www-form-urlencoded", ""])
  func forms(type: String) {
    var source = Source(random: Numbers(state: 7))
    for _ in 0..<Sizes.of(5000, small: 40) {
      let items = (0..<4).map { _ in (source.pick(Source.names), source.text()) } + source.secrets.map { ("token", $0) }
      let body = items.map { "\(Plantings.escaped($0))=\(Plantings.escaped($1))" }.joined(separator: "&")
      let text = redacted(body, type)
      let result = HAR.Field.query(of: "?" + text)
      #expect(result.map(\.name) == items.map(\.0), "\(body) became \(text)")
      for ((name, value), field) in zip(items, result)
      where Source.plain.contains(value) && !Redaction.standard.hides(name)
        && items.count(where: { $0.1.contains(value) }) == 1
      {
        #expect(field.value == value, "\(name)=\(value)")
      }
      #expect(!Plantings.isSeen(in: Plantings.entry(Data(text.utf8))), "\(body) became \(text)")
    }
  }

  @Test("is XML as it was: the same tags, attributes and sections", arguments: ["application/xml", ""])
  func xml(type: String) throws {
    var source = Source(random: Numbers(state: 11))
    for _ in 0..<Sizes.of(5000, small: 60) {
      let secrets = source.secrets.map { "<token>\(Plantings.entities($0))</token>" }.joined()
      let body = "<?xml version=\"1.0\"?><r>\(source.xml())\(secrets)</r>"
      let text = redacted(body, type)
      let shape = try #require(try? Shape.of(body), "\(body)")
      #expect((try? Shape.of(text)) == shape, "\(body) became \(text)")
      #expect(!Plantings.isSeen(in: Plantings.entry(Data(text.utf8))), "\(body) became \(text)")
    }
  }

  /// The tags of a document, with the names of their attributes; an error where it is not well-formed.
  private enum Shape {
    struct Malformed: Error {}

    static func of(_ text: String) throws -> [String] {
      var (rest, open, shape) = (text[...], [String](), [String]())
      func upTo(_ mark: String) throws -> Substring {
        guard let end = rest.range(of: mark) else { throw Malformed() }
        defer { rest = rest[end.upperBound...] }
        return rest[..<end.lowerBound]
      }
      while let first = rest.first {
        if rest.hasPrefix("<!--") {
          if try upTo("-->").dropFirst(4).contains("--") { throw Malformed() }
        } else if rest.hasPrefix("<![CDATA[") {
          _ = try upTo("]]>")
        } else if rest.hasPrefix("<?") {
          _ = try upTo("?>")
        } else if first == "<" {
          var parts = try upTo(">").dropFirst().split(separator: "\"", omittingEmptySubsequences: false)
          guard parts.count % 2 == 1 else { throw Malformed() }
          for index in parts.indices where index % 2 == 1 {
            if parts[index].contains("<") || !isEscaped(parts[index]) { throw Malformed() }
            parts[index] = ""
          }
          let tag = parts.joined(separator: "\"")
          shape.append(tag)
          let name = String(tag.drop { $0 == "/" }.prefix { $0 != " " && $0 != "/" })
          if tag.hasPrefix("/") {
            guard open.popLast() == name else { throw Malformed() }
          } else if !tag.hasSuffix("/") {
            open.append(name)
          }
        } else {
          let content = rest.prefix { $0 != "<" }
          if !isEscaped(content) { throw Malformed() }
          rest = rest[content.endIndex...]
        }
      }
      guard open.isEmpty else { throw Malformed() }
      return shape
    }

    private static func isEscaped(_ text: Substring) -> Bool {
      text.split(separator: "&", omittingEmptySubsequences: false).dropFirst().allSatisfy { part in
        part.firstIndex(of: ";").map { part.distance(from: part.startIndex, to: $0) <= 6 } ?? false
      }
    }
  }

  // MARK: Work, bodies that cannot be read, report

  @Test("takes work in proportion to the bytes, whatever they are")
  func work() {
    func work(_ body: String, _ type: String, secrets: Int = 0) -> Double {
      var known = Set((0..<secrets).map { Array("s3cret-number-\($0)-of-many".utf8) })
      if secrets > 0 { known.insert(Array(repeating: UInt8(ascii: "a"), count: 1000) + [UInt8(ascii: "b")]) }
      var redactor = Redactor(.standard, finders: [SecretFinder(known)].compactMap(\.self))
      _ = redactor.redacted(Plantings.entry(Data(body.utf8), type))
      return Double(redactor.work) / Double(body.utf8.count)
    }
    let size = Sizes.of(1 << 18, small: 3_000)
    let listed = "[" + (0..<size / 40).map { "{\"key\":\"s3cret-number-\($0)-of-many\"}" }.joined(separator: ",") + "]"
    for type in [
      "application/json", "text/plain", "text/xml", "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=b", "",
    ] {
      #expect(work(listed, type, secrets: Sizes.of(2000, small: 150)) < 20, "\(type)")
      for piece in [
        "\"", "\\\"", "<", "</a>", "<a>", "<a b=", "=", "a=b=", "?a=%", "://", "{\"a\":", "[", "[{\"", "\"token\":\"",
        "&token=", "<token>", "a: ",
        "ey", "eyJ", "--b\r\n", "\n", "<!--", "%25", "\\\\", "&amp;", "a a a a a a b ", "s3cret-number-", "?u=%3Fu%3D",
        "'", "{\"name\":\"token\",\"value\":", "a", "f(\"token\",", "token: \"\"\"", "token:\n- ", "\"token\"=>",
        "eyJ.", "eyJhbGciOiJI.", "sk-.", "token:\n", "token: |\n  ", "token: |\r", "'token: |'\n ", "'token:|'",
        "token: [", "value: ", "bearer ", "token: a, ",
        "a||", "{\"id\":\"pin\",",
        "LS0tLS1CRUdJTi/", "{\"columns\":[\"a\"],\"rows\":[[", ";token=", "{\"errors\":", "token: String = ",
      ] {
        let body = String(repeating: piece, count: size / piece.utf8.count)
        #expect(work(body, type, secrets: 50) < 40, "\(piece) in \(type)")
      }
    }
  }

  @Test("of a body that cannot be read is all, or nothing, as configured; and the report says it")
  func unread() throws {
    let gzip = try #require(Deflate.compressed(Data("{\"password\":\"pl4nted1\"}".utf8), as: .gzip))
    var strict = Redaction.standard
    strict.unread = .remove
    for (type, coding, body) in [
      ("application/json", "", Data("{\"a\":1} oops".utf8)), ("application/json", "gzip", gzip.dropLast(9)),
      ("application/json", "br", Data([0x8B, 1, 0x80, 0, 3])), ("application/protobuf", "", Data([8, 0, 1])),
      ("multipart/mixed; boundary=b", "", Data("none".utf8)),
    ] {
      let entry = Plantings.entry(headers: coding.isEmpty ? [] : [.init("Content-Encoding", coding)], body, type)
      #expect(Redaction.standard.redacted(entry) == entry)
      #expect(
        Redaction.standard.report(HAR(entries: [entry])).contains(", kept"))
      let redacted = strict.redacted(entry)
      let text = redacted.request.body?.text ?? ""
      #expect(text == (type == "application/json" && coding.isEmpty ? "\"REDACTED\"" : "REDACTED"), "\(text)")
      #expect(redacted.request.body?.comment != nil && strict.redacted(redacted) == redacted)
      #expect(strict.report(HAR(entries: [entry])).contains(", removed"))
    }
    for (type, body) in [
      ("image/png", Data([0x89, 0])), ("application/json", Data("{\"a\":[1,".utf8)), ("", Data("x".utf8)),
    ] {
      let entry = Plantings.entry(body, type)
      #expect(strict.redacted(entry) == entry && !strict.report(HAR(entries: [entry])).contains("Not read"))
    }
  }

  @Test("of a body that is no text is nothing, though it has no zero in it; text in an old character set is read")
  func binary() throws {
    var strict = Redaction.standard
    strict.unread = .remove
    let message = Data([0x81, 0xA8]) + Data("password".utf8) + Data([0xAB]) + Data("s3cret-pass".utf8)
    for (type, body) in [
      ("application/x-protobuf", Data("\n\u{C}sk_live_abcd".utf8)), ("application/msgpack", message), ("", message),
      ("application/octet-stream", message),
      ("application/x-known-to-nobody", Data([8, 1, 0x12, 5]) + Data("hello".utf8)),
    ] {
      let entry = Plantings.entry(body, type)
      #expect(strict.redacted(entry).request.body?.text == "REDACTED", "\(type)")
      #expect(Redaction.standard.redacted(entry) == entry, "\(type)")
      #expect(Redaction.standard.report(HAR(entries: [entry])).contains(", kept"), "\(type)")
    }
    for (type, start) in [
      ("text/plain", Data([0xE4, 0xF6])), ("text/plain; charset=ISO-8859-1", Data([0x81, 0xE4])),
      ("application/x-log; charset=\"windows-1251\"", Data([0xC0])),
      ("", Data("\u{1B}[1m".utf8)),
    ] {
      // In the middle of the last letter, bodies may be cut off.
      let end = Data(type.contains("charset") || start.first == 0xE4 ? [] : [0xE2, 0x82])
      let entry = Plantings.entry(start + Data("\ntoken=".utf8) + Data("pl4nted1".utf8) + Data("\nx".utf8) + end, type)
      let redacted = strict.redacted(entry)
      #expect(redacted.request.body?.data == start + Data("\ntoken=REDACTED\nx".utf8) + end, "\(type)")
      #expect(!strict.report(HAR(entries: [entry])).contains("Not read"), "\(type)")
    }
  }

  @Test("of a value in a value in a value, and so on, is said to be unread, or nothing, as configured")
  func depth() throws {
    var strict = Redaction.standard
    strict.unread = .remove
    func nested(_ times: Int) -> HAR.Entry {
      let body = (0..<times).reduce(#"{"password":"pl4nted1","a":1}"#) { text, _ in
        "{\"b\":\(Plantings.quoted(text)),\"c\":[\"x\",\"y\"]}"
      }
      return Plantings.entry(Data(body.utf8), "application/json")
    }
    for times in 1..<12 {
      let entry = nested(times)
      let isSeen = Plantings.isSeen(in: Redaction.standard.redacted(entry))
      let report = Redaction.standard.report(HAR(entries: [entry]))
      #expect(isSeen == (times > 7), "\(times)")
      #expect(!isSeen || report.components(separatedBy: "nested too deeply, kept").count == 2, "\(report)")
      let redacted = strict.redacted(entry)
      #expect(!Plantings.isSeen(in: redacted) && strict.redacted(redacted) == redacted, "\(times)")
      #expect(try JSONValue(parsing: redacted.request.body?.data ?? Data()).object?["c"] == ["x", "y"], "\(times)")
    }
  }

  @Test("is told by the report: how many values there were, and which bodies a replay compares otherwise")
  func report() {
    var plain = Plantings.entry(url: "https://api.test/b?token=x1234567", headers: [.init("Cookie", "a=b; c=d")])
    plain.comment = "x1234567"
    let archive = HAR(entries: [
      plain, Plantings.entry(Data("{\"pin\":\"pl4nted1\",\"a\":1}".utf8), "application/json"),
    ])
    let report = Redaction.standard.report(archive)
    // Twice in the URL and its query, twice in the head and its cookies, once in the comment; once in each body.
    #expect(report.contains("Redacted values: 9. Exchanges: 2."), "\(report)")
    #expect(
      report.contains("Warning: bodies of requests were changed (1).") && report.contains("POST https://api.test/a"),
      "\(report)")
    #expect(!report.contains("pl4nted") && !report.contains("x1234567"))
    #expect(Redaction.none.report(archive) == "Redacted values: 0. Exchanges: 0.")
  }

  @Test("keeps numbers in a list under a plural, and a count")
  func numbersInLists() throws {
    let text =
      #"{"pins":[4711,[4712]],"otp_codes":{"sms":4713},"passwords":4714,"tokens":[4715],"session_pins":[{"id":4716,"pin":4717}]}"#
    let redacted = Redaction.standard.redacted(anyFormat: text)
    #expect(
      redacted
        == #"{"pins":[4711,[4712]],"otp_codes":{"sms":4713},"passwords":4714,"tokens":[4715],"session_pins":[{"id":4716,"pin":0}]}"#
    )
  }

  @Test("hides the fields by which users are told apart and which do not follow redirects")
  func fieldsOfCredentials() {
    for kind in [CredentialNames.Kind.stable, .changing, .harmless] {
      for name in CredentialNames.fields(kind) {
        let entry = Redaction.standard.redacted(Plantings.entry(headers: [.init(name, "a1-b2-c3")]))
        let isShown = entry.request.headers[0].value == "a1-b2-c3"
        #expect(isShown == (kind == .harmless) && Redaction.standard.hides(name) != isShown, "\(name)")
      }
    }
  }

  @Test("reads the encoded names of items wherever a URL stands")
  func encodedNames() {
    for name in ["access%5Ftoken", "%61ccess_token", "api%5Fkey", "user%5Bpassword%5D", "api+key"] {
      let twice = name.replacing("%", with: "%25").replacing("+", with: "%2B")
      for url in [
        "https://b.test/a?\(name)=pl4nted", "/a?b=c&\(name)=pl4nted#d", "https://b.test/a#\(name)=pl4nted",
        "https://b.test/a;\(name)=pl4nted/b", "https://b.test/a%3B\(name)%3Dpl4nted/b", "/a?\(name)%3Dpl4nted&b",
        "https://b.test/c/https%3A%2F%2Fd%3Apl4nted%40e%2Ff", "https://b.test/a?next=%2Fb%3Fc%3Dd%26\(twice)%3Dpl4nted",
      ] {
        // One place at a time: what one place shows to be a secret is not shown in another.
        var entries = ["Referer", "Location", "X-Next"].map {
          Plantings.entry(headers: [.init($0, $0 == "X-Next" ? "see \(url), \(url)" : url)])
        }
        entries.append(Plantings.entry(url: url))
        entries.append(Plantings.entry())
        entries[4].request.query = [.init(name, "pl4nted")]
        for entry in entries.map({ Redaction.standard.redacted($0) }) {
          #expect(!entry.request.curlCommand().contains("pl4nted"), "\(url)")
          #expect(!String(decoding: HAR(entries: [entry]).data(), as: UTF8.self).contains("pl4nted"), "\(url)")
        }
        for text in ["curl '\(url)'", url, "<a href=\"\(url)\">"] {
          #expect(!Redaction.standard.redacted(anyFormat: text).contains("pl4nted"), "\(text)")
        }
      }
    }
  }

  @Test("reads the words of a name in XML by their capitals, too")
  func capitals() {
    let text = "<r licenseKey='kvzrhqpw'><AesKey>kvzrhqpwxdym</AesKey><x:sshKey>mydxwpqhrzvk</x:sshKey></r>"
    #expect(!redacted(text, "application/xml").contains(/kvzrhqpw|mydxwpq/))
  }

  @Test("of many exchanges loses what one of them has shown")
  func together() throws {
    let secret = "pl4nted-0f-another"
    var archive = HAR(entries: [
      Plantings.entry(headers: [.init("X-Api-Key", secret)]),
      Plantings.entry(url: "https://api.test/\(secret)?q=\(secret)"),
    ])
    archive.pages = [["id": "1", "title": "https://api.test/?token=\(secret)"]]
    archive.comment = "https://api.test/?token=\(secret)"
    let redacted = try Redaction.standard.redacted(archive)
    #expect(!String(decoding: redacted.data(), as: UTF8.self).contains(secret))
  }
}
