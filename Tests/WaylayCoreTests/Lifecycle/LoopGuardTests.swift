import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("The loop guard", .timeLimit(.minutes(5)))
struct LoopGuardTests {
  /// An interceptor that asks an intercepted session for a token before each request.
  private struct TokenRefresh: RequestInterceptor {
    let session: @Sendable () -> URLSession
    let tokenURL: URL
    let runs = Log<String>()

    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      runs.add(request.url.path)
      let (token, _) = try await session().data(from: tokenURL)
      var request = request
      request.urlRequest.setValue(String(decoding: token, as: UTF8.self), forHTTPHeaderField: "X-Token")
      return try await next(request)
    }
  }

  @Test(
    "an interceptor may use a session of its own registry: it goes through the bare transport (rule 7)",
    arguments: [nil, 5])
  func reentry(timeout: TimeInterval?) async throws {
    try await withOrigin { origin in
      let session = Locked<URLSession?>(nil)
      let refresh = TokenRefresh(session: { session.withLock { $0! } }, tokenURL: origin.url("/hello"))
      let registry = InterceptorRegistry { refresh }
      let made = URLSession.intercepted(by: registry)
      let other = URLSessionConfiguration.ephemeral
      if let timeout { other.timeoutIntervalForRequest = timeout }
      session.withLock { $0 = timeout == nil ? made : URLSession(configuration: other.intercepted(by: registry)) }
      let answer = try await made.text(from: origin.url("/echo"))
      #expect(answer.0 == 200)
      #expect(refresh.runs.all == ["/echo"])
      #expect(origin.requests(to: "/echo").first?["X-Token"] == ["hello"])
      #expect(!origin.rawBytes.joined().lowercased().contains("waylay-"))
    }
  }

  @Test("the same with a direct load, and with one inside another")
  func directReentry() async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry()
      let runs = Log<String>()
      registry.register(
        InterceptorChain("refresh") {
          Link { [weak registry] request, next in
            runs.add(request.url.path)
            _ = try await registry?.data(for: URLRequest(url: origin.url("/hello")))
            return try await next(request)
          }
        })
      _ = try await registry.data(for: URLRequest(url: origin.url("/echo")))
      #expect(runs.all == ["/echo"])
      #expect(origin.requests.map(\.path) == ["/hello", "/echo"])
    }
  }

  @Test("a request sent on from a detached task is recognised by its tag, which is on no wire")
  func detached() async throws {
    try await withOrigin { origin in
      let session = Locked<URLSession?>(nil)
      let runs = Log<Int>()
      let registry = InterceptorRegistry {
        Link { request, _ in
          runs.add(1)
          let again = request.urlRequest
          let text = try await Task.detached { try await session.withLock { $0! }.text(for: again) }.value.1
          return InterceptedResponse(to: request, body: .text(text))
        }
      }
      let made = URLSession.intercepted(by: registry)
      session.withLock { $0 = made }
      var request = URLRequest(url: origin.url("/hello"))
      request.mainDocumentURL = URL(string: "http://main.example.com/")
      let answer = try await made.text(for: request)
      #expect(answer == (200, "hello"))
      #expect(runs.all.count == 1)
      #expect(!origin.rawBytes.joined().lowercased().contains("waylay-"))
    }
  }

  @Test("an app cannot forge the tag: what looks like one is an ordinary request")
  func forged() async throws {
    let runs = Log<Int>()
    let registry = InterceptorRegistry {
      Link { request, _ in
        runs.add(1)
        return InterceptedResponse(to: request, body: .text("intercepted"))
      }
    }
    let session = URLSession.intercepted(by: registry)
    for tag in ["waylay-0:1~registry", "waylay-:1~registry%201", "waylay:1"] {
      var request = URLRequest(url: .example)
      request.mainDocumentURL = URL(string: tag)
      request.setValue(tag, forHTTPHeaderField: "X-Waylay")
      let text1 = try await session.text(for: request).1
      #expect(text1 == "intercepted")
    }
    #expect(runs.all.count == 3)
  }

  @Test("a chain of registries that leads back into itself is bounded")
  func ring() async throws {
    try await withOrigin { origin in
      let sessions = Locked<[URLSession]>([])
      let runs = Log<Int>()
      let registries = (0..<3).map { index in
        InterceptorRegistry {
          Link(name: "Hop \(index)") { request, _ in
            runs.add(index)
            let next = sessions.withLock { $0[(index + 1) % 3] }
            return InterceptedResponse(to: request, body: .text(try await next.text(from: origin.url("/hello")).1))
          }
        }
      }
      sessions.withLock { $0 = registries.map { URLSession.intercepted(by: $0) } }
      let text2 = try await sessions.withLock { $0[0] }.text(from: origin.url("/hello")).1
      #expect(text2 == "hello")
      #expect(runs.all == [0, 1, 2])
      #expect(origin.requests.count == 1)
    }
  }

  @Test("LoopGuard fails a load that comes back to it, and prints the path")
  func loopGuard() async throws {
    let guardLink = LoopGuard(name: "Gate")
    let inner = Locked<URLSession?>(nil)
    let outerRegistry = InterceptorRegistry {
      guardLink
      Link { request, _ in
        InterceptedResponse(to: request, body: .text(try await inner.withLock { $0! }.text(from: .example).1))
      }
    }
    let innerRegistry = InterceptorRegistry {
      guardLink
      Link.answer("never")
    }
    inner.withLock { $0 = URLSession.intercepted(by: innerRegistry) }
    let error = await failure { try await URLSession.intercepted(by: outerRegistry).data(from: .example) }
    let cause = try #require(error.flatMap(cause))
    #expect(cause.code == .loopDetected)
    #expect(cause.message.components(separatedBy: "Gate").count == 4)
    #expect(cause.message.contains(" → "))
  }

  @Test("LoopGuard lets retries and hedged requests pass")
  func retries() async throws {
    let registry = InterceptorRegistry {
      Link { request, next in
        _ = try await next(request)
        async let one = next(request)
        async let two = next(request)
        return try await [one, two][0]
      }
      LoopGuard()
      Link.answer("fine")
    }
    let text3 = try await URLSession.intercepted(by: registry).text(from: .example).1
    #expect(text3 == "fine")
  }
}
