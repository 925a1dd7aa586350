package import Foundation
package import WaylayHAR

/// Exchanges with a secret under a name that says so, in each way in which formats have names and values.
package enum Plantings {
  package static let secret = "pl4nted-\"s3cret\"/+ü&<z>"
  /// What every spelling of it has, in text without escapes.
  package static let mark = "pl4nted"

  package struct Planting: CustomStringConvertible, Sendable {
    package let description: String
    package var entry: HAR.Entry
  }

  package static func quoted(_ text: String) -> String { JSONValue(text).description }
  package static func escaped(_ text: String) -> String {
    text.addingPercentEncoding(
      withAllowedCharacters: CharacterSet(charactersIn: "a"..."z").union(CharacterSet(charactersIn: "0"..."9"))) ?? ""
  }
  package static func entities(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;").replacing(
      ">", with: "&#62;")
  }
  package static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
  package static func unpadded(_ text: String) -> String {
    base64(text).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  package static func entry(
    url: String = "https://api.test/a", headers: [HAR.Field] = [], _ body: Data? = nil, _ type: String = ""
  ) -> HAR.Entry {
    HAR.Entry(
      started: Date(timeIntervalSince1970: 1_700_000_000),
      request: .init(method: "POST", url: url, headers: headers, body: body.map { HAR.Body($0, mediaType: type) }),
      response: .init(status: 200, body: HAR.Body(body ?? Data(), mediaType: type)))
  }

  /// Bodies by what they are, their type, and their text.
  package static func bodies(_ name: String, _ secret: String) -> [(String, String, Data)] {
    let (json, form, xml) = ("application/json", "application/x-www-form-urlencoded", "application/xml")
    let member = "\(quoted(name)): \(quoted(secret))"
    let object = "{\"n\":1,\(member),\"t\":\"shown\"}"
    let coded = "\(escaped(name))=\(escaped(secret))"
    let link = "https://b.test/x?page=2&\(coded)#top"
    let (text, attribute) = (entities(secret), entities(secret).replacing("'", with: "&apos;"))
    let part = "Content-Disposition: form-data; name=\"\(name)\""
    var bodies: [(String, String, String)] = [
      ("JSON", json, object), ("JSON without a type", "", object),
      ("a type with a suffix", "application/hal+json", object),
      ("JSON as text", "text/plain", object), ("JSON as a form", form, object),
      ("JSON as HTML", "text/html", object), ("spaces", json, " {\n \(member.replacing(": ", with: " :\n ")) }"),
      ("nested JSON", json, "{\"a\":[{\"b\":[[\(object)]]}]}"),
      ("an object", json, "{\"\(name)\":{\"a\":[\(quoted(secret)),{\"b\":\(quoted(secret))}]}}"),
      ("pairs", json, "[{\"name\":\"\(name)\",\"value\":\(quoted(secret))}]"),
      ("pairs, the value first", json, "[{\"value\":\(quoted(secret)),\"name\":\"\(name)\"}]"),
      ("pairs by key", json, "[{\"Key\":\"\(name)\",\"Value\":\(quoted(secret))}]"),
      ("JSON in JSON", json, "{\"body\":\(quoted(object))}"),
      ("twice", json, "{\"body\":\(quoted("{\"b\":\(quoted(object))}"))}"),
      ("lines of JSON", "application/x-ndjson", "{\"a\":1}\n\(object)\n"),
      ("RFC 7464", "application/json-seq", "\u{1E}\(object)\n"),
      ("JSON that is cut off", json, "{\"a\":1,\(member.dropLast())"),
      ("events", "text/event-stream", "id: 1\ndata: \(object)\n\n"),
      ("a byte order mark", json, "\u{FEFF}\(object)"), ("a log", "text/plain", "12:00 sent \(object) to b\n"),
      ("a URL in JSON", json, "{\"next\":\(quoted(link))}"),
      ("a URL in a text", json, "{\"t\":\(quoted("see \(link) for more"))}"),
      ("a URL in a URL", json, "{\"next\":\(quoted("https://c.test/?u=\(escaped(link))&a=1"))}"),
      ("a form in JSON", json, "{\"t\":\(quoted("a=1&\(coded)"))}"),
      ("markup in JSON", json, "{\"t\":\(quoted("<a><\(name)>\(text)</\(name)></a>"))}"),
      ("a token of JSON", json, "{\"t\":\"\(unpadded("{\"a\":1}")).\(unpadded(object)).x\"}"),
      ("a form", form, "a=1&\(coded)&b=2"), ("a form with a character set", "\(form); charset=utf-8", coded),
      ("a form without a type", "", "a=1&\(coded)"), ("a form as text", "text/plain", "\(coded)&a=1"),
      ("JSON in a form", form, "a=1&p=\(escaped(object))"), ("a URL in a form", form, "next=\(escaped(link))&a=1"),
      ("a form in a form", form, "p=\(escaped("a=1&\(coded)"))"),
      ("brackets", form, "user[\(name)]=\(escaped(secret))"),
      ("parts", "multipart/form-data; boundary=b", "--b\r\n\(part)\r\n\r\n\(secret)\r\n--b--\r\n"),
      ("parts without a type", "", "--b\r\n\(part)\r\n\r\n\(secret)\r\n--b--\r\n"),
      (
        "parts with a quoted boundary", "multipart/mixed; boundary=\"b c\"",
        "preamble\r\n--b c\r\n\(part)\r\n\r\n\(secret)\r\n--b c--"
      ),
      (
        "parts with short lines", "multipart/form-data; boundary=b",
        "--b\n\(part.replacing("\"", with: ""))\n\n\(secret)\n--b--\n"
      ),
      (
        "a part of JSON", "multipart/mixed; boundary=b",
        "--b\r\nContent-Type: application/json\r\n\r\n\(object)\r\n--b--\r\n"
      ),
      (
        "a part that is a form", "multipart/mixed; boundary=b",
        "--b\r\nContent-Type: \(form)\r\n\r\n\(coded)\r\n--b\r\n\r\nx\r\n--b--"
      ),
      (
        "a file's name first", "multipart/form-data; boundary=b",
        "--b\r\nContent-Disposition: form-data; filename=\"a.txt\"; name=\"\(name)\"\r\n\r\n\(secret)\r\n--b--"
      ),
      (
        "a file's name that looks like a parameter", "multipart/form-data; boundary=b",
        "--b\r\nContent-Disposition: form-data; filename=\"a\\\"; name=b\"; name=\"\(name)\"\r\n\r\n\(secret)\r\n--b--"
      ),
      (
        "a name alone", "multipart/form-data; boundary=b",
        "--b\r\nContent-Disposition: name=\"\(name)\"\r\n\r\n\(secret)\r\n--b--"
      ),
      (
        "a field in two lines", "multipart/form-data; boundary=b",
        "--b\r\nContent-Disposition: form-data;\r\n name=\"\(name)\"\r\n\r\n\(secret)\r\n--b--"
      ),
      (
        "a URL in the head of a part", "multipart/mixed; boundary=b",
        "--b\r\nContent-Location: \(link)\r\n\r\nx\r\n--b--"
      ),
      ("a field in the head of a part", "multipart/mixed; boundary=b", "--b\r\nX-\(name): \(secret)\r\n\r\nx\r\n--b--"),
      ("a part without a head", "multipart/mixed; boundary=b", "--b\r\n\(object)\r\n--b--"),
      ("an instruction in XML", xml, "<?xml-stylesheet href=\"\(link)\"?><a/>"),
      ("parts that are cut off", "multipart/form-data; boundary=b", "--b\r\n\(part)\r\n\r\n\(secret)"),
      ("XML", xml, "<?xml version=\"1.0\"?><a><\(name)>\(text)</\(name)></a>"),
      ("a namespace", "text/xml", "<s:a xmlns:s='u'><s:\(name) kind='x'>\(text)</s:\(name)></s:a>"),
      ("XML without a type", "", "<a><\(name)>\(text)</\(name)></a>"),
      ("an attribute", xml, "<a b='1' \(name)=\"\(attribute)\"/>"),
      ("CDATA", xml, "<a><\(name)><![CDATA[\(secret)]]></\(name)></a>"),
      ("an element in it", xml, "<\(name)><b>\(text)</b><c d='1'/></\(name)>"),
      ("a pair of attributes", xml, "<p name=\"\(name)\" value=\"\(attribute)\"/>"),
      ("the value first", xml, "<p value=\"\(attribute)\" name=\"\(name)\"/>"),
      ("a key with a text", "application/soap+xml", "<l><entry key='\(name)'>\(text)</entry></l>"),
      ("JSON in XML", xml, "<a>\(entities(object))</a>"), ("JSON in CDATA", xml, "<a><![CDATA[\(object)]]></a>"),
      ("XML that is cut off", xml, "<a><\(name)>\(text)"),
      ("a link in HTML", "text/html", "<html><a href=\"\(entities(link))\">x</a></html>"),
      ("a field in HTML", "text/html", "<p>a<br><input type=hidden name='\(name)' value=\"\(attribute)\">"),
      (
        "a field after a script in capitals", "text/html",
        "<SCRIPT>x</SCRIPT><STYLE>y</Style><INPUT TYPE=hidden NAME='\(name)' VALUE=\"\(attribute)\">"
      ),
      ("a password in HTML", "text/html", "<input name=p type=\"password\" value=\"\(attribute)\">"),
      ("metadata", "text/html", "<head><meta name=\"\(name)\" content=\"\(attribute)\"></head>"),
      ("an attribute for data", "text/html", "<div data-\(name)=\"\(attribute)\">x</div>"),
      ("a text area", "text/html", "<textarea name=\"\(name)\">\(text)</textarea>"),
      ("lines", "text/plain", "a: 1\n\(name): \(escaped(secret))\nb: 2\n"),
      (
        "a request in a part", "multipart/mixed; boundary=b",
        "--b\r\nContent-Type: application/http\r\n\r\nGET /?\(coded) HTTP/1.1\r\nAuthorization: Bearer \(escaped(secret))\r\n\r\n\r\n--b--"
      ),
    ]
    if Double(secret) != nil { bodies.append(("a number", json, "{\"\(name)\":\(secret)}")) }
    return bodies.map { ($0.0, $0.1, Data($0.2.utf8)) }
  }

  package static func encoded(_ name: String, _ secret: String) -> [(String, String, Data)] {
    let object = "{\"a\":\"ü\",\(quoted(name)):\(quoted(secret))}"
    let xml = "<?xml version=\"1.0\"?><a><\(name)>\(entities(secret))</\(name)></a>"
    var bodies: [(String, String, Data)] = []
    for (label, encoding, mark) in [
      ("UTF-16LE", String.Encoding.utf16LittleEndian, [0xFF, 0xFE] as [UInt8]),
      ("UTF-16BE", .utf16BigEndian, [0xFE, 0xFF]),
      ("UTF-32LE", .utf32LittleEndian, [0xFF, 0xFE, 0, 0]), ("UTF-32BE", .utf32BigEndian, [0, 0, 0xFE, 0xFF]),
    ] {
      bodies.append((label, "application/json", object.data(using: encoding) ?? Data()))
      bodies.append(("\(label) with a mark", "application/json", Data(mark) + (object.data(using: encoding) ?? Data())))
      bodies.append(("XML in \(label)", "text/xml", Data(mark) + (xml.data(using: encoding) ?? Data())))
    }
    for format in [Deflate.Format.gzip, .zlib, .raw] {
      bodies.append(("\(format)", "application/json", Deflate.compressed(Data(object.utf8), as: format) ?? Data()))
      bodies.append(
        (
          "a form in \(format)", "application/x-www-form-urlencoded",
          Deflate.compressed(Data("\(name)=\(escaped(secret))".utf8), as: format) ?? Data()
        ))
    }
    let wide = Deflate.compressed(object.data(using: .utf16BigEndian) ?? Data(), as: .gzip) ?? Data()
    return bodies + [("UTF-16 in gzip", "application/json", wide)]
  }

  package static func heads(_ name: String, _ secret: String) -> [(String, HAR.Entry)] {
    let coded = "\(escaped(name))=\(escaped(secret))"
    let header: (String, String) -> HAR.Entry = { field, value in
      var entry = entry(headers: [.init(field, value)])
      entry.response = HAR.Response(status: 200, headers: [.init(field, value)])
      return entry
    }
    let object = "{\(quoted(name)):\(quoted(secret))}"
    var list: [(String, HAR.Entry)] = [
      ("a query", entry(url: "https://a.test/?page=2&\(coded)")),
      ("a fragment", header("Location", "https://a.test/x#\(coded)&a=1")),
      ("a user", entry(url: "https://ada:\(escaped(secret))@a.test/")),
      ("a matrix parameter", entry(url: "https://a.test/x;\(coded)?a=1")),
      ("a URL in a query", entry(url: "https://a.test/?u=\(escaped("https://b.test/?\(coded)"))")),
      ("JSON in a query", entry(url: "https://a.test/?u=\(escaped(object))")),
      ("Authorization", header("Authorization", "Bearer \(secret)")),
      ("Basic", header("authorization", "Basic \(base64("ada:\(secret)"))")),
      ("Proxy-Authorization", header("Proxy-Authorization", "Bearer \(secret)")),
      ("a bare key", header("Authorization", secret)),
      ("Cookie", header("Cookie", "a=1; \(coded)")), ("Set-Cookie", header("Set-Cookie", "\(coded); Path=/; HttpOnly")),
      ("Set-Cookie twice", header("Set-Cookie", "a=1; Path=/\n\(coded); Path=/")),
      (
        "Link",
        header(
          "Link", "<https://a.test/?page=2&\(coded)>; rel=\"next\", <https://a.test/?page=9&\(coded)>; rel=\"last\"")
      ),
      ("Referer", header("Referer", "https://b.test/?\(coded)")),
      ("Refresh", header("Refresh", "0; url=https://b.test/?\(coded)")),
      ("a field", header("X-\(name)", secret)), ("JSON in a field", header("X-Data", object)),
    ]
    var custom = entry()
    custom.extensions["_initiator"] = [
      "headers": [["name": .init(name), "value": .init(secret)]], "url": .init("https://b.test/?\(coded)"),
    ]
    custom.response.extensions["_trailers"] = [["name": "Authorization", "value": .init(secret)]]
    custom.cache["afterRequest"] = JSONValue(.object([.init(name: name, value: .init(secret))]))
    list.append(("custom fields", custom))
    let parameters = """
      [{"name":\(quoted(name)),"value":\(quoted(secret))},{"name":"u","value":\(quoted("https://b.test/?\(coded)"))}]
      """
    let archive = """
      {"log":{"version":"1.2","entries":[{"startedDateTime":"2026-05-04T09:30:00Z","request":{"method":"POST",\
      "url":"https://api.test/a","postData":{"mimeType":"multipart/form-data","params":\(parameters)}},\
      "response":{"status":200}}]}}
      """
    list += ((try? HAR(data: Data(archive.utf8)))?.entries ?? []).map { ("parameters", $0) }
    var comments = entry()
    (comments.comment, comments.request.comment) = ("https://b.test/?\(coded)", object)
    list.append(("comments", comments))
    return list
  }

  package static let all = ["access_token", "userPassword", "api-key"].flatMap { each($0) { _ in secret } }

  /// All ways for a name, each with the secret of its number.
  package static func each(_ name: String, _ secret: (Int) -> String) -> [Planting] {
    var all: [Planting] = []
    func add(_ make: (String) -> [(String, HAR.Entry)]) {
      for place in make(Self.secret).indices {
        let (label, entry) = make(secret(all.count))[place]
        all.append(.init(description: "\(label), \(name)", entry: entry))
      }
    }
    add { secret in bodies(name, secret).map { ($0, entry($2, $1)) } }
    add { secret in
      encoded(name, secret).map { label, type, body in
        let coding =
          ["zlib", "raw"].contains { label.hasSuffix($0) } ? "deflate" : label.hasSuffix("gzip") ? "gzip" : ""
        let fields = coding.isEmpty ? [] : [HAR.Field("Content-Encoding", coding)]
        var entry = entry(headers: fields, body, type)
        entry.response.headers = fields
        return (label, entry)
      }
    }
    add { heads(name, $0) }
    return all
  }

  /// Whether the secret is anywhere, in whatever spelling.
  package static func isSeen(in entry: HAR.Entry) -> Bool {
    let bodies = [entry.request.body?.data ?? Data(), entry.response.body.data]
    return ([entry.data()] + bodies).contains { isSeen(in: $0, depth: 0) }
  }

  package static func isSeen(in data: Data, depth: Int = 0) -> Bool {
    guard depth < 4, !data.isEmpty else { return false }
    var texts = [String(decoding: data, as: UTF8.self)]
    if data.contains(0) {
      for encoding in [String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian, .utf32BigEndian] {
        texts.append(String(data: data, encoding: encoding) ?? "")
      }
    }
    for format in [Deflate.Format.gzip, .zlib, .raw] {
      if let plain = Deflate.inflated(data, as: format, limit: 1 << 20), isSeen(in: plain, depth: depth + 1) {
        return true
      }
    }
    return texts.contains { text in
      if text.contains(mark) || (text.removingPercentEncoding ?? "").contains(mark) { return true }
      return text.split { !$0.isASCII || !$0.isLetter && !$0.isNumber && !"+/-_".contains($0) }.contains { word in
        guard word.count >= 12 else { return false }
        return (0..<4).contains { skipped in
          var digits = String(word.dropFirst(skipped)).replacing("-", with: "+").replacing("_", with: "/")
          while digits.count % 4 != 0 { digits += digits.count % 4 == 1 ? "A" : "=" }
          return Data(base64Encoded: digits).map { isSeen(in: $0, depth: depth + 1) } ?? false
        }
      }
    }
  }
}
