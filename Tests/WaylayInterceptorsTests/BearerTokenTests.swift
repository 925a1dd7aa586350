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

  @Test("a failed refresh reaches all, sends nothing again, and a later request may try anew")
  func failedRefresh() async throws {
    let account = Locked((refreshes: 0, works: false))
    let arrived = Waiting(opensAfter: 64)
    let link = BearerToken(hosts: .host("api.example.com")) {
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
    #expect(try await link.load(.example, script).status == .ok)
    #expect(script.requests.all.last?.fields[.authorization] == "Bearer new")
    #expect(script.requests.all.count == 65)
  }

  @Test("a token that was refused is not sent again, even if the app still stores it, or the refresh returns it")
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
    let error = await failure { try await link.load(.example, refusing) }
    #expect((error as? URLError)?.code == .userAuthenticationRequired)
    #expect(refusing.requests.all.map { $0.fields[.authorization] } == ["Bearer c"])
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
