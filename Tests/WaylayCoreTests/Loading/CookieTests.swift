import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("Cookies", .timeLimit(.minutes(5)))
struct CookieTests {
  private func storage() throws -> HTTPCookieStorage {
    try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
  }

  private func session(_ registry: InterceptorRegistry, _ storage: HTTPCookieStorage) -> URLSession {
    URLSession.intercepted(by: registry) { $0.httpCookieStorage = storage }
  }

  @Test("Set-Cookie of the network is stored and sent with the next request (P19)")
  func stored() async throws {
    try await withOrigin { origin in
      let storage = try storage()
      let session = session(InterceptorRegistry { Link.pass() }, storage)
      _ = try await session.data(from: origin.url("/cookies/set?a=1&b=2"))
      #expect(storage.cookies?.map(\.name).sorted() == ["a", "b"])
      _ = try await session.data(from: origin.url("/echo"))
      #expect(
        origin.requests.last?["Cookie"].first?.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
          .sorted() == [
            "a=1", "b=2",
          ])
    }
  }

  @Test("no cookie is stored where the configuration accepts none")
  func neverAccepted() async throws {
    try await withOrigin { origin in
      let storage = try storage()
      let session = URLSession.intercepted(by: InterceptorRegistry { Link.pass() }) {
        $0.httpCookieStorage = storage
        $0.httpCookieAcceptPolicy = .never
      }
      _ = try await session.data(from: origin.url("/cookies/set?a=1"))
      #expect(storage.cookies?.isEmpty ?? true)
    }
  }

  @Test("a cookie set by a redirect goes along with the next hop")
  func hop() async throws {
    try await withOrigin { origin in
      origin.reply(to: "/login") { _ in
        .text("", status: 302, fields: [("Set-Cookie", "token=t; Path=/"), ("Location", "/echo")])
      }
      let session = session(InterceptorRegistry { Link.pass() }, try storage())
      _ = try await session.data(from: origin.url("/login"))
      #expect(origin.requests.last?["Cookie"] == ["token=t"])
    }
  }

  @Test("a mock's cookies are stored, an archive's are not (rule 3)")
  func sources() async throws {
    let storage = try storage()
    let registry = InterceptorRegistry {
      Link { request, _ in
        let archived = request.url.path == "/archived"
        return InterceptedResponse(
          to: request, fields: [.setCookie: archived ? "old=1" : "new=1"],
          source: archived ? .init("archive", storesCookies: false) : .interceptor)
      }
    }
    let session = session(registry, storage)
    _ = try await session.data(from: #require(URL(string: "http://example.com/archived")))
    _ = try await session.data(from: #require(URL(string: "http://example.com/mocked")))
    #expect(storage.cookies?.map(\.name) == ["new"])
  }

  @Test("Secure cookies and those of other paths are not sent where they do not belong")
  func matching() async throws {
    try await withOrigin { origin in
      let storage = try storage()
      func cookie(_ name: String, path: String = "/", secure: Bool = false) throws -> HTTPCookie {
        var properties: [HTTPCookiePropertyKey: Any] = [.name: name, .value: "1", .domain: "127.0.0.1", .path: path]
        if secure { properties[.secure] = "TRUE" }
        return try #require(HTTPCookie(properties: properties))
      }
      for cookie in [
        try cookie("plain"), try cookie("secret", secure: true), try cookie("deep", path: "/deep"),
        try cookie("echo", path: "/echo"),
      ] {
        storage.setCookie(cookie)
      }
      let session = session(InterceptorRegistry { Link.pass() }, storage)
      _ = try await session.data(from: origin.url("/echo"))
      let sent = try #require(origin.requests.last?["Cookie"].first)
      #expect(sent.contains("plain=1"))
      #expect(sent.contains("echo=1"))
      #expect(!sent.contains("secret"))
      #expect(!sent.contains("deep"))
    }
  }

  @Test("a server cannot set cookies for a foreign or a single-label domain")
  func foreign() async throws {
    let storage = try storage()
    let registry = InterceptorRegistry {
      Link { request, _ in
        var response = InterceptedResponse(to: request)
        for value in ["bank=1; Domain=bank.com", "top=1; Domain=com", "parent=1; Domain=example.com", "own=1"] {
          response.fields.append(HTTPField(name: .setCookie, value: value))
        }
        return response
      }
    }
    _ = try await session(registry, storage).data(from: #require(URL(string: "http://www.example.com/")))
    #expect(storage.cookies?.map(\.name).sorted() == ["own", "parent"])
  }

  @Test(
    "a host of one label sets cookies for itself alone: com sets none for all that ends in .com",
    arguments: ["com", ".com", "COM"])
  func singleLabel(domain: String) async throws {
    let storage = try storage()
    let sent = Log<String?>()
    let registry = InterceptorRegistry {
      Link { request, _ in
        sent.add(request.fields[.cookie])
        var response = InterceptedResponse(to: request)
        if request.url.host == "com" {
          response.fields.append(HTTPField(name: .setCookie, value: "top=1; Domain=\(domain); Path=/"))
        }
        return response
      }
    }
    for host in ["com", "com", "www.example.com"] {
      _ = try await session(registry, storage).data(from: #require(URL(string: "http://\(host)/")))
    }
    #expect(sent.all == [nil, "top=1", nil])
  }

  /// What is stored after responses from these URLs with these fields, one after the other.
  private func stored(_ responses: [(url: String, field: String)]) async throws -> [String] {
    let storage = try storage()
    for (url, field) in responses {
      let registry = InterceptorRegistry {
        Link { request, _ in InterceptedResponse(to: request, fields: [.setCookie: field]) }
      }
      _ = try await session(registry, storage).data(from: #require(URL(string: url)))
    }
    return (storage.cookies ?? []).map { "\($0.name)=\($0.value)" }.sorted()
  }

  @Test("without TLS no Secure cookie is set or replaced, nor one set that goes along before it (RFC 6265bis)")
  func secure() async throws {
    let secure = ("https://www.example.com/a", "s=1; Secure; Domain=example.com; Path=/a")
    #expect(try await stored([("http://www.example.com/a", "s=1; Secure")]).isEmpty)
    for field in [
      "s=2; Domain=example.com; Path=/a", "s=2; Path=/a/b", "s=2; Domain=example.com; Path=/a/b",
      "s=2; Secure; Path=/a",
    ] {
      #expect(try await stored([secure, ("http://www.example.com/a/b", field)]) == ["s=1"], "\(field)")
    }
    #expect(try await stored([secure, ("http://example.com/a", "s=2; Path=/a")]) == ["s=1"])
    // Another name, path or host is another cookie.
    for (url, field) in [
      ("http://www.example.com/a", "t=2; Path=/a"), ("http://www.example.com/b", "s=2; Path=/b"),
      ("http://example.org/a", "s=2; Path=/a"), ("http://www.example.com/", "s=2; Path=/"),
    ] {
      #expect(try await stored([secure, (url, field)]).count == 2, "\(url) \(field)")
    }
    #expect(try await stored([secure, ("https://www.example.com/a", "s=2; Domain=example.com; Path=/a")]) == ["s=2"])
  }

  @Test(
    "a cookie named __Secure- or __Host- is what its name says, or is not stored (RFC 6265bis)",
    arguments: [
      ("https://a.example.com/", "__Secure-x=1; Secure", true), ("https://a.example.com/", "__Secure-x=1", false),
      ("http://a.example.com/", "__Secure-x=1; Secure", false), ("https://a.example.com/", "__secure-x=1", false),
      ("https://a.example.com/", "__Host-x=1; Secure; Path=/", true),
      ("https://a.example.com/", "__Host-x=1; Path=/", false),
      ("https://a.example.com/", "__Host-x=1; Secure", false),
      ("https://a.example.com/", "__Host-x=1; Secure; Path=/a", false),
      ("https://a.example.com/", "__Host-x=1; Secure; Path=/; Domain=a.example.com", false),
      ("https://a.example.com/", "__Host-x=1; Secure; Path=/; Domain=example.com", false),
      ("http://a.example.com/", "__Host-x=1; Secure; Path=/", false),
      ("https://a.example.com/", "__HOST-x=1; Path=/", false),
    ])
  func prefixes(url: String, field: String, isStored: Bool) async throws {
    #expect(try await stored([(url, field)]).isEmpty != isStored)
  }

  @Test("httpShouldHandleCookies = false keeps the storage out of a request")
  func off() async throws {
    try await withOrigin { origin in
      let storage = try storage()
      var request = URLRequest(url: origin.url("/cookies/set?a=1"))
      request.httpShouldHandleCookies = false
      _ = try await session(InterceptorRegistry { Link.pass() }, storage).data(for: request)
      #expect(storage.cookies?.isEmpty ?? true)
    }
  }

  /// In a session an app's own `Cookie` is replaced by the storage's before anybody is asked, where the storage has any
  /// (P29).
  @Test("httpShouldHandleCookies = false: no stored cookie goes out, in a session or directly, and the app's own stays")
  func notHandled() async throws {
    try await withOrigin { origin in
      for own in [nil, "mine=1; also=2"] {
        let storage = try storage()
        for (name, isSecure) in [("plain", false), ("secret", true)] {
          var properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: "pl4nted", .domain: "127.0.0.1", .path: "/",
          ]
          if isSecure { properties[.secure] = "TRUE" }
          storage.setCookie(try #require(HTTPCookie(properties: properties)))
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = storage
        let registry = InterceptorRegistry(configuration: configuration) { Link.pass() }
        var request = URLRequest(url: origin.url("/echo"))
        request.httpShouldHandleCookies = false
        request.setValue(own, forHTTPHeaderField: "Cookie")
        _ = try await session(registry, storage).data(for: request)
        _ = try await registry.data(for: request)
        #expect(origin.requests.suffix(2).map { $0["Cookie"] } == [[], own.map { [$0] } ?? []])
        #expect(storage.cookies?.count == 2)
        for cookie in storage.cookies ?? [] { storage.deleteCookie(cookie) }
        _ = try await session(registry, storage).data(for: request)
        #expect(origin.requests.last?["Cookie"] == own.map { [$0] } ?? [])
        registry.invalidate()
      }
    }
  }

  @Test("httpShouldHandleCookies = false holds on the hops behind a redirect")
  func notHandledBehindRedirects() async throws {
    try await withOrigin { origin in
      let storage = try storage()
      origin.reply(to: "/login") { _ in
        .text("", status: 302, fields: [("Set-Cookie", "token=t; Path=/"), ("Location", "/echo")])
      }
      storage.setCookie(
        try #require(HTTPCookie(properties: [.name: "old", .value: "pl4nted", .domain: "127.0.0.1", .path: "/"])))
      var request = URLRequest(url: origin.url("/login"))
      request.httpShouldHandleCookies = false
      _ = try await session(InterceptorRegistry { Link.pass() }, storage).data(for: request)
      #expect(origin.requests.map { $0["Cookie"] } == [[], []])
      #expect(storage.cookies?.map(\.name) == ["old"])
    }
  }

  @Test("httpShouldSetCookies = false: no stored cookie goes out, and the app's own stays")
  func notSet() async throws {
    try await withOrigin { origin in
      let storage = try storage()
      storage.setCookie(
        try #require(HTTPCookie(properties: [.name: "old", .value: "pl4nted", .domain: "127.0.0.1", .path: "/"])))
      let configuration = URLSessionConfiguration.ephemeral
      configuration.httpCookieStorage = storage
      configuration.httpShouldSetCookies = false
      let registry = InterceptorRegistry(configuration: configuration) { Link.pass() }
      let session = URLSession(configuration: configuration.intercepted(by: registry))
      for own in [nil, "mine=1"] {
        var request = URLRequest(url: origin.url("/echo"))
        request.setValue(own, forHTTPHeaderField: "Cookie")
        _ = try await session.data(for: request)
        _ = try await registry.data(for: request)
        #expect(origin.requests.suffix(2).map { $0["Cookie"] } == Array(repeating: own.map { [$0] } ?? [], count: 2))
      }
      registry.invalidate()
    }
  }

  @Test("a policy of the main document's domain alone stores no cookie of another domain")
  func mainDocument() async throws {
    let storage = try storage()
    let registry = InterceptorRegistry {
      Link { request, _ in InterceptedResponse(to: request, fields: [.setCookie: "visited=1"]) }
    }
    for (policy, count) in [(HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain, 0), (.always, 1)] {
      storage.cookieAcceptPolicy = .always
      let session = URLSession.intercepted(by: registry) {
        $0.httpCookieStorage = storage
        $0.httpCookieAcceptPolicy = policy
      }
      var request = URLRequest(url: try #require(URL(string: "http://tracker.example/")))
      request.mainDocumentURL = URL(string: "http://news.example/")
      _ = try await session.data(for: request)
      #expect(storage.cookies?.count == count)
    }
    registry.invalidate()
  }

  @Test("joined Set-Cookie values are taken apart, dates included")
  func splitting() {
    let joined = "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/, b=2, c=x,y; Secure, d=\"1,2\""
    #expect(
      HTTPFields.cookies(in: joined) == [
        "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/", "b=2", "c=x,y; Secure", "d=\"1,2\"",
      ])
    for bad in ["", ",", ",,,", "=", "a", ",=,", "a=1,", "é=ü,b=2"] { _ = HTTPFields.cookies(in: bad) }
  }
}
