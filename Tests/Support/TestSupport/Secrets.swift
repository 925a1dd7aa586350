/// Secrets where clients and servers put them.
package enum Secrets {
  /// JSON and other texts with a secret under a name, by type.
  package static func shapes(_ name: String, _ secret: String) -> [(String, String)] {
    let (n, s) = (Plantings.quoted(name), Plantings.quoted(secret))
    let word = name.replacing("-", with: "_")
    return [
      ("application/json", "{\(n):\(s)}"), ("application/json", "{\"a\":{\"b\":[{\(n):\(s)}]}}"),
      ("application/json", "{\(n):[\(s)]}"), ("application/json", "{\(n):{\"value\":\(s),\"type\":\"x\"}}"),
      ("application/json", "{\(n):{\"current\":{\"deep\":[[\(s)]]}}}"),
      ("application/json", "{\"headers\":[{\"key\":\(n),\"value\":\(s)}]}"),
      ("text/event-stream", "event: a\ndata: {\(n):\ndata: \(s)}\n\n"),
      ("text/event-stream", "data: {\"a\":1,\r\ndata: \(n):\(s),\r\ndata: \"b\":2}\r\n\r\ndata: [DONE]\r\n\r\n"),
      ("text/event-stream", "data: {\(n):\(s)}\n\n"),
      ("application/x-www-form-urlencoded", "a=1&\(name)=\(Plantings.escaped(secret))"),
      ("application/xml", "<a><\(word)>\(Plantings.entities(secret))</\(word)></a>"),
      ("application/json", "{\(n):\(s),\"echo\":\(Plantings.quoted("you sent \(secret)"))}"),
      ("text/html", "<form><input id=\"\(name)\" value=\"\(Plantings.entities(secret))\"></form>"),
      (
        "multipart/form-data; boundary=b",
        "--b\r\nContent-Disposition: form-data; name*=UTF-8''\(name)\r\n\r\n\(secret)\r\n--b--\r\n"
      ),
    ]
      + (secret.contains(where: \.isNumber) && !secret.contains(" ")
        ? [
          ("text/plain", "\(name): \(secret)\n"), ("text/plain", "[a]\n\(name) = \(secret)\n"),
          ("application/json", "{\"log\":\(Plantings.quoted("refused Authorization: Bearer \(secret)"))}"),
          ("application/json", "{\"url\":\(Plantings.quoted("Endpoint=sb://x/;SharedAccessKey=\(secret)/a=;a=b"))}"),
        ] : [])
  }

  /// Secrets that are known by their looks.
  package static let known = [
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "github_pat_11ABCDEFG0pl4nted22_abcdefghijk", "AKIAIOSFODNN7EXAMPLE",
    "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY", "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    "xoxb-17653672481-19874698323-pdFZKVeTuE8sk7oOcHrzqqgy",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "glpat-9Zx8pl4ntedQ1w2E3r4T", "npm_0pl4nted1234567890abcdefghijklmnopqr", "sk-proj-pl4nted1234567890abcd",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpl4nted\n-----END RSA PRIVATE KEY-----",
    "Bearer pl4nted9f8a7b6c5d4e3f2a",
  ]
  /// Texts with a secret under no name, by type.
  package static func places(_ secret: String) -> [(String, String)] {
    let text = Plantings.quoted("see \(secret), it is mine")
    return [
      ("application/json", "{\"note\":\(Plantings.quoted(secret))}"), ("application/json", "[\(text)]"),
      ("text/plain", "a \(secret) b\n"), ("application/x-www-form-urlencoded", "a=\(Plantings.escaped(secret))&b=1"),
      ("text/javascript", "f(\"\(Plantings.quoted(secret).dropFirst().dropLast())\")"),
      ("text/csv", "a,b\n1,\"\(secret)\"\n"), ("text/plain", secret), ("", secret),
      ("application/json", "{\"protocol\":\(Plantings.quoted("a.b.\(secret)"))}"),
      ("application/xml", "<a b=\"1\">\(Plantings.entities(secret))</a>"),
    ]
  }
}
