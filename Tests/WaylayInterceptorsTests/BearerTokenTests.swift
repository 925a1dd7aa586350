import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore
import WaylayInterceptors
import WaylayMocks

@Suite("BearerToken", .timeLimit(.minutes(5)))
struct BearerTokenTests {
  /// An account whose tokens are numbered, and a server that takes the newest alone.
  final class Account: Sendable {
    let state = Locked((stored: "t1", valid: 2, refreshes: 0, refused: [String]()))
    let gate = Waiting()

    var link: BearerToken {
      BearerToken(hosts: .host("127.0.0.1", "api.example.com").excludingPath("/token")) {
        self.state.withLock { $0.stored }
      } refresh: { refused in
        let number = self.state.withLock { state in
          state.refreshes += 1
          state.refused.append(refused ?? "none")
          return state.valid
        }
        await self.gate.pass()
        self.state.withLock { $0.stored = "t\(number)" }
        return "t\(number)"
      }
    }

    func isValid(_ value: String?) -> Bool { value == "Bearer t\(state.withLock { $0.valid })" }
  }

  @Test("any number of requests that are refused share one refresh, and each is sent once more with its body")
  func oneRefresh() async throws {
    try await withOrigin { origin in
      let account = Account()
      origin.reply(to: "/api") { request in
        let isValid = account.isValid(request["Authorization"].first)
        return .text(isValid ? String(decoding: request.body, as: UTF8.self) : "no", status: isValid ? 200 : 401)
      }
      let registry = InterceptorRegistry { account.link }
      let count = Sizes.of(1000, small: 100)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 1...count {
          group.addTask {
            var request = URLRequest(url: origin.url("/api"))
            request.httpMethod = "POST"
            let (data, head) = try await registry.upload(for: request, from: Data("body \(number)".utf8))
            #expect(head.statusCode == 200 && data == Data("body \(number)".utf8))
          }
        }
        try await group.waitForAll()
      }
      #expect(account.state.withLock { $0.refreshes } == 1)
      #expect(account.state.withLock { $0.refused } == ["t1"])
      #expect(origin.requests.count <= 2 * count)
    }
  }

  @Test("a failed refresh reaches all, sends nothing again, and is tried anew after a while")
  func failedRefresh() async throws {
    let account = Locked((refreshes: 0, works: false))
    let arrived = Waiting(opensAfter: 64)
    let clock = MockClock()
    let link = BearerToken(hosts: .host("api.example.com"), clock: clock) {
      "old"
    } refresh: { _ in
      if account.withLock({
        $0.refreshes += 1; return $0.works
      }) {
        return "new"
      }
      throw Refused()
    }
    let script = Script { request, _ in
      if request.fields[.authorization] == "Bearer new" { return InterceptedResponse(to: request) }
      await arrived.pass()
      return InterceptedResponse(to: request, status: .unauthorized)
    }
    await withTaskGroup(of: Void.self) { group in
      for _ in 1...64 {
        group.addTask { #expect(await failure { try await link.load(.example, script) } is Refused) }
      }
    }
    #expect(account.withLock { $0.refreshes } == 1)
    #expect(script.requests.all.count == 64)
    account.withLock { $0.works = true }
    #expect(await failure { try await link.load(.example, script) } is Refused)
    #expect(account.withLock { $0.refreshes } == 1)
    clock.advance(by: .seconds(30))
    #expect(try await link.load(.example, script).status == .ok)
    #expect(script.requests.all.suffix(2).map { $0.fields[.authorization] } == ["Bearer old", "Bearer new"])
    #expect(script.requests.all.count == 66)
  }

  @Test("after the pause of a failed refresh its token is sent again, and may be refused again")
  func afterPause() async throws {
    let (clock, isValid, refreshes) = (MockClock(), Locked(false), Log<String>())
    let link = BearerToken(hosts: .https, clock: clock) {
      "old"
    } refresh: { refused in
      refreshes.add(refused ?? "none")
      throw Refused()
    }
    let script = Script { request, _ in
      InterceptedResponse(to: request, status: isValid.withLock { $0 } ? .ok : .unauthorized)
    }
    #expect(await failure { try await link.load(.example, script) } is Refused)
    isValid.withLock { $0 = true }
    #expect(await failure { try await link.load(.example, script) } is Refused)
    clock.advance(by: .seconds(30))
    #expect(try await link.load(.example, script).status == .ok)
    #expect(refreshes.all.count == 1 && script.requests.all.count == 2)
    // A body that can be read once gets its 401, and the next request a refresh first.
    isValid.withLock { $0 = false }
    var request = InterceptedRequest.example
    request.body = .stream(AsyncStream<Data> { $0.finish() })
    #expect(try await link.load(request, script).status == .unauthorized)
    #expect(await failure { try await link.load(.example, script) } is Refused)
    #expect(refreshes.all.count == 2 && script.requests.all.count == 3)
  }

  @Test("a request that the app has authorized itself gets its 401 if there is no token")
  func ownAuthorization() async throws {
    let refreshes = Log<String>()
    let link = BearerToken(hosts: .https, token: { nil }) { refused in
      refreshes.add(refused ?? "none")
      return "fresh"
    }
    let script = Script(.unauthorized)
    var request = InterceptedRequest.example
    request.fields[.authorization] = "Basic pl4nted"
    #expect(try await link.load(request, script).status == .unauthorized)
    #expect(script.requests.all.map { $0.fields[.authorization] } == ["Basic pl4nted"] && refreshes.all.isEmpty)
    #expect(try await link.load(.example, script).status == .unauthorized)
    #expect(script.requests.all.last?.fields[.authorization] == "Bearer fresh" && refreshes.all == ["none"])
  }

  @Test("a token that was replaced is not sent again, even if the app still stores it, unless a refresh returns it")
  func oldTokens() async throws {
    let answers = Locked(["b", "c", "a"])
    let link = BearerToken(hosts: .http) {
      "a"
    } refresh: { _ in
      answers.withLock { $0.removeFirst() }
    }
    let sent = Log<String>()
    let script = Script { request, _ in
      let token = request.fields[.authorization] ?? "none"
      sent.add(token)
      return InterceptedResponse(to: request, status: token == "Bearer c" ? .ok : .unauthorized)
    }
    #expect(try await link.load(.example, script).status == .unauthorized)
    #expect(sent.all == ["Bearer a", "Bearer b"])
    #expect(try await link.load(.example, script).status == .ok)
    #expect(sent.all == ["Bearer a", "Bearer b", "Bearer b", "Bearer c"])
    let refusing = Script(.unauthorized)
    #expect(try await link.load(.example, refusing).status == .unauthorized)
    #expect(refusing.requests.all.map { $0.fields[.authorization] } == ["Bearer c", "Bearer a"])
  }

  @Test("no token leaves the hosts, on redirects too; after a sign-out none is sent")
  func hosts() async throws {
    try await withOrigin { origin in
      try await withOrigin { other in
        let target = other.url("/echo", host: "localhost").absoluteString
        origin.reply(to: "/away") { _ in .text("", status: 302, fields: [("Location", target)]) }
        let token = Locked<String?>("secret")
        let registry = InterceptorRegistry()
        registry.register(
          InterceptorChain("all", for: .host("127.0.0.1", "localhost")) {
            BearerToken(hosts: .host("127.0.0.1")) {
              token.withLock { $0 }
            } refresh: { _ in
              throw Refused()
            }
          })
        _ = try await registry.data(for: URLRequest(url: origin.url("/away")))
        #expect(origin.requests.map { $0["Authorization"] } == [["Bearer secret"]])
        #expect(other.requests.map { $0["Authorization"] } == [[]])
        token.withLock { $0 = nil }
        _ = try await registry.data(for: URLRequest(url: origin.url("/echo")))
        #expect(origin.requests.last?["Authorization"] == [])
      }
    }
  }

  @Test("the refresh may be a load of the same registry, direct or by a session with another path")
  func refreshWithin() async throws {
    try await withOrigin { origin in
      origin.reply(to: "/token") { _ in .text("fresh") }
      origin.reply(to: "/api") { request in
        .text("", status: request["Authorization"] == ["Bearer fresh"] ? 200 : 401)
      }
      for isDirect in [true, false] {
        let registry = InterceptorRegistry()
        let session = URLSession(configuration: .ephemeral.intercepted(by: registry))
        registry.register(
          InterceptorChain("api", for: .host("127.0.0.1")) {
            BearerToken(hosts: .host("127.0.0.1").excludingPath("/token")) {
              "stale"
            } refresh: { _ in
              let request = URLRequest(url: origin.url("/token"))
              let data = isDirect ? try await registry.data(for: request).0 : try await session.data(for: request).0
              return String(decoding: data, as: UTF8.self)
            }
          })
        let head = try await registry.data(for: URLRequest(url: origin.url("/api"))).1
        #expect(head.statusCode == 200)
        registry.invalidate()
      }
      #expect(origin.requests(to: "/token").allSatisfy { $0["Authorization"] == [] })
    }
  }

  @Test(
    "the refresh may be a load of another registry with the same interceptor, direct or by a session",
    .enabled(if: Platform.isLinux, "a session's requests are recognized there"), arguments: [true, false])
  func refreshThroughAnother(isDirect: Bool) async throws {
    let other = InterceptorRegistry()
    let session = URLSession(configuration: .ephemeral.intercepted(by: other))
    let link = BearerToken(hosts: .host("api.example.com")) {
      "stale"
    } refresh: { _ in
      let request = URLRequest(url: URL(string: "https://api.example.com/token")!)
      let data = isDirect ? try await other.data(for: request).0 : try await session.data(for: request).0
      return String(decoding: data, as: UTF8.self)
    }
    let chain = InterceptorChain("api") {
      link
      AccountServer()
    }
    let registry = InterceptorRegistry()
    for registry in [registry, other] { registry.register(chain) }
    let head = try await registry.data(for: URLRequest(url: URL(string: "https://api.example.com/")!)).1
    #expect(head.statusCode == 200)
    for registry in [registry, other] { registry.invalidate() }
  }

  /// Issues the token `fresh`, which it wants for everything else.
  private struct AccountServer: RequestInterceptor {
    var takesPartInNestedRequests: Bool { true }

    func startLoading(
      _ request: InterceptedRequest, next: InterceptorChain.Next
    ) async throws -> InterceptedResponse {
      if request.url.path == "/token" { return InterceptedResponse(to: request, body: .text("fresh")) }
      let isFresh = request.fields[.authorization] == "Bearer fresh"
      return InterceptedResponse(to: request, status: isFresh ? .ok : .unauthorized)
    }
  }

  @Test("a request that is cancelled while it waits for the refresh ends at once, and the others get the token")
  func cancellation() async throws {
    let gate = Waiting()
    let link = BearerToken(hosts: .http) {
      "old"
    } refresh: { _ in
      await gate.pass()
      return "new"
    }
    let script = Script { request, _ in
      InterceptedResponse(to: request, status: request.fields[.authorization] == "Bearer new" ? .ok : .unauthorized)
    }
    gate.close()
    let first = Task { try await link.load(.example, script).status }
    await gate.arrival()
    let second = Task { try await link.load(.example, script).status }
    first.cancel()
    #expect(await failure { try await first.value } is CancellationError)
    gate.open()
    #expect(try await second.value == .ok)
  }

  @Test("a refresh is inside its loads, though the first was cancelled; what it has started is not")
  func scopes() async throws {
    let (gate, isOver, runs) = (Waiting(), Event(), Log<String>())
    let later = Promise<String>()
    let registry = InterceptorRegistry(transport: Guarded())
    let link = BearerToken(hosts: .https) {
      "old"
    } refresh: { [weak registry] _ in
      guard let registry else { throw Refused() }
      Task {
        await isOver.wait()
        let data = try await registry.data(for: URLRequest(url: URL(string: "https://a.example/later")!)).0
        later.settle(.success(String(decoding: data, as: UTF8.self)))
      }
      await gate.pass()
      let token = try await registry.data(for: URLRequest(url: URL(string: "https://a.example/token")!)).0
      return String(decoding: token, as: UTF8.self)
    }
    registry.register(
      InterceptorChain("all") {
        Intercept { request, next in
          runs.add(request.url.path)
          return try await next(request)
        }
        link
      })
    gate.close()
    let url = URL(string: "https://a.example/api")!
    let first = Task { try await registry.data(for: URLRequest(url: url)) }
    await gate.arrival()
    let second = Task { try await registry.data(for: URLRequest(url: url)) }
    first.cancel()
    _ = await first.result
    gate.open()
    #expect(String(decoding: try await second.value.0, as: UTF8.self) == "Bearer new")
    isOver.happen()
    #expect(try await later.value() == "Bearer new")
    #expect(runs.all == ["/api", "/api", "/later"])
    registry.invalidate()
  }

  @Test("the refresh of one account may load with the token of another")
  func twoAccounts() async throws {
    let inner = InterceptorRegistry(transport: Guarded()) {
      BearerToken(hosts: .https, token: { "new" }, refresh: { _ in throw Refused() })
    }
    let outer = InterceptorRegistry(transport: Guarded()) {
      BearerToken(hosts: .https) {
        "old"
      } refresh: { _ in
        let data = try await inner.data(for: URLRequest(url: URL(string: "https://b.example/api")!)).0
        return String(String(decoding: data, as: UTF8.self).dropFirst("Bearer ".count))
      }
    }
    let data = try await outer.data(for: URLRequest(url: URL(string: "https://a.example/api")!)).0
    #expect(String(decoding: data, as: UTF8.self) == "Bearer new")
  }

  @Test("a refresh fails at its limit; until it has ended there is no other, and then its result counts")
  func limit() async throws {
    let (clock, refreshes, gate) = (MockClock(), Log<Int>(), Waiting())
    let link = BearerToken(hosts: .https, refreshLimit: .seconds(10), clock: clock) {
      "old"
    } refresh: { _ in
      refreshes.add(1)
      // Deaf to its cancellation.
      await gate.pass()
      return "new"
    }
    let script = Script { request, _ in
      InterceptedResponse(to: request, status: request.fields[.authorization] == "Bearer new" ? .ok : .unauthorized)
    }
    gate.close()
    let load = Task { try await link.load(.example, script) }
    await gate.arrival()
    try await clock.waitForSleepers(1)
    clock.advance(by: .seconds(10))
    #expect((await failure { try await load.value } as? WaylayError)?.code == .timedOut)
    #expect((await failure { try await link.load(.example, script) } as? WaylayError)?.code == .timedOut)
    #expect(refreshes.all.count == 1 && script.requests.all.count == 1)
    gate.open()
    #expect(try await statusAfterRefresh(link, script) == .ok && refreshes.all.count == 1)
    #expect(script.requests.all.map { $0.fields[.authorization] } == ["Bearer old", "Bearer new"])
  }

  /// The status of the first load that does not fail because a refresh still runs after its limit.
  private func statusAfterRefresh(_ link: BearerToken, _ script: Script) async throws -> HTTPResponse.Status {
    while true {
      do {
        return try await link.load(.example, script).status
      } catch let error as WaylayError where error.code == .timedOut {
        await Task.yield()
      }
    }
  }

  @Test("a refresh that ends at its limit leaves nothing: the next load sends the token, and asks again")
  func limitOfCancelled() async throws {
    let (clock, refreshes) = (MockClock(), Log<Int>())
    let link = BearerToken(hosts: .https, refreshLimit: .seconds(10), clock: clock) {
      "old"
    } refresh: { _ in
      refreshes.add(1)
      if refreshes.all.count > 1 { return "new" }
      try? await clock.sleep(for: .seconds(20))
      throw Refused()
    }
    let script = Script { request, _ in
      InterceptedResponse(to: request, status: request.fields[.authorization] == "Bearer new" ? .ok : .unauthorized)
    }
    let load = Task { try await link.load(.example, script) }
    try await clock.waitForSleepers(2)
    clock.advance(by: .seconds(10))
    #expect((await failure { try await load.value } as? WaylayError)?.code == .timedOut)
    #expect(try await statusAfterRefresh(link, script) == .ok && refreshes.all.count == 2)
  }

  @Test("a limit of centuries is one of a year, which every clock can count")
  func longLimit() async throws {
    let (clock, gate) = (MockClock(), Waiting())
    let link = BearerToken(hosts: .https, refreshLimit: .seconds(Int64.max) * 18, clock: clock) {
      "old"
    } refresh: { _ in
      await gate.pass()
      return "new"
    }
    clock.advance(by: .seconds(Int64.max))
    let now = clock.now
    gate.close()
    let load = Task { try await link.load(.example, Script(.unauthorized)) }
    try await clock.waitForSleepers()
    #expect(clock.nextDeadline == now.advanced(by: .seconds(365 * 24 * 60 * 60)))
    gate.open()
    #expect(try await load.value.status == .unauthorized)
  }

  /// The user whose request it is, as on a server that handles requests of several.
  private enum User {
    @TaskLocal static var current = "nobody"
  }

  /// A server that takes the token `2` of each user, and says whose request it was.
  private static let perUser = Script { request, _ in
    let token = request.fields[.authorization] ?? "none"
    return InterceptedResponse(
      to: request, status: token.hasSuffix("2") ? .ok : .unauthorized, body: .text("\(User.current) as \(token)"))
  }

  private func text(of user: String, _ link: BearerToken, _ script: Script = perUser) async throws -> String {
    try await User.$current.withValue(user) {
      String(decoding: try await link.load(.example, script).body.collect(upTo: 100), as: UTF8.self)
    }
  }

  @Test("a request waits for no refresh of another token, and gets none of its results")
  func users() async throws {
    let (gate, refreshed) = (Waiting(), Log<String>())
    let link = BearerToken(hosts: .https) {
      "\(User.current)-1"
    } refresh: { refused in
      refreshed.add("\(User.current) for \(refused ?? "none")")
      if User.current == "ada" { await gate.pass() }
      return "\(User.current)-2"
    }
    gate.close()
    let ada = Task { try await text(of: "ada", link) }
    await gate.arrival()
    #expect(try await text(of: "bob", link) == "bob as Bearer bob-2")
    gate.open()
    #expect(try await ada.value == "ada as Bearer ada-2")
    #expect(try await text(of: "bob", link) == "bob as Bearer bob-2")
    #expect(try await text(of: "ada", link) == "ada as Bearer ada-2")
    #expect(refreshed.all == ["ada for ada-1", "bob for bob-1"])
  }

  @Test("a request of one user is not sent as another, who has signed in while it was on its way")
  func signIn() async throws {
    let (stored, gate) = (Locked("ada-1"), Waiting())
    let link = BearerToken(hosts: .https) {
      stored.withLock { $0 }
    } refresh: { refused in
      guard refused == "ada-1" else { return "bob-2" }
      throw Refused()
    }
    let sent = Log<String>()
    let script = Script { request, _ in
      sent.add(request.fields[.authorization] ?? "none")
      if sent.all.count == 1 { await gate.pass() }
      let isValid = request.fields[.authorization] == "Bearer bob-2"
      return InterceptedResponse(to: request, status: isValid ? .ok : .unauthorized)
    }
    gate.close()
    let ada = Task { try await link.load(.example, script) }
    await gate.arrival()
    stored.withLock { $0 = "bob-1" }
    #expect(try await link.load(.example, script).status == .ok)
    gate.open()
    #expect(await failure { try await ada.value } is Refused)
    #expect(sent.all == ["Bearer ada-1", "Bearer bob-1", "Bearer bob-2"])
  }

  @Test("a failed refresh fails the requests of its token alone, and of those that it has replaced")
  func failureOfOne() async throws {
    let refreshes = Log<String>()
    let link = BearerToken(hosts: .https, clock: MockClock()) {
      "\(User.current)-1"
    } refresh: { refused in
      refreshes.add(refused ?? "none")
      // The first replacement of ada's token is refused, too, and then there is none.
      if refused == "ada-1" { return "ada-x" }
      if refused == "ada-x" { throw Refused() }
      return "\(User.current)-2"
    }
    _ = try await text(of: "ada", link)
    #expect(await failure { try await text(of: "ada", link) } is Refused)
    #expect(await failure { try await text(of: "ada", link) } is Refused)
    #expect(try await text(of: "bob", link) == "bob as Bearer bob-2")
    #expect(refreshes.all == ["ada-1", "ada-x", "bob-1"])
  }

  @Test("requests without a token have a refresh each, which no other request joins")
  func anonymous() async throws {
    let (both, refreshed) = (Waiting(opensAfter: 2), Log<String>())
    let stored = Locked<String?>("old-1")
    let link = BearerToken(hosts: .https) {
      stored.withLock { $0 }
    } refresh: { refused in
      if refused == nil { await both.pass() }
      refreshed.add(refused ?? "none")
      return "\(User.current)-2"
    }
    #expect(try await text(of: "ada", link) == "ada as Bearer ada-2")
    // After the sign-out, nothing of ada's is left.
    stored.withLock { $0 = nil }
    async let bob = text(of: "bob", link)
    async let eve = text(of: "eve", link)
    #expect(try await [bob, eve] == ["bob as Bearer bob-2", "eve as Bearer eve-2"])
    #expect(refreshed.all == ["old-1", "none", "none"])
  }

  @Test("a token that a refresh for no token gives is valid, whatever was known of it")
  func anonymousKnown() async throws {
    let stored = Locked<String?>("ada-2")
    let link = BearerToken(hosts: .https) {
      stored.withLock { $0 }
    } refresh: { refused in
      if refused != nil { throw Refused() }
      stored.withLock { $0 = "ada-2" }
      return "ada-2"
    }
    let isValid = Locked(false)
    let script = Script { request, _ in
      let isFresh = isValid.withLock { $0 } && request.fields[.authorization] == "Bearer ada-2"
      return InterceptedResponse(to: request, status: isFresh ? .ok : .unauthorized)
    }
    await #expect(throws: Refused.self) { try await link.load(.example, script) }
    stored.withLock { $0 = nil }
    isValid.withLock { $0 = true }
    #expect(try await link.load(.example, script).status == .ok)
    #expect(try await link.load(.example, script).status == .ok)
  }

  @Test("each of very many users has one refresh, also for requests whose 401 comes late")
  func manyUsers() async throws {
    let refreshes = Log<String>()
    let link = BearerToken(hosts: .https) {
      "\(User.current)-1"
    } refresh: { refused in
      refreshes.add(refused ?? "none")
      return "\(User.current)-2"
    }
    let (gate, count) = (Waiting(), 200)
    let script = Script { request, _ in
      if request.url.path == "/late" { await gate.pass() }
      let isValid = request.fields[.authorization]?.hasSuffix("2") == true
      return InterceptedResponse(to: request, status: isValid ? .ok : .unauthorized)
    }
    gate.close()
    let late = User.$current.withValue("user 0") {
      Task { try await link.load(InterceptedRequest(.get, "https://api.example.com/late"), script).status }
    }
    await gate.arrival()
    for number in 0..<count {
      let status = try await User.$current.withValue("user \(number)") { try await link.load(.example, script).status }
      #expect(status == .ok)
    }
    gate.open()
    #expect(try await late.value == .ok)
    #expect(refreshes.all.count == count)
  }

  @Test("work of the app that a refresh starts is not a part of it")
  func appWork() async throws {
    let (isPart, work) = (Promise<Bool>(), SharedWork())
    await work.run {
      await InterceptorRegistry.withoutEnclosingLoad { _ = isPart.settle(.success(SharedWork.current != nil)) }
    }
    #expect(try await isPart.value() == false)
  }

  @Test("a token that its refresh returns is sent once more; a second 401 is the app's, and nothing is remembered")
  func sameToken() async throws {
    let isDown = Locked(true)
    let sent = Log<String>()
    let refreshes = Locked(0)
    let link = BearerToken(hosts: .https, token: { "cached" }) { _ in
      refreshes.withLock { $0 += 1 }
      return "cached"
    }
    let script = Script { request, _ in
      sent.add(request.fields[.authorization] ?? "none")
      return InterceptedResponse(to: request, status: isDown.withLock { $0 } ? .unauthorized : .ok)
    }
    #expect(try await link.load(.example, script).status == .unauthorized)
    #expect(sent.all.count == 2 && refreshes.withLock { $0 } == 1)
    isDown.withLock { $0 = false }
    #expect(try await link.load(.example, script).status == .ok)
    #expect(sent.all == ["Bearer cached", "Bearer cached", "Bearer cached"])
    isDown.withLock { $0 = true }
    #expect(try await link.load(.example, script).status == .unauthorized)
    #expect(sent.all.count == 5 && refreshes.withLock { $0 } == 2)
  }

  @Test("no token goes over plain http but to this machine, unless it is allowed")
  func plainHTTP() async throws {
    func sent(to url: String, _ allows: Bool = false) async throws -> String? {
      let script = Script(.ok)
      let link = BearerToken(hosts: .http, allowsPlainHTTP: allows, token: { "t" }, refresh: { _ in throw Refused() })
      _ = try await link.load(InterceptedRequest(.get, URL(string: url)!), script)
      return script.requests.all.last?.fields[.authorization]
    }
    for url in [
      "http://a.example/", "HTTP://127.0.0.1.a.example/", "http://127.example/", "http://localhost.a/",
      "http://256.1.1.1/", "http://a!b.example/", "http://[fe80::1%25eth0]/",
    ] {
      #expect(try await sent(to: url) == nil, "\(url)")
      #expect(try await sent(to: url, true) == "Bearer t", "\(url)")
    }
    for url in [
      "https://a.example/", "http://127.0.0.1:8/", "http://[::1]/", "http://localhost/", "http://a.LOCALHOST/",
    ] {
      #expect(try await sent(to: url) == "Bearer t", "\(url)")
    }
  }

  @Test("a body that can be read once ends with its 401, and the next request gets a fresh token first")
  func oneShot() async throws {
    let link = BearerToken(hosts: .http) {
      "old"
    } refresh: { _ in
      "new"
    }
    let script = Script { request, _ in
      InterceptedResponse(to: request, status: request.fields[.authorization] == "Bearer new" ? .ok : .unauthorized)
    }
    var request = InterceptedRequest.example
    request.body = .stream(AsyncStream<Data> { $0.finish() })
    #expect(try await link.load(request, script).status == .unauthorized)
    #expect(try await link.load(.example, script).status == .ok)
    #expect(script.requests.all.map { $0.fields[.authorization] } == ["Bearer old", "Bearer new"])
  }

  @Test("another origin, after a redirect, begins no refresh with its 401, whether it got the token or not")
  func otherOrigin() async throws {
    try await withOrigin { origin in
      try await withOrigin { other in
        let target = other.url("/api", host: "localhost").absoluteString
        origin.reply(to: "/away") { _ in .text("", status: 302, fields: [("Location", target)]) }
        other.reply(to: "/api") { _ in .text("", status: 401) }
        let refreshes = Log<String>()
        for scope in [InterceptorChain.Scope.http, .host("127.0.0.1", "localhost")] {
          let registry = InterceptorRegistry()
          registry.register(
            InterceptorChain("all", for: scope) {
              BearerToken(hosts: .http) {
                "old"
              } refresh: { refused in
                refreshes.add(refused ?? "none")
                return "new"
              }
            })
          let head = try await registry.data(for: URLRequest(url: origin.url("/away"))).1
          #expect(head.statusCode == 401)
          registry.invalidate()
        }
        #expect(refreshes.all.isEmpty)
        #expect(other.requests.map { $0["Authorization"] } == [[], ["Bearer old"]])
      }
    }
  }

  @Test("a credential for a challenge is sent in place of the token")
  func challenge() async throws {
    try await withOrigin { origin in
      origin.reply(to: "/api") { request in
        let isValid = request["Authorization"].first?.hasPrefix("Basic ") == true
        return .text("", status: isValid ? 200 : 401, fields: [("WWW-Authenticate", "Basic realm=\"a\"")])
      }
      let registry = InterceptorRegistry {
        BearerToken(hosts: .http, token: { "old" }, refresh: { _ in "new" })
      }
      var url = try #require(URLComponents(url: origin.url("/api"), resolvingAgainstBaseURL: false))
      (url.user, url.password) = ("ada", "pl4nted")
      let head = try await registry.data(for: URLRequest(url: try #require(url.url))).1
      #expect(head.statusCode == 200)
      let schemes = origin.requests.map { $0["Authorization"].first?.prefix(10) }
      #expect(schemes == ["Bearer old", "Bearer new", "Basic YWRh"])
      registry.invalidate()
    }
  }

  @Test("refreshes in flight, however many, displace no result of another")
  func manyInFlight() async throws {
    let (gate, all, started) = (Waiting(), Event(), Locked(0))
    let count = 4100
    let link = BearerToken(hosts: .https) {
      "\(User.current)-1"
    } refresh: { _ in
      if User.current == "ada" { return "ada-2" }
      let number = started.withLock { number in
        number += 1
        return number
      }
      if number == count { all.happen() }
      await gate.pass()
      return "\(User.current)-2"
    }
    #expect(try await text(of: "ada", link) == "ada as Bearer ada-2")
    gate.close()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 1...count {
        group.addTask {
          let text = try await self.text(of: "\(number)", link)
          #expect(text == "\(number) as Bearer \(number)-2")
        }
      }
      await all.wait()
      let script = Script { request, _ in try await Self.perUser.next(request) }
      #expect(try await text(of: "ada", link, script) == "ada as Bearer ada-2")
      #expect(script.requests.all.count == 1)
      gate.open()
      try await group.waitForAll()
    }
  }

  @Test("a refresh for a request without a token is cancelled with the request")
  func anonymousCancelled() async throws {
    let (begun, isCancelled) = (Event(), Event())
    let link = BearerToken(hosts: .https, token: { nil }) { _ in
      begun.happen()
      try await withTaskCancellationHandler {
        try await Promise<Void>().valueUnlessCancelled()
      } onCancel: {
        isCancelled.happen()
      }
      throw Refused()
    }
    let load = Task { try await link.load(.example, Script(.unauthorized)) }
    await begun.wait()
    load.cancel()
    #expect(await failure { try await load.value } is CancellationError)
    await isCancelled.wait()
  }

  @Test("refreshes without a token that begin each other are few")
  func anonymousRecursion() async throws {
    let refreshes = Locked(0)
    let made = Locked<BearerToken?>(nil)
    let script = Script(.unauthorized)
    let link = BearerToken(hosts: .https, token: { nil }) { _ in
      let number = refreshes.withLock { number in
        number += 1
        return number
      }
      guard number < 1000, let link = made.withLock(\.self) else { throw Refused() }
      // In a task of its own, so that its request is not recognized as nested.
      return try await Task.detached { "after \(try await link.load(.example, script).status.code)" }.value
    }
    made.withLock { $0 = link }
    for round in 1...2 {
      #expect(try await link.load(.example, script).status == .unauthorized)
      #expect(refreshes.withLock { $0 } == round * 64)
    }
    made.withLock { $0 = nil }
  }

  @Test("a refresh that ends late says nothing against a token that has been refused since it began")
  func lateSuccess() async throws {
    let (stored, gate, refreshes) = (Locked("a"), Waiting(), Log<String>())
    let link = BearerToken(hosts: .https, clock: MockClock()) {
      stored.withLock { $0 }
    } refresh: { refused in
      refreshes.add(refused ?? "none")
      if refused == "b" { throw Refused() }
      await gate.pass()
      return "b"
    }
    let script = Script(.unauthorized)
    gate.close()
    let late = Task { try await link.load(.example, script).status }
    await gate.arrival()
    stored.withLock { $0 = "b" }
    #expect(await failure { try await link.load(.example, script) } is Refused)
    gate.open()
    #expect(try await late.value == .unauthorized)
    #expect(await failure { try await link.load(.example, script) } is Refused)
    #expect(refreshes.all == ["a", "b"] && script.requests.all.count == 3)
  }

  @Test("two refreshes that each return the other's token leave the token of the later one")
  func replacementsInCycle() async throws {
    let (stored, gate) = (Locked("a"), Waiting())
    let link = BearerToken(hosts: .https) {
      stored.withLock { $0 }
    } refresh: { refused in
      if refused == "b" { return "a" }
      await gate.pass()
      return "b"
    }
    let script = Script(.unauthorized)
    gate.close()
    let late = Task { try await link.load(.example, script).status }
    await gate.arrival()
    stored.withLock { $0 = "b" }
    let other = Task { try await link.load(.example, script).status }
    // Its replacement is the token whose refresh is in flight.
    #expect(try await other.value == .unauthorized)
    gate.open()
    #expect(try await late.value == .unauthorized)
    stored.withLock { $0 = "a" }
    #expect(try await link.load(.example, script).status == .unauthorized)
    let sent = script.requests.all.map { $0.fields[.authorization] }
    #expect(sent == ["Bearer a", "Bearer b", "Bearer a", "Bearer b", "Bearer b", "Bearer a"])
  }

  @Test("the late 401 of a body that can be read once says nothing against a token that a refresh has returned since")
  func lateOneShot() async throws {
    let (gate, refreshes) = (Waiting(), Log<String>())
    let link = BearerToken(hosts: .https) {
      "cached"
    } refresh: { refused in
      refreshes.add(refused ?? "none")
      return "cached"
    }
    let script = Script { request, number in
      if number == 1 { await gate.pass() }
      return InterceptedResponse(to: request, status: number <= 2 ? .unauthorized : .ok)
    }
    gate.close()
    let late = Task {
      var request = InterceptedRequest.example
      request.body = .stream(AsyncStream<Data> { $0.finish() })
      return try await link.load(request, script).status
    }
    await gate.arrival()
    #expect(try await link.load(.example, script).status == .ok)
    gate.open()
    #expect(try await late.value == .unauthorized)
    #expect(try await link.load(.example, script).status == .ok)
    #expect(refreshes.all == ["cached"] && script.requests.all.count == 4)
  }

  @Test("work that other work begins retains none that has ended")
  func endedWork() async throws {
    weak var first: SharedWork?
    weak var second: SharedWork?
    var outer: SharedWork? = SharedWork()
    first = outer
    var middle = await outer?.run { SharedWork() }
    (second, outer) = (middle, nil)
    // The first one has ended, and the second one runs.
    let inner = await middle?.run { SharedWork() }
    #expect(first == nil)
    let last = SharedWork.$current.withValue(middle) { SharedWork() }
    middle = nil
    #expect(second != nil)
    _ = await inner?.run { SharedWork() }
    #expect(second == nil)
    withExtendedLifetime((inner, last)) {}
  }
}

/// A gate that tasks wait at.
final class Waiting: Sendable {
  private struct State {
    var isOpen = true
    var opensAfter = 0
    var waiters: [CheckedContinuation<Void, Never>] = []
    var arrivals: [CheckedContinuation<Void, Never>] = []
    var arrived = 0
  }

  private let state = Locked(State())

  init(opensAfter count: Int = 0) {
    state.withLock { ($0.isOpen, $0.opensAfter) = (count == 0, count) }
  }

  func close() { state.withLock { $0.isOpen = false } }

  func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  func pass() async {
    let (arrivals, opens) = state.withLock { state in
      state.arrived += 1
      defer { state.arrivals = [] }
      return (state.arrivals, state.opensAfter > 0 && state.arrived == state.opensAfter)
    }
    for arrival in arrivals { arrival.resume() }
    if opens { return open() }
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiters.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  /// Waits until somebody has come.
  func arrival() async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.arrived == 0 { state.arrivals.append(continuation) }
        return state.arrived > 0
      }
      if isThere { continuation.resume() }
    }
  }
}

/// A server that takes the token `new`, and gives it away.
private struct Guarded: Transport {
  let capabilities: TransportCapabilities = []

  func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
    if request.url.path == "/token" { return InterceptedResponse(to: request, body: .text("new"), source: .network) }
    let token = request.fields[.authorization] ?? "none"
    let status: HTTPResponse.Status = token == "Bearer new" ? .ok : .unauthorized
    return InterceptedResponse(to: request, status: status, body: .text(token), source: .network)
  }
}
