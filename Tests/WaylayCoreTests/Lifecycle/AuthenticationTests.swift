import Crypto
import Foundation
import HTTPTypes
import TestOrigin
import TestSupport
import Testing
import WaylayCore

/// A delegate that answers challenges, and writes down what it was asked.
private final class Doorman: NSObject, URLSessionDataDelegate, Sendable {
  typealias Answer = (URLSession.AuthChallengeDisposition, URLCredential?)

  let asked = Log<URLAuthenticationChallenge>()
  let askedSession = Log<URLAuthenticationChallenge>()
  private let task: @Sendable (URLAuthenticationChallenge) -> Answer
  private let session: @Sendable (URLAuthenticationChallenge) -> Answer

  init(
    session: @escaping @Sendable (URLAuthenticationChallenge) -> Answer = { _ in (.performDefaultHandling, nil) },
    task: @escaping @Sendable (URLAuthenticationChallenge) -> Answer = { _ in (.performDefaultHandling, nil) }
  ) {
    self.task = task
    self.session = session
  }

  /// Always the same credential.
  static func with(_ user: String, _ password: String, _ persistence: URLCredential.Persistence = .none) -> Doorman {
    Doorman(task: { _ in (.useCredential, URLCredential(user: user, password: password, persistence: persistence)) })
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    asked.add(challenge)
    let (disposition, credential) = self.task(challenge)
    completionHandler(disposition, credential)
  }

  func urlSession(
    _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    askedSession.add(challenge)
    let (disposition, credential) = self.session(challenge)
    completionHandler(disposition, credential)
  }
}

/// "Aladdin:open sesame", the example of RFC 7617.
private let aladdin = "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="

extension TestOrigin {
  /// A page that lets Aladdin in and says what was sent to it.
  fileprivate func guardPage(_ path: String = "/secret", realm: String = "cave") {
    reply(to: path) { request in
      guard request["Authorization"] == [aladdin] else {
        return .text(
          "who are you?", status: 401, fields: [("WWW-Authenticate", "Basic realm=\"\(realm)\", charset=\"UTF-8\"")])
      }
      return .text("come in" + String(decoding: request.body, as: UTF8.self))
    }
  }
}

@Suite("A challenge", .timeLimit(.minutes(5)))
struct AuthenticationTests {
  private let registry = InterceptorRegistry { Link.pass() }

  @Test(
    "is answered by the session's delegate, inside the chain",
    .enabled(
      if: Platform.isLinux, "on Apple platforms the inner session answers a server's challenge, outside the chain"))
  func sessionDelegate() async throws {
    try await withOrigin { origin in
      origin.guardPage()
      let seen = Log<String?>()
      let registry = InterceptorRegistry {
        Link { request, next in
          seen.add(request.fields[.authorization])
          return try await next(request)
        }
      }
      let doorman = Doorman.with("Aladdin", "open sesame")
      let session = URLSession.intercepted(by: registry, delegate: doorman)
      let answer = try await session.text(from: origin.url("/secret"))
      #expect(answer == (200, "come in"))
      #expect(seen.all == [nil, aladdin])
      let challenge = try #require(doorman.asked.all.first)
      #expect(doorman.asked.all.count == 1)
      #expect(challenge.protectionSpace.realm == "cave")
      #expect(challenge.protectionSpace.host == "127.0.0.1")
      #expect(challenge.protectionSpace.port == origin.port)
      #expect(challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic)
      #expect(challenge.previousFailureCount == 0)
      #expect((challenge.failureResponse as? HTTPURLResponse)?.statusCode == 401)
      registry.invalidate()
    }
  }

  @Test("is answered by the task's own delegate")
  func taskDelegate() async throws {
    try await withOrigin { origin in
      origin.guardPage()
      let session = URLSession.intercepted(by: registry)
      let doorman = Doorman.with("Aladdin", "open sesame")
      let answer = Log<String>()
      let finished = Event()
      let task = session.dataTask(with: origin.url("/secret")) { data, _, _ in
        answer.add(String(decoding: data ?? Data(), as: UTF8.self))
        finished.happen()
      }
      task.delegate = doorman
      task.resume()
      await finished.wait()
      #expect(answer.all == ["come in"])
      registry.invalidate()
    }
  }

  @Test(
    "goes on to the session's method when the task's leaves it to default handling",
    .enabled(if: Platform.isLinux, "on Apple platforms the loading system asks one of the two methods"))
  func sessionMethod() async throws {
    try await withOrigin { origin in
      origin.guardPage()
      let doorman = Doorman(session: { _ in
        (.useCredential, URLCredential(user: "Aladdin", password: "open sesame", persistence: .none))
      })
      let session = URLSession.intercepted(by: registry, delegate: doorman)
      let answer = try await session.text(from: origin.url("/secret"))
      #expect(answer == (200, "come in"))
      #expect(doorman.asked.all.count == 1)
      #expect(doorman.askedSession.all.count == 1)
      registry.invalidate()
    }
  }

  @Test(
    "has to come for the URL's user info to be sent, which is in no request line",
    .enabled(
      if: Platform.isLinux, "on Apple platforms the inner session answers a server's challenge, outside the chain"),
    arguments: [true, false])
  func userInfo(isDirect: Bool) async throws {
    try await withOrigin { origin in
      origin.guardPage()
      let url = try #require(URL(string: "http://Aladdin:open%20sesame@127.0.0.1:\(origin.port)/secret"))
      let registry = InterceptorRegistry(configuration: .ephemeral) { Link.pass() }
      let (data, response) =
        isDirect
        ? try await registry.data(for: URLRequest(url: url))
        : try await URLSession.intercepted(by: registry).data(from: url)
      #expect(String(decoding: data, as: UTF8.self) == "come in")
      #expect(response.url == url)
      #expect(origin.requests.map { $0["Authorization"] } == [[], [aladdin]])
      #expect(!origin.rawBytes.joined().contains("sesame"))
      #expect(origin.requests.allSatisfy { $0["Host"] == ["127.0.0.1:\(origin.port)"] })
      registry.invalidate()
    }
  }

  @Test(
    "is answered from the credential storage, where an accepted credential is kept",
    .enabled(
      if: Platform.isLinux, "on Apple platforms the inner session answers a server's challenge, outside the chain"))
  func storage() async throws {
    try await withOrigin { origin in
      origin.guardPage()
      let storage = URLCredentialStorage()
      let doorman = Doorman.with("Aladdin", "open sesame", .forSession)
      let first = URLSession.intercepted(by: registry, delegate: doorman) { $0.urlCredentialStorage = storage }
      let asked = try await first.text(from: origin.url("/secret"))
      let second = URLSession.intercepted(by: registry) { $0.urlCredentialStorage = storage }
      let stored = try await second.text(from: origin.url("/secret"))
      #expect(asked == (200, "come in"))
      #expect(stored == (200, "come in"))
      let third = URLSession.intercepted(by: registry) { $0.urlCredentialStorage = nil }
      let without = try await third.text(from: origin.url("/secret"))
      #expect(without.0 == 401)
      registry.invalidate()
    }
  }

  @Test(
    "proposes the credential of the storage to the delegate, and keeps none that was refused",
    .enabled(
      if: Platform.isLinux, "on Apple platforms the inner session answers a server's challenge, outside the chain"))
  func proposed() async throws {
    try await withOrigin { origin in
      origin.guardPage()
      let space = URLProtectionSpace(
        host: "127.0.0.1", port: origin.port, protocol: NSURLProtectionSpaceHTTP, realm: "cave",
        authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
      let storage = URLCredentialStorage()
      storage.setDefaultCredential(
        URLCredential(user: "Cassim", password: "barley", persistence: .forSession), for: space)
      let doorman = Doorman(task: { challenge in
        switch challenge.previousFailureCount {
        case 0: (.performDefaultHandling, nil)
        case 1: (.useCredential, URLCredential(user: "Aladdin", password: "wrong", persistence: .forSession))
        default: (.useCredential, URLCredential(user: "Aladdin", password: "open sesame", persistence: .none))
        }
      })
      let session = URLSession.intercepted(by: registry, delegate: doorman) { $0.urlCredentialStorage = storage }
      let answer = try await session.text(from: origin.url("/secret"))
      #expect(answer == (200, "come in"))
      #expect(doorman.asked.all.map(\.previousFailureCount) == [0, 1, 2])
      #expect(doorman.asked.all.map(\.proposedCredential?.user) == ["Cassim", "Cassim", "Aladdin"])
      #expect(storage.credentials(for: space)?.keys.sorted() == ["Cassim"])
      registry.invalidate()
    }
  }

  @Test("that nobody answers reaches the app as a 401 with its field")
  func unanswered() async throws {
    try await withOrigin { origin in
      origin.guardPage()
      let doormen = [
        nil, Doorman(), Doorman(task: { _ in (.useCredential, nil) }),
        Doorman(task: { _ in (.rejectProtectionSpace, nil) }),
        Doorman.with("Aladdin", "wrong"), Doorman.with("Ala:ddin", "open sesame"),
      ]
      for doorman in doormen {
        let (data, response) = try await URLSession.intercepted(by: registry, delegate: doorman).data(
          from: origin.url("/secret"))
        let head = try #require(response as? HTTPURLResponse)
        #expect(head.statusCode == 401)
        #expect(head.value(forHTTPHeaderField: "WWW-Authenticate")?.hasPrefix("Basic") == true)
        #expect(String(decoding: data, as: UTF8.self) == "who are you?")
      }
      registry.invalidate()
    }
  }

  @Test(
    "of a scheme that is not known reaches the app, and never the loading system",
    .enabled(
      if: Platform.isLinux, "on Apple platforms the inner session answers a server's challenge, outside the chain"),
    arguments: ["NTLM", "Bearer", "Negotiate"])
  func otherSchemes(scheme: String) async throws {
    try await withOrigin { origin in
      origin.reply(to: "/other") { _ in
        .text("no", status: 401, fields: [("WWW-Authenticate", "\(scheme) realm=\"r\", nonce=\"n\", qop=\"auth\"")])
      }
      let doorman = Doorman.with("Aladdin", "open sesame")
      let answer = try await URLSession.intercepted(by: registry, delegate: doorman).text(from: origin.url("/other"))
      #expect(answer == (401, "no"))
      #expect(doorman.asked.all.isEmpty)
      registry.invalidate()
    }
  }

  @Test(
    "of the scheme Digest is answered with what the server verifies",
    .enabled(
      if: Platform.isLinux, "on Apple platforms the inner session answers a server's challenge, outside the chain"),
    arguments: ["?algorithm=MD5", "?algorithm=SHA-256", ""])
  func digest(query: String) async throws {
    try await withOrigin { origin in
      let doorman = Doorman.with("Aladdin", "sesame")
      let session = URLSession.intercepted(by: registry, delegate: doorman)
      let url = origin.url("/digest/Aladdin/sesame\(query)")
      let answer = try await session.text(from: url)
      #expect(answer.0 == 200)
      #expect(doorman.asked.all.map(\.protectionSpace.authenticationMethod) == [NSURLAuthenticationMethodHTTPDigest])
      let wrong = try await URLSession.intercepted(by: registry, delegate: Doorman.with("Aladdin", "wrong")).text(
        from: url)
      #expect(wrong.0 == 401)
      registry.invalidate()
    }
  }

  @Test("is answered by the stronger of two schemes; a stale nonce is renewed without asking again")
  func stale() async throws {
    let nonces = Log<String>()
    let registry = InterceptorRegistry {
      Link { request, _ in
        let field = request.fields[.authorization] ?? ""
        if field.hasPrefix("Digest"), field.contains("nonce=\"n2\""), field.contains("nc=00000001") {
          return InterceptedResponse(to: request, body: .text("come in"))
        }
        nonces.add(field.contains("n1") ? "n1" : "none")
        var fields = HTTPFields()
        let digest = field.isEmpty ? "nonce=\"n1\"" : "nonce=\"n2\", stale=true"
        fields[values: .wwwAuthenticate] = ["Basic realm=\"r\"", "Digest realm=\"r\", qop=\"auth\", \(digest)"]
        return InterceptedResponse(to: request, status: .unauthorized, fields: fields)
      }
    }
    let doorman = Doorman.with("Aladdin", "open sesame")
    let answer = try await URLSession.intercepted(by: registry, delegate: doorman).text(from: .example)
    #expect(answer == (200, "come in"))
    #expect(nonces.all == ["none", "n1"])
    #expect(doorman.asked.all.count == 1)
    registry.invalidate()
  }

  @Test(
    "of the scheme Digest is answered by the formulas of RFC 7616, section 3.4", arguments: ["SHA-256", "SHA-256-sess"])
  func digestFormula(algorithm: String) async throws {
    let answers = Log<String>()
    let registry = InterceptorRegistry(configuration: .ephemeral) {
      Link { request, _ in
        let field = request.fields[.authorization]
        if let field {
          answers.add(field)
          return InterceptedResponse(to: request)
        }
        let challenge =
          """
          Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm=\(algorithm), nonce=\"7ypf\", \
          opaque=\"FQhe\"
          """
        return InterceptedResponse(to: request, status: .unauthorized, fields: [.wwwAuthenticate: challenge])
      }
    }
    let url = try #require(URL(string: "http://Mufasa:Circle%20of%20Life@www.example.org/dir/index.html?a=%20b"))
    _ = try await registry.data(for: URLRequest(url: url))
    let field = try #require(answers.all.first)
    let part = { (name: String) in
      field.components(separatedBy: "\(name)=\"").dropFirst().first?.components(separatedBy: "\"").first
    }
    #expect(part("uri") == "/dir/index.html?a=%20b")
    #expect(part("opaque") == "FQhe")
    // The same with the tools of the platform, from the parts that are in the field.
    let nonce = try #require(part("cnonce"))
    var secret = Self.sha256("Mufasa:http-auth@example.org:Circle of Life")
    if algorithm.hasSuffix("-sess") { secret = Self.sha256("\(secret):7ypf:\(nonce)") }
    let request = Self.sha256("GET:/dir/index.html?a=%20b")
    #expect(part("response") == Self.sha256("\(secret):7ypf:00000001:\(nonce):auth:\(request)"))
  }

  private static func sha256(_ text: String) -> String {
    SHA256.hash(data: Data(text.utf8)).map { String(format: "%02x", $0) }.joined()
  }

  @Test("of the scheme Digest is not answered for a user who could break out of the field")
  func lineBreak() async throws {
    let fields = Log<String>()
    let registry = InterceptorRegistry(configuration: .ephemeral) {
      Link { request, _ in
        if let field = request.fields[.authorization] { fields.add(field) }
        return InterceptedResponse(
          to: request, status: .unauthorized,
          fields: [.wwwAuthenticate: "Digest realm=\"r\", nonce=\"n\", qop=\"auth\""])
      }
    }
    let url = try #require(URL(string: "http://u%0D%0AX-Evil:%201:p@api.example.com/"))
    let (_, head) = try await registry.data(for: URLRequest(url: url))
    #expect(head.statusCode == 401)
    #expect(fields.all.isEmpty)
  }

  @Test("may take a load of another realm to answer")
  func nested() async throws {
    try await withOrigin { origin in
      origin.guardPage("/secret", realm: "cave")
      origin.guardPage("/password", realm: "vault")
      let doorman = Asking()
      let session = URLSession.intercepted(by: registry, delegate: doorman)
      doorman.ask = { try await session.text(from: origin.url("/password")).1 }
      let answer = try await session.text(from: origin.url("/secret"))
      #expect(answer == (200, "come in"))
      registry.invalidate()
    }
  }

  @Test("that the delegate cancels ends the load")
  func cancelled() async throws {
    try await withOrigin { origin in
      origin.guardPage()
      let doorman = Doorman(task: { _ in (.cancelAuthenticationChallenge, nil) })
      let session = URLSession.intercepted(by: registry, delegate: doorman)
      let code = await failureCode { try await session.data(from: origin.url("/secret")) }
      #expect(code == .cancelled)
      registry.invalidate()
    }
  }

  @Test(
    "is asked for the second of two, when the first is rejected",
    .enabled(
      if: Platform.isLinux, "on Apple platforms the inner session answers a server's challenge, outside the chain"))
  func secondSpace() async throws {
    try await withOrigin { origin in
      origin.reply(to: "/two") { request in
        request["Authorization"] == [aladdin]
          ? .text("come in")
          : .text(
            "", status: 401,
            fields: [("WWW-Authenticate", "Digest realm=\"x\", Basic realm=\"one\", Basic realm=\"two\"")])
      }
      let doorman = Doorman(task: { challenge in
        guard challenge.protectionSpace.realm == "two" else { return (.rejectProtectionSpace, nil) }
        return (.useCredential, URLCredential(user: "Aladdin", password: "open sesame", persistence: .none))
      })
      let answer = try await URLSession.intercepted(by: registry, delegate: doorman).text(from: origin.url("/two"))
      #expect(answer == (200, "come in"))
      #expect(doorman.asked.all.map(\.protectionSpace.realm) == ["one", "two"])
      registry.invalidate()
    }
  }

  @Test(
    "is answered with the body sent again, and a body that is gone lets the 401 stand",
    .enabled(
      if: Platform.isLinux, "on Apple platforms the inner session answers a server's challenge, outside the chain"))
  func bodies() async throws {
    try await withOrigin { origin in
      origin.guardPage()
      let doorman = Doorman.with("Aladdin", "open sesame")
      let session = URLSession.intercepted(by: registry, delegate: doorman)
      var request = URLRequest(url: origin.url("/secret"))
      request.httpMethod = "POST"
      let (data, _) = try await session.upload(for: request, from: Data(", twice".utf8))
      #expect(String(decoding: data, as: UTF8.self) == "come in, twice")
      request.httpBodyStream = InputStream(data: Data("once".utf8))
      let answer = try await session.text(for: request)
      #expect(answer.0 == 401)
      registry.invalidate()
    }
  }

  @Test("gets credentials that never go to another origin")
  func otherOrigin() async throws {
    try await withOrigin { origin in
      try await withOrigin { other in
        origin.reply(to: "/away") { request in
          request["Authorization"] == [aladdin]
            ? .text("", status: 302, fields: [("Location", other.url("/echo").absoluteString)])
            : .text("", status: 401, fields: [("WWW-Authenticate", "Basic realm=\"cave\"")])
        }
        let doorman = Doorman.with("Aladdin", "open sesame")
        let session = URLSession.intercepted(by: registry, delegate: doorman)
        let url = try #require(URL(string: "http://Cassim:barley@127.0.0.1:\(origin.port)/away"))
        let answer = try await session.text(from: url)
        #expect(answer.0 == 200)
        #expect(!other.rawBytes.joined().lowercased().contains("authorization"))
        #expect(!other.rawBytes.joined().contains("Cassim"))
        registry.invalidate()
      }
    }
  }

  @Test("stays offline when an interceptor makes it up", arguments: [true, false])
  func madeUp(isInline: Bool) async throws {
    let registry = InterceptorRegistry {
      Link.answering(inline: isInline) { request in
        guard request.fields[.authorization] == aladdin else {
          return InterceptedResponse(
            to: request, status: .unauthorized, fields: [.wwwAuthenticate: "Basic realm=\"cave\""])
        }
        return InterceptedResponse(to: request, body: .text("come in"))
      }
    }
    let session = URLSession.intercepted(by: registry, delegate: Doorman.with("Aladdin", "open sesame"))
    let answer = try await session.text(from: .example)
    #expect(answer == (200, "come in"))
    registry.invalidate()
  }

  @Test("is put to the app one at a time, and once for all who wait")
  func oneAtATime() async throws {
    let gate = Event()
    let arrivals = Locked(0)
    let registry = InterceptorRegistry {
      Link { request, _ in
        guard request.fields[.authorization] == aladdin else {
          // All of them are refused before anybody is asked.
          if arrivals.withLock({
            $0 += 1
            return $0
          }) == 20 {
            gate.happen()
          }
          await gate.wait()
          return InterceptedResponse(
            to: request, status: .unauthorized, fields: [.wwwAuthenticate: "Basic realm=\"cave\""])
        }
        return InterceptedResponse(to: request, body: .text("come in"))
      }
    }
    let doorman = SlowDoorman()
    let session = URLSession.intercepted(by: registry, delegate: doorman) { $0.urlCredentialStorage = nil }
    try await withThrowingTaskGroup(of: (Int, String).self) { group in
      for _ in 0..<20 { group.addTask { try await session.text(from: .example) } }
      await doorman.wasAsked.wait()
      doorman.answer()
      for try await answer in group { #expect(answer == (200, "come in")) }
    }
    #expect(doorman.most == 1)
    #expect(doorman.count < 20)
    registry.invalidate()
  }

  @Test("that waits behind one which is never answered can be cancelled, and so can that one")
  func cancelledWhileWaiting() async throws {
    try await withOrigin { origin in
      origin.guardPage()
      let doorman = SlowDoorman()
      let session = URLSession.intercepted(by: registry, delegate: doorman)
      let first = Task { await failureCode { try await session.data(from: origin.url("/secret")) } }
      await doorman.wasAsked.wait()
      let second = Task { await failureCode { try await session.data(from: origin.url("/secret")) } }
      await origin.until { $0.requests.count == 2 }
      second.cancel()
      first.cancel()
      #expect(await first.value == .cancelled)
      #expect(await second.value == .cancelled)
      registry.invalidate()
    }
  }

  @Test(
    "is found wherever it stands in its field",
    arguments: [
      ("Basic", nil), ("basic realm=plain", "plain"), ("BASIC realm = \"a, b\"", "a, b"),
      ("Basic realm=\"q\\\"r\"", "q\"r"),
      ("Negotiate YWJj==, Basic realm=\"x\"", "x"),
      ("Digest nonce=\"Basic realm=y\", qop=auth , Basic  realm=\"x\"", "x"),
      (", ,Bearer,Basic realm=\"first\", realm=\"second\"", "first"), ("Basic charset=\"UTF-8\", realm=\"é\"", "é"),
      ("Basic realm=\"never closed", "never closed"), ("@@@, Basic realm=x", "x"),
    ] as [(String, String?)])
  func syntax(field: String, realm: String?) async throws {
    let registry = Self.refusing { field }
    let doorman = Doorman(task: { _ in (.useCredential, nil) })
    let answer = try await URLSession.intercepted(by: registry, delegate: doorman).text(from: .example)
    #expect(answer.0 == 401)
    #expect(doorman.asked.all.map(\.protectionSpace.realm) == [realm])
    registry.invalidate()
  }

  @Test("may be any text at all")
  func anyText() async throws {
    let pieces = [
      "Basic", "realm", "=", "\"", ",", " ", "\\", "\t", "Digest", "==", "é", "a", "token68/+", ";", "{", "\u{7f}",
    ]
    var numbers = SplitMix(state: 1)
    var url = URLComponents()
    (url.scheme, url.host, url.user, url.password) = ("http", "api.example.com", "Aladdin", "open sesame")
    let request = URLRequest(url: try #require(url.url))
    for _ in 0..<2_000 {
      let field = (0..<Int.random(in: 0..<12, using: &numbers)).map { _ in pieces.randomElement(using: &numbers) ?? "" }
        .joined()
      let (_, head) = try await Self.refusing { field }.data(for: request)
      #expect(head.statusCode == 401)
    }
  }

  @Test("in ever new realms is answered a limited number of times")
  func everNewRealms() async throws {
    let count = Locked(0)
    let registry = Self.refusing {
      let number = count.withLock {
        $0 += 1
        return $0
      }
      return "Basic realm=\"\(number)\""
    }
    let doorman = Doorman.with("Aladdin", "open sesame")
    let answer = try await URLSession.intercepted(by: registry, delegate: doorman).text(from: .example)
    #expect(answer.0 == 401)
    #expect(doorman.asked.all.count == 20)
    registry.invalidate()
  }

  /// A registry whose answers are all refusals.
  private static func refusing(_ field: @escaping @Sendable () -> String) -> InterceptorRegistry {
    InterceptorRegistry(configuration: .ephemeral) {
      Link { request, _ in InterceptedResponse(to: request, status: .unauthorized, fields: [.wwwAuthenticate: field()])
      }
    }
  }
}

/// A delegate that has to load something to answer for one of two realms.
private final class Asking: NSObject, URLSessionDataDelegate, Sendable {
  private let asks = Locked<(@Sendable () async throws -> String)?>(nil)

  var ask: (@Sendable () async throws -> String)? {
    get { asks.withLock { $0 } }
    set { asks.withLock { $0 = newValue } }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    let credential = URLCredential(user: "Aladdin", password: "open sesame", persistence: .none)
    guard challenge.protectionSpace.realm == "cave", let ask else {
      return completionHandler(.useCredential, credential)
    }
    Task {
      let isOpen = try? await ask() == "come in"
      completionHandler(.useCredential, isOpen == true ? credential : nil)
    }
  }
}

/// A delegate that takes its time, and counts how many questions are open.
private final class SlowDoorman: NSObject, URLSessionDataDelegate, Sendable {
  private struct State {
    var open: [@Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void] = []
    var isAnswering = false
    var count = 0
    var most = 0
  }

  private let state = Locked(State())
  let wasAsked = Event()

  var count: Int { state.withLock { $0.count } }
  var most: Int { state.withLock { $0.most } }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    let isAnswering = state.withLock { state in
      state.open.append(completionHandler)
      state.count += 1
      state.most = max(state.most, state.open.count)
      return state.isAnswering
    }
    wasAsked.happen()
    if isAnswering { answer() }
  }

  /// Answers what is open, and at once what comes later.
  func answer() {
    let open = state.withLock { state in
      state.isAnswering = true
      defer { state.open = [] }
      return state.open
    }
    for handler in open {
      handler(.useCredential, URLCredential(user: "Aladdin", password: "open sesame", persistence: .forSession))
    }
  }
}
