import Foundation
import Logging
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("Credentials that interceptors set, and redirects (rule 4)", .timeLimit(.minutes(5)))
struct WithheldCredentialTests {
  /// What an interceptor adds, wherever a request can carry a credential.
  enum Kind: String, CaseIterable, Sendable {
    case authorization = "Authorization"
    case proxy = "Proxy-Authorization"
    case cookie = "Cookie"
    case key = "X-Api-Key"
    case token = "X-Auth-Token"
    case amazon = "X-Amz-Security-Token"
    case csrf = "x-csrf-token"
    case query = "access_token"
    case user = "a user"
    case canonical = "canonicalRequest(for:)"

    var link: Link {
      Link(name: "AddToken", canonical: { self == .canonical ? $0.with("secret", for: "Authorization") : $0 }) {
        try await $1(self.added(to: $0))
      }
    }

    private func added(to request: InterceptedRequest) throws -> InterceptedRequest {
      var request = request
      switch self {
      case .canonical: break
      case .query: request.url.append(queryItems: [URLQueryItem(name: rawValue, value: "secret")])
      case .user:
        var parts = try #require(URLComponents(url: request.url, resolvingAgainstBaseURL: true))
        (parts.user, parts.password) = ("someone", "secret")
        request.url = try #require(parts.url)
      default: request.fields[try #require(HTTPField.Name(rawValue))] = "secret"
      }
      return request
    }
  }

  private func hops(_ targets: [TestOrigin], to path: String) -> String {
    targets.reversed().reduce(path) { last, origin in
      let next = origin.url(last.hasPrefix("/") ? last : "/redirect/302").absoluteString
      return last.hasPrefix("/")
        ? next : "\(next)?to=\(last.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
    }
  }

  /// What the second server got of the kind, in the form in which it goes out.
  private func isSent(_ kind: Kind, in raw: String) -> Bool {
    raw.contains(kind == .user ? Data("someone:secret".utf8).base64EncodedString() : "secret")
  }

  @Test(
    "an unscoped interceptor's token reaches the first origin alone, on every hop there is", arguments: Kind.allCases,
    [false, true])
  func unscoped(kind: Kind, isDirect: Bool) async throws {
    try await withOrigin { first in
      try await withOrigin { second in
        let lines = Log<String>()
        let registry = InterceptorRegistry(configuration: .ephemeral, logger: .recording(lines)) { kind.link }
        let events = registry.events()
        let start = try #require(URL(string: hops([first, second, second, first], to: "/echo")))
        if isDirect {
          _ = try await registry.data(for: URLRequest(url: start))
        } else {
          _ = try await URLSession.intercepted(by: registry).data(from: start)
        }
        #expect((first.requests.count, second.requests.count) == (2, 2))
        // A user waits for a challenge.
        let sent = first.requests.count { isSent(kind, in: $0.target + "\($0.fields)") }
        #expect(sent == (kind == .user ? 0 : 2), "\(first.requests)")
        #expect(!isSent(kind, in: second.rawBytes.joined()))
        registry.invalidate()
        var errors: [WaylayError] = []
        for await event in events where event.kind == .credentialsWithheld {
          if let error = event.error as? WaylayError { errors.append(error) }
        }
        #expect(errors.map(\.code) == [.credentialsWithheld, .credentialsWithheld])
        let culprit = kind == .canonical ? "canonicalRequest(for:) set Authorization" : "AddToken set \(kind.rawValue)"
        #expect(errors.allSatisfy { $0.message.hasPrefix(culprit) && $0.message.contains(".host(\"127.0.0.1\")") })
        #expect(lines.all.count { $0.contains(culprit) } == 2)
        #expect(!lines.all.joined().contains("secret"))
      }
    }
  }

  @Test("a credential of the app or its session stays with the first origin, by any name, unless the policy allows it")
  func fieldsOfTheApp() async throws {
    let custom = Set(Self.services.map { $0.lowercased() }).union(["x-api-key", "x-auth-token"])
    let harmless = CredentialNames.fields(.harmless) + ["X-Page-Key-Count", "X-Token-Type", "X-Request-Id"]
    try await withOrigin { first in
      try await withOrigin { second in
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Auth-Token": "of-session"]
        for allowed in [[], ["X-API-KEY", "x-auth-token", "Authorization"]] as [Set<String>] {
          let registry = InterceptorRegistry(
            configuration: configuration, redirects: RedirectPolicy(forwardedCredentials: allowed))
          let events = registry.events()
          var request = URLRequest(url: try #require(URL(string: hops([first, second], to: "/echo"))))
          for name in custom.union(["authorization", "proxy-authorization"]).subtracting(["x-auth-token"]) {
            request.setValue("of-app", forHTTPHeaderField: name.uppercased())
          }
          for name in harmless { request.setValue("42", forHTTPHeaderField: name) }
          _ = try await registry.data(for: request)
          let (home, abroad) = (try #require(first.requests.last), try #require(second.requests.last))
          #expect(custom.subtracting(["x-auth-token"]).allSatisfy { home[$0] == ["of-app"] })
          #expect(home["X-Auth-Token"] == ["of-session"] && harmless.allSatisfy { abroad[$0] == ["42"] })
          let arrived = custom.union(["authorization", "proxy-authorization"]).filter { !abroad[$0].isEmpty }
          #expect(arrived == (allowed.isEmpty ? [] : ["x-api-key", "x-auth-token"]))
          registry.invalidate()
          var messages: [String] = []
          for await event in events where event.kind == .credentialsWithheld {
            messages.append((event.error as? WaylayError)?.message ?? "")
          }
          let message = messages.joined().lowercased()
          #expect(messages.count == 1 && message.contains("x-goog-api-key") && !message.contains("of-app"))
          #expect(message.contains("x-api-key,") == allowed.isEmpty)
        }
      }
    }
  }

  /// Fields of requests to well-known services, and some like them.
  static let services = """
    Api-Key AccessKey CF-Access-Client-Secret Circle-Token CSRF-Token DD-API-KEY DD-APPLICATION-KEY DPoP Fastly-Key \
    Ocp-Apim-Subscription-Key PRIVATE-TOKEN Session-Id Stripe-Signature X-Access-Token X-Algolia-API-Key \
    X-Amz-Security-Token X-Appwrite-JWT X-Appwrite-Key X-Auth-Key X-Consul-Token X-Emby-Token X-Figma-Token \
    X-Firebase-AppCheck X-GitHub-Token X-Goog-Api-Key X-Goog-IAP-JWT-Assertion X-Honeycomb-Team X-Hub-Signature-256 \
    X-Insert-Key X-License-Key X-MBX-APIKEY X-MS-TOKEN-AAD-ACCESS-TOKEN X-Meili-API-Key X-NuGet-ApiKey \
    X-Parse-Master-Key X-Parse-REST-API-Key X-Plex-Token X-RapidAPI-Key X-Redmine-API-Key X-Riot-Token X-Sentry-Auth \
    X-Session-Token X-Shopify-Access-Token X-Typesense-API-Key X-Vault-Token X-WP-Nonce X-XSRF-TOKEN \
    X-page-access-token page_access_token previous_refresh_token x-functions-key xi-api-key
    """.split(separator: " ").map(String.init)

  @Test("fields of well-known services stay with the first origin, set by the app or by an interceptor")
  func fieldsOfServices() async throws {
    try await withOrigin { first in
      try await withOrigin { second in
        let start = try #require(URL(string: hops([first, second], to: "/echo")))
        let items = [
          "page_access_token", "previousRefreshToken", "X-Amz-Signature", "ticket", "sas", "oobCode",
          "connectionString", "page_token", "sort_key", "code",
        ]
        for isOfApp in [true, false] {
          let registry = InterceptorRegistry(configuration: .ephemeral) {
            Link(name: "AddFields") { request, next in
              guard !isOfApp else { return try await next(request) }
              var request = request
              for name in Self.services { request.fields[try #require(HTTPField.Name(name))] = "secret" }
              request.url.append(queryItems: items.map { URLQueryItem(name: $0, value: "of-\($0)") })
              // Known by its shape.
              let key = "AIzaSy" + String(repeating: "0a", count: 17)
              request.url.append(queryItems: [URLQueryItem(name: "key", value: key)])
              return try await next(request)
            }
          }
          var request = URLRequest(url: start)
          if isOfApp { for name in Self.services { request.setValue("secret", forHTTPHeaderField: name) } }
          _ = try await registry.data(for: request)
          let (home, abroad) = (try #require(first.requests.last), try #require(second.requests.last))
          #expect(Self.services.filter { home[$0] != ["secret"] }.isEmpty)
          #expect(Self.services.filter { !abroad[$0].isEmpty }.isEmpty, "by the app: \(isOfApp)")
          let shown = isOfApp ? [] : ["page_token", "sort_key", "code"]
          #expect(items.filter { abroad.target.contains("of-\($0)") } == shown)
          #expect(!abroad.target.contains("AIza"))
          registry.invalidate()
        }
      }
    }
  }

  @Test("the user info of a Location is sent when it is asked for, and to nobody else", arguments: [false, true])
  func userOfLocation(asks: Bool) async throws {
    try await withOrigin { first in
      try await withOrigin { second in
        second.reply(to: "/in") { request in
          guard asks, request["Authorization"].isEmpty else { return .text("in") }
          return Reply(401, [("WWW-Authenticate", "Basic realm=\"r\"")])
        }
        let target = "http://bob:secret@127.0.0.1:\(second.port)/in"
        first.reply(to: "/out") { _ in .text("", status: 302, fields: [("Location", target)]) }
        let registry = InterceptorRegistry(configuration: .ephemeral)
        _ = try await registry.data(for: URLRequest(url: first.url("/out")))
        let basic = "Basic " + Data("bob:secret".utf8).base64EncodedString()
        #expect(second.requests.map { $0["Authorization"] } == (asks ? [[], [basic]] : [[]]))
        registry.invalidate()
      }
    }
  }

  @Test("an interceptor whose chain's scope names the host may give it credentials")
  func scoped() async throws {
    try await withOrigin { first in
      try await withOrigin { second in
        let registry = InterceptorRegistry(configuration: .ephemeral)
        registry.register(
          InterceptorChain("api", for: .host("127.0.0.1:\(first.port)", "127.0.0.1:\(second.port)")) {
            Kind.authorization.link
          })
        let start = try #require(URL(string: hops([first, second], to: "/echo")))
        _ = try await registry.data(for: URLRequest(url: start))
        #expect(second.requests.map { $0["Authorization"] } == [["secret"]])
        // That every host is covered names none.
        registry.register(InterceptorChain("api", for: .host("*")) { Kind.authorization.link })
        _ = try await registry.data(for: URLRequest(url: start))
        #expect(second.requests.map { $0["Authorization"] } == [["secret"], []])
        registry.invalidate()
      }
    }
  }

  @Test(
    "what the loader adds is no interceptor's: stored cookies and the answer to a challenge of the other origin go out")
  func loaders() async throws {
    try await withOrigin { first in
      try await withOrigin { second in
        second.reply(to: "/login") { request in
          request["Authorization"] == ["Basic " + Data("user:password".utf8).base64EncodedString()]
            ? .text("in") : Reply(401, [("WWW-Authenticate", "Basic realm=\"r\"")])
        }
        let configuration = URLSessionConfiguration.ephemeral
        let storage = try #require(configuration.httpCookieStorage)
        storage.setCookie(
          try #require(
            HTTPCookie(properties: [.name: "stored", .value: "1", .domain: "127.0.0.1", .path: "/login"])))
        let credentials = URLCredentialStorage()
        credentials.set(
          URLCredential(user: "user", password: "password", persistence: .forSession),
          for: URLProtectionSpace(
            host: "127.0.0.1", port: second.port, protocol: "http", realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic))
        configuration.urlCredentialStorage = credentials
        let registry = InterceptorRegistry(configuration: configuration) {
          Link(name: "AddCookie") { request, next in
            var request = request
            request.fields[.cookie] = [request.fields[.cookie], "own=secret"].compactMap { $0 }.joined(separator: "; ")
            // What was there goes as it was, whatever is put in its place.
            if request.fields.contains(.authorization) { request.fields[.authorization] = "Bearer secret" }
            request.fields[.xRequestID] = "1"
            return try await next(request)
          }
        }
        let (data, _) = try await registry.data(
          for: URLRequest(url: first.url("/redirect/302?to=\(second.url("/login").absoluteString)")))
        #expect(String(decoding: data, as: UTF8.self) == "in")
        #expect(second.requests.map { $0["Cookie"] } == [["stored=1"], ["stored=1"]])
        #expect(second.requests.allSatisfy { $0["X-Request-ID"] == ["1"] })
        #expect(!second.rawBytes.joined().contains("secret"))
        registry.invalidate()
      }
    }
  }

  @Test(
    "a registry beneath another one gives its credentials to the first origin alone, too",
    .enabled(if: Platform.isLinux, "Apple's loading system asks for a request elsewhere"))
  func nested() async throws {
    try await withOrigin { first in
      try await withOrigin { second in
        let inner = InterceptorRegistry { Kind.authorization.link }
        let outer = InterceptorRegistry { Link.pass() }
        let configuration = URLSessionConfiguration.ephemeral.intercepted(by: inner).intercepted(by: outer)
        let start = try #require(URL(string: hops([first, second, first], to: "/echo")))
        _ = try await URLSession(configuration: configuration).data(from: start)
        #expect(first.requests.map { $0["Authorization"] } == [["secret"], ["secret"]])
        #expect(second.requests.map { $0["Authorization"] } == [[]])
        // A request of an interceptor's own is a load of its own.
        let side = InterceptorRegistry {
          Link { request, next in
            _ = try await URLSession.intercepted(by: inner).data(from: second.url("/echo"))
            return try await next(request)
          }
        }
        _ = try await side.data(for: URLRequest(url: first.url("/hello")))
        #expect(second.requests.last?["Authorization"] == ["secret"])
        for registry in [outer, inner, side] { registry.invalidate() }
      }
    }
  }

  @Test("what the redirect's own URL says stays, in its own letters, and what an interceptor takes away stays away")
  func redirects() async throws {
    try await withOrigin { first in
      try await withOrigin { second in
        let query = "a=%2F&X-Amz-Signature=theirs&b"
        first.reply(to: "/to") { _ in .text("", status: 302, fields: [("Location", "\(second.url("/echo"))?\(query)")])
        }
        var request = URLRequest(url: first.url("/to?x=1"))
        request.setValue("app", forHTTPHeaderField: "X-Api-Key")
        let registry = InterceptorRegistry(configuration: .ephemeral) {
          Link(name: "Change") { request, next in
            var request = request
            request.url = try #require(URL(string: request.url.absoluteString + "&token=secret"))
            request.fields[.authorization] = "secret"
            return try await next(request)
          }
          Link(name: "TakeAway") { request, next in
            var request = request
            if let name = HTTPField.Name("X-Api-Key") { request.fields[name] = nil }
            return try await next(request)
          }
        }
        _ = try await registry.data(for: request)
        #expect(second.requests.map(\.target) == ["/echo?\(query)"])
        #expect(second.requests.allSatisfy { $0["X-Api-Key"].isEmpty })
        registry.invalidate()
      }
    }
  }
}

extension URLRequest {
  fileprivate func with(_ value: String, for field: String) -> URLRequest {
    var request = self
    request.setValue(value, forHTTPHeaderField: field)
    return request
  }
}

extension HTTPField.Name {
  fileprivate static var xRequestID: Self { Self("X-Request-ID") ?? .accept }
}
