/// Secrets where clients and servers put them.
package enum Secrets {
  package static let values = [
    "hunter2-pl4nted", "pl4ntedS3cretV4lue", "9f8a7b6c5d4e3f2a1b0c9f8a7b6c5d4e", "correct horse pl4nted",
    "dGhpcyBpcyBhIHBsNG50ZWQgc2VjcmV0", "P@ssw0rd!pl4nted",
  ]
  package static let names = [
    "password", "user_password", "access_token", "refreshToken", "client_secret", "session_token", "api_key",
    "card_pin",
    "sessionId", "X-Auth-Token", "new_password", "password_confirmation", "private_key", "otp",
  ]

  /// JSON and other texts with a secret under a name, by type.
  package static func shapes(_ name: String, _ secret: String) -> [(String, String)] {
    let (n, s) = (Plantings.quoted(name), Plantings.quoted(secret))
    let word = name.replacing("-", with: "_")
    return [
      ("application/json", "{\(n):\(s)}"), ("application/json", "{\"a\":{\"b\":[{\(n):\(s)}]}}"),
      ("application/json", "{\(n):[\(s)]}"), ("application/json", "{\(n):{\"value\":\(s),\"type\":\"x\"}}"),
      ("application/json", "{\(n):{\"current\":{\"deep\":[[\(s)]]}}}"),
      ("application/json", "[[\"Accept\",\"*/*\"],[\(n),\(s)]]"),
      ("application/json", "{\"headers\":[[\(n),\(s)]]}"),
      ("application/json", "{\"headers\":[{\"key\":\(n),\"value\":\(s)}]}"),
      (
        "application/json", "{\"query\":\(Plantings.quoted("mutation { login(name: \"ada\", \(word): \(s)) { id } }"))}"
      ),
      (
        "application/json",
        "{\"query\":\(Plantings.quoted("mutation($a:String){login(input:{\(word):\(s),a:$a}){id}}"))}"
      ),
      ("application/graphql", "mutation { login(\(word): \(s)) { id } }"),
      ("text/csv", "id,\(name),note\n1,\"\(secret)\",x\n2,y,z\n"), ("text/csv", "\(name)\r\n\"\(secret)\"\r\n"),
      ("text/tab-separated-values", "id\t\(name)\n1\t\(secret)\n"),
      ("text/event-stream", "event: a\ndata: {\(n):\ndata: \(s)}\n\n"),
      ("text/event-stream", "data: {\"a\":1,\r\ndata: \(n):\(s),\r\ndata: \"b\":2}\r\n\r\ndata: [DONE]\r\n\r\n"),
      ("text/event-stream", "data: {\(n):\(s)}\n\n"),
      ("application/x-www-form-urlencoded", "a=1&\(name)=\(Plantings.escaped(secret))"),
      ("application/xml", "<a><\(word)>\(Plantings.entities(secret))</\(word)></a>"),
      ("application/json", "{\(n):\(s),\"echo\":\(Plantings.quoted("you sent \(secret)"))}"),
      ("application/json", "[{\"ParameterKey\":\(n),\"ParameterValue\":\(s)}]"),
      ("application/json-patch+json", "[{\"op\":\"add\",\"path\":\(Plantings.quoted("/a/\(name)")),\"value\":\(s)}]"),
      ("application/json", "{\"k\":\(n),\"v\":\(s)}"), ("application/json", "{\"key\":\(n),\"stringValue\":\(s)}"),
      ("application/json", "{\"Name\":\(Plantings.quoted("/app/\(name)")),\"Value\":\(s)}"),
      (
        "application/json",
        "{\"p\":\"\(Plantings.base64("<a><\(word)>\(Plantings.entities(secret))</\(word)></a>"))\"}"
      ),
      ("application/graphql", "mutation { login(\(word): \"\"\"\(secret)\"\"\") { id } }"),
      ("text/csv", "\u{FEFF}\(name),id\n\(secret),1\n"), ("text/plain", "id,\(name)\n1,\(secret)\n"),
      ("application/json", "{\"columns\":[\"id\",\(n)],\"rows\":[[1,\"b\"],[2,\(s)]]}"),
      ("application/json", "{\"columns\":[{\"name\":\"a\",\"t\":1},{\"name\":\(n)}],\"rows\":[[1,\(s)]]}"),
      ("application/json", "{\"rawHeaders\":[\"Accept\",\"*/*\",\(n),\(s)]}"),
      ("application/json", "[{\"type\":\"password\",\"name\":\"field_1\",\"value\":\(s)}]"),
      ("application/json", "{\"body\":\"\(Plantings.base64("a=1&\(name)=\(Plantings.escaped(secret))"))\"}"),
      ("text/html", "<form><input id=\"\(name)\" value=\"\(Plantings.entities(secret))\"></form>"),
      (
        "multipart/form-data; boundary=b",
        "--b\r\nContent-Disposition: form-data; name*=UTF-8''\(name)\r\n\r\n\(secret)\r\n--b--\r\n"
      ),
    ]
      + (secret.contains(where: \.isNumber) && !secret.contains(" ")
        ? [
          ("text/javascript", "const \(word) = \(s);"), ("text/javascript", "login({\(word): '\(secret)', a: 1})"),
          ("application/json", "{\"fields\":[{\"label\":\(n),\"value\":\(s)},{\"id\":\(n),\"value\":\(s)}]}"),
          ("text/javascript", "const \(word): string = \(s);"), ("text/javascript", "a = env.\(word) || \(s);"),
          ("text/javascript", "this.\(word) ??= '\(secret)';"),
          ("text/javascript", "window.\(word)=\"\(secret)\";"),
          ("text/html", "<html><script>var cfg = {user: 'ada', \(word): \"\(secret)\"};</script></html>"),
          ("text/plain", "\(name): \(secret)\n"), ("text/plain", "export \(word)=\(secret)\n"),
          ("text/plain", "[a]\n\(name) = \(secret)\n"), ("application/yaml", "\(name): \(secret) # mine\n"),
          ("application/yaml", "\(name): |\n  \(secret)\na: 1\n"), ("application/yaml", "\(name):\n  - \(secret)\n"),
          ("application/yaml", "- name: \(name)\n  value: \(secret)\n- {name: \(name), value: '\(secret)'}\n"),
          ("application/yaml", "a:\n  \(name): >-\n    \(secret)\n\n    b \(secret)\n  c: 1\n"),
          ("application/toml", "\(word) = [\(s), '\(secret)']\n"), ("text/plain", "sent \(name): \(secret), ok"),
          ("application/json", "{\"log\":\(Plantings.quoted("refused Authorization: Bearer \(secret)"))}"),
          ("application/json", "{\"log\":\(Plantings.quoted("Authorization=Bearer \(secret)"))}"),
          (
            "application/x-plist",
            "<?xml version=\"1.0\"?><plist><dict><key>\(name)</key><string>\(secret)</string></dict></plist>"
          ),
          ("application/json", "[{\"field\":\(n),\"rejectedValue\":\(s)},{\"loc\":[\"body\",\(n)],\"input\":\(s)}]"),
          ("application/json", "{\"url\":\(Plantings.quoted("Endpoint=sb://x/;SharedAccessKey=\(secret)/a=;a=b"))}"),
          ("text/plain", "\(word) := \(s)\n"), ("text/plain", "['\(name)' => '\(secret)']"),
          ("application/json", "{\"head\":\(Plantings.quoted("Accept: */*\r\n\(name): \(secret)\r\n"))}"),
          ("text/javascript", "localStorage.setItem('\(name)', \(s))"), ("text/javascript", "a['\(name)'] = \(s);"),
          ("text/javascript", "a[\(n)]=\(s)"), ("text/javascript", "document.cookie='\(name)=\(secret); path=/'"),
          ("text/javascript", "x.setRequestHeader(\"Authorization\", \"Bearer \(secret)\")"),
          ("application/json", "{\"cmd\":\(Plantings.quoted("curl -H '\(name): \(secret)' https://a.test/"))}"),
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
    Plantings.base64("-----BEGIN PRIVATE KEY-----\nMIIEpl4nted\n-----END PRIVATE KEY-----"),
  ]
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

  /// Under plurals and other names that say less.
  package static let plurals = [
    #"{"tokens":["tok-pl4nted-7"]}"#, #"{"tokens":{"access":"pl4ntedS3cretV4lue"}}"#, #"{"api_keys":["pl4nted"]}"#,
    #"{"passwords":["pl4nted","hunter2"]}"#, #"{"sessions":["pl4nted-1"]}"#, #"{"key":"pl4nted9f8a7b6c5d4e"}"#,
    #"{"tokens":[{"token":"pl4nted"}]}"#, #"{"credentials":[{"user":"ada","password":"pl4nted"}]}"#,
    #"{"recovery_codes":["x"],"backup_secrets":["pl4nted"]}"#, #"{"token_info":{"raw":"pl4ntedS3cretV4lue"}}"#,
  ]
}
