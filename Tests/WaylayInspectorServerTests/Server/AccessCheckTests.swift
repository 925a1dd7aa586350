#if InspectorServer
  import Foundation
  import Testing
  import WaylayHAR
  import WaylayInspector

  @testable import WaylayInspectorServer

  struct AccessCheckTests {
    private let access = AccessCheck(token: "0123456789abcdef", port: 4711)

    private func verdict(
      _ path: String, _ fields: [String: String] = ["host": "127.0.0.1:4711"], method: String = "GET"
    ) -> String? {
      access.check(AccessCheck.Request(method: method, path: path, field: { fields[$0] }))
    }

    @Test("who has the token and asks for this machine is let in")
    func allowed() {
      #expect(verdict("/0123456789abcdef/") == "/")
      #expect(verdict("/0123456789abcdef") == "")
      #expect(verdict("/0123456789abcdef/entries/3/stub") == "/entries/3/stub")
      #expect(
        verdict("/0123456789abcdef/events", ["host": "LocalHost:4711", "origin": "http://localhost:4711"])
          == "/events")
      #expect(
        verdict("/0123456789abcdef/events", ["host": "127.0.0.1:4711", "sec-fetch-site": "same-origin"])
          == "/events")
      #expect(
        verdict("/0123456789abcdef/entries", ["host": "127.0.0.1:4711", "x-waylay": "1"], method: "DELETE")
          == "/entries")
      // A link from a mail, or from a page that shows logs.
      let link = [
        "host": "127.0.0.1:4711", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate",
        "sec-fetch-dest": "document",
      ]
      #expect(verdict("/0123456789abcdef/", link) == "/")
    }

    @Test(
      "a token that is another, longer, shorter, encoded or elsewhere is refused",
      arguments: [
        "/", "", "//", "/0123456789abcdee/", "/0123456789abcde/", "/0123456789abcdef0/", "/0123456789ABCDEF/",
        "/x/../0123456789abcdef/",
        "//0123456789abcdef/", "/%30123456789abcdef/", "/?0123456789abcdef", "0123456789abcdef/",
        "/.//0123456789abcdef/",
        "*",
      ])
    func tokens(path: String) {
      #expect(verdict(path) == nil)
    }

    @Test(
      "other names, other origins and other sites are refused, token or not",
      arguments: [
        [:], ["host": ""], ["host": "evil.example:4711"], ["host": "127.0.0.1"], ["host": "127.0.0.1:4712"],
        ["host": "127.0.0.1.evil.example:4711"],
        ["host": "127.0.0.1:4711", "origin": "http://evil.example"], ["host": "127.0.0.1:4711", "origin": "null"],
        ["host": "127.0.0.1:4711", "origin": "http://127.0.0.1:4712"],
        ["host": "127.0.0.1:4711", "origin": "https://127.0.0.1:4711"],
        ["host": "localhost:4711", "origin": "http://127.0.0.1:4711"],
        ["host": "127.0.0.1:4711", "sec-fetch-site": "cross-site"],
        ["host": "127.0.0.1:4711", "sec-fetch-site": "same-site"],
        [
          "host": "127.0.0.1:4711", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate",
          "sec-fetch-dest": "iframe",
        ],
        [
          "host": "127.0.0.1:4711", "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors",
          "sec-fetch-dest": "document",
        ],
      ])
    func others(fields: [String: String]) {
      #expect(verdict("/0123456789abcdef/", fields) == nil)
      #expect(verdict("/0123456789abcdef/events", fields) == nil)
    }

    @Test("nothing is changed by who cannot add a field of the page's own")
    func methods() {
      for method in ["POST", "DELETE", "PUT", "OPTIONS", "HEAD", "get"] {
        #expect(verdict("/0123456789abcdef/entries", method: method) == nil)
      }
      let link = [
        "host": "127.0.0.1:4711", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate",
        "sec-fetch-dest": "document",
      ]
      #expect(verdict("/0123456789abcdef/events", link) == nil)
    }

    @Test("tokens are 128 bits of their own each")
    func newTokens() {
      let tokens = (0..<200).map { _ in String.random(bytes: 16) }
      #expect(Set(tokens).count == 200)
      #expect(tokens.allSatisfy { $0.utf8.count == 32 && $0.allSatisfy(\.isHexDigit) })
    }

    @Test(
      """
      a request is sent again without the fields that secrets were taken out of, and not at all where it would be \
      another
      """
    )
    func repeating() throws {
      var entry = HAR.Entry(
        started: Date(),
        request: HAR.Request(
          method: "PUT", url: "https://api.example.com/a?b=c",
          headers: [
            HAR.Field("Host", "api.example.com"), HAR.Field("Authorization", "REDACTED"),
            HAR.Field("Cookie", "a=REDACTED; b=2"),
            HAR.Field("Accept", "text/plain"), HAR.Field("Content-Length", "5"), HAR.Field("X-Two", "1"),
          ], body: HAR.Body(Data("hello".utf8), mediaType: "text/plain")),
        response: HAR.Response(status: 200))
      let request = try RequestReplay.request(Inspector.Exchange(entry), .standard)
      #expect(request.httpMethod == "PUT")
      #expect(request.url?.absoluteString == "https://api.example.com/a?b=c")
      #expect(request.httpBody == Data("hello".utf8))
      #expect(request.allHTTPHeaderFields == ["Accept": "text/plain", "X-Two": "1"])

      func refusal(_ change: (inout HAR.Entry) -> Void) -> String? {
        var other = entry
        change(&other)
        do { _ = try RequestReplay.request(Inspector.Exchange(other), .standard) } catch {
          return error.reason
        }
        return nil
      }
      #expect(refusal { $0.request.url = "https://api.example.com/a?token=REDACTED" } != nil)
      #expect(refusal { $0.request.url = "https://api.example.com/a?token=%52EDACTED" } != nil)
      #expect(refusal { $0.request.url = "file:///etc/passwd" } != nil)
      #expect(refusal { $0.request.url = "no URL" } != nil)
      #expect(refusal { $0.request.body = HAR.Body(Data("{\"pin\":\"REDACTED\"}".utf8)) } != nil)
      #expect(refusal { $0.request.body = HAR.Body(Data("begin".utf8), size: 9000) } != nil)
      // Within another form it is there all the same.
      let inner = Data(#"{"password":"REDACTED"}"#.utf8)
      let coded = inner.base64EncodedString()
      #expect(refusal { $0.request.url = "https://api.example.com/a?state=\(coded)" } != nil)
      #expect(refusal { $0.request.body = HAR.Body(Data(#"{"state":"\#(coded)"}"#.utf8)) } != nil)
      let wide = Data(#"{"password":"REDACTED"}"#.utf16.flatMap { [UInt8($0 & 0xFF), 0] })
      #expect(refusal { $0.request.body = HAR.Body(wide, mediaType: "application/json; charset=utf-16le") } != nil)
      let packed = try #require(Deflate.compressed(inner, as: .gzip))
      #expect(
        refusal { other in
          other.request.headers.append(HAR.Field("Content-Encoding", "gzip"))
          other.request.body = HAR.Body(packed, mediaType: "application/json")
        } != nil)
      // A number in place of a number is known by the list of what was replaced.
      let (inspector, pin) = (Inspector(), HAR.Body(Data(#"{"pin":4711,"n":0}"#.utf8)))
      let kept = inspector.add(
        HAR.Entry(
          started: Date(), request: HAR.Request(method: "PUT", url: "https://api.example.com/a", body: pin),
          response: HAR.Response(status: 200)))
      let numbered = try #require(inspector.exchange(kept))
      #expect(numbered.request.body?.text == #"{"pin":0,"n":0}"#)
      #expect(throws: RequestReplay.Refusal.self) { try RequestReplay.request(numbered, .standard) }
      #expect(refusal { $0.request.body = HAR.Body(Data(#"{"n":0}"#.utf8)) } == nil)
      #expect(refusal { $0.extensions["_state"] = "unseen" } != nil)
      #expect(refusal { _ in } == nil)
      entry.request.body = nil
      #expect(try RequestReplay.request(Inspector.Exchange(entry), .standard).httpBody == nil)
    }
  }
#endif
