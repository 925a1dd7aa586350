import Crypto
import Foundation
import TestOrigin
import TestSupport
import Testing

@Suite("Routes", .timeLimit(.minutes(5)))
struct RouteTests {
  /// Status and text of a reply, through a client that knows nothing of credentials, ranges and caches.
  private func fetch(
    _ path: String, _ fields: [String] = [], from origin: TestOrigin
  ) async throws -> (head: String, body: String) {
    let client = try await RawClient(origin)
    try await client.request(path, fields: fields + ["Connection: close"])
    let parts = try await client.readToEnd().components(separatedBy: "\r\n\r\n")
    return (parts[0], parts.dropFirst().joined(separator: "\r\n\r\n"))
  }

  @Test("Basic credentials are welcome when they are right")
  func basic() async throws {
    try await withOrigin { origin in
      let without = try await fetch("/basic/ann/secret", from: origin)
      #expect(without.head.hasPrefix("HTTP/1.1 401 "))
      #expect(without.head.contains("\r\nWWW-Authenticate: Basic realm=\"test\"\r\n"))
      let right = Data("ann:secret".utf8).base64EncodedString()
      #expect(
        try await fetch("/basic/ann/secret", ["Authorization: Basic \(right)"], from: origin).body == "welcome ann")
      let wrong = Data("ann:wrong".utf8).base64EncodedString()
      #expect(
        try await fetch("/basic/ann/secret", ["Authorization: Basic \(wrong)"], from: origin).head.hasPrefix(
          "HTTP/1.1 401 "))
    }
  }

  @Test("a bearer token is welcome when it is right")
  func bearer() async throws {
    try await withOrigin { origin in
      let without = try await fetch("/bearer/t1", from: origin)
      #expect(without.head.contains("\r\nWWW-Authenticate: Bearer realm=\"test\"\r\n"))
      let right = try await fetch("/bearer/t1", ["Authorization: Bearer t1"], from: origin)
      #expect(right.body == "welcome")
      let wrong = try await fetch("/bearer/t1", ["Authorization: Bearer t0"], from: origin)
      #expect(wrong.head.contains("error=\"invalid_token\""))
    }
  }

  @Test("Digest credentials are welcome when they are right", arguments: ["MD5", "SHA-256"])
  func digest(_ algorithm: String) async throws {
    try await withOrigin { origin in
      let path = "/digest/ann/secret"
      let challenges = try await fetch(path, from: origin).head.components(separatedBy: "\r\n").filter {
        $0.hasPrefix("WWW-Authenticate:")
      }
      #expect(challenges.count == 2)
      let challenge = try #require(challenges.first { $0.contains("algorithm=\(algorithm),") })
      #expect(challenge.hasPrefix("WWW-Authenticate: Digest realm=\"test\", qop=\"auth\", "))
      let nonce = try #require(challenge.components(separatedBy: "nonce=\"").last?.prefix { $0 != "\"" })

      func hash(_ text: String) -> String {
        let bytes: [UInt8] =
          algorithm == "MD5"
          ? Array(Insecure.MD5.hash(data: Data(text.utf8))) : Array(SHA256.hash(data: Data(text.utf8)))
        return bytes.map { String(format: "%02x", $0) }.joined()
      }
      func answer(_ password: String, _ nonce: some StringProtocol) -> String {
        let response = hash("\(hash("ann:test:\(password)")):\(nonce):00000001:0a4f:auth:\(hash("GET:\(path)"))")
        return "Authorization: Digest username=\"ann\", realm=\"test\", nonce=\"\(nonce)\", uri=\"\(path)\", "
          + "algorithm=\(algorithm), qop=auth, nc=00000001, cnonce=\"0a4f\", response=\"\(response)\""
      }
      #expect(try await fetch(path, [answer("secret", nonce)], from: origin).body == "welcome ann")
      #expect(try await fetch(path, [answer("wrong", nonce)], from: origin).head.hasPrefix("HTTP/1.1 401 "))
      #expect(try await fetch(path, [answer("secret", "made-up")], from: origin).head.contains("stale=true"))
      let only = try await fetch("\(path)?algorithm=\(algorithm)", from: origin).head
      #expect(only.components(separatedBy: "WWW-Authenticate:").count == 2)
    }
  }

  @Test("ranges of a pattern, with a validator")
  func ranges() async throws {
    try await withOrigin { origin in
      func range(_ fields: String...) async throws -> (head: String, body: String) {
        try await fetch("/range/100", fields, from: origin)
      }
      let whole = try await range()
      #expect(whole.head.hasPrefix("HTTP/1.1 200 "))
      #expect(whole.head.contains("\r\nETag: \"pattern-100\"\r\n"))
      #expect(Array(whole.body.utf8) == Array(0..<100))

      let expected: [(String, Range<UInt8>)] = [
        ("10-19", 10..<20), ("90-", 90..<100), ("-5", 95..<100), ("95-200", 95..<100),
      ]
      for (text, bytes) in expected {
        let part = try await range("Range: bytes=\(text)")
        #expect(part.head.hasPrefix("HTTP/1.1 206 "))
        #expect(part.head.contains("\r\nContent-Range: bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/100\r\n"))
        #expect(Array(part.body.utf8) == Array(bytes))
      }
      #expect(try await range("Range: bytes=100-").head.contains("\r\nContent-Range: bytes */100\r\n"))
      #expect(try await range("Range: lines=1-2").head.hasPrefix("HTTP/1.1 200 "))
      #expect(try await range("Range: bytes=1-2", "If-Range: \"pattern-100\"").head.hasPrefix("HTTP/1.1 206 "))
      #expect(try await range("Range: bytes=1-2", "If-Range: \"other\"").head.hasPrefix("HTTP/1.1 200 "))
      #expect(try await range("If-None-Match: \"pattern-100\"").head.hasPrefix("HTTP/1.1 304 "))
      let cut = try await fetch("/range/100?cut=30", from: origin)
      #expect(cut.head.contains("\r\nContent-Length: 100"))
      #expect(cut.body.utf8.count == 30)
    }
  }

  @Test("a session unpacks the compressed reply")
  func gzip() async throws {
    try await withOrigin { origin in
      let (head, text) = try await URLSession.fetch(origin.url("/gzip"), fields: ["Accept-Encoding": "gzip"])
      #expect(head.statusCode == 200)
      #expect(text == "hello")
    }
  }

  @Test("a session gets what the older routes have always said")
  func older() async throws {
    try await withOrigin { origin in
      #expect(try await URLSession.fetch(origin.url("/hello")).text == "hello")
      #expect(try await URLSession.fetch(origin.url("/chunks/2")).text == "chunk 1\nchunk 2\n")
      #expect(try await URLSession.fetch(origin.url("/redirect/302?to=/slow/1")).text == "slow")
      #expect(try await URLSession.fetch(origin.url("/nowhere")).head.statusCode == 404)
      let (_, json) = try await URLSession.fetch(origin.url("/echo?a=b"), fields: ["X-A": "1"])
      let echo = try JSONDecoder().decode(Echo.self, from: Data(json.utf8))
      #expect(echo.target == "/echo?a=b")
      #expect(echo.head.contains("\nX-A: 1"))
    }
  }
}
