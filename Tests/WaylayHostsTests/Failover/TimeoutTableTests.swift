// On Apple platforms there is no CurlTransport: this file is empty there.
#if canImport(FoundationNetworking)
  import Foundation
  import HijackLab
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore
  import WaylayHosts

  /// What the request's own timeout tells when it is over before any address has answered.
  @Suite("A routed request's own timeout", .timeLimit(.minutes(10)))
  struct TimeoutTableTests {
    private func check(_ error: (any Error)?) throws {
      let error = try #require(error as? URLError)
      #expect(error.code == .timedOut)
      let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? HostError)
      #expect(cause.code == .timedOut)
      // The first one is under way, and so are those that were tried beside it; the one that refuses has failed.
      let tried = cause.attempts.map { "\($0.candidate?.address.literal ?? "system") \($0.outcome)" }
      #expect(Set(tried) == ["127.0.0.6 not finished", "127.0.0.7 not finished", "127.0.0.8 refused"])
      #expect(cause.attempts.allSatisfy { $0.duration > .zero })
      #expect(cause.message.contains("127.0.0.6") && cause.message.contains("api.test"))
      #expect((cause.underlying as? WaylayError)?.code == .timedOut)
    }

    @Test("names every address that was tried, those that are under way too, in a direct load and in a session", .heavy)
    func table() async throws {
      try await HijackLab.with(isSecure: true) { lab in
        for isDirect in [true, false] {
          // All are tried long before the request's time is over.
          var policy = HostRewriter.Policy.patient
          policy.connectionAttemptDelay = .milliseconds(50)
          let (registry, rewriter) = try lab.routed([Hijacker.silence, .blackHole, .refusal].map(\.address), policy)
          let request = URLRequest(url: lab.url(), timeoutInterval: 3)
          if isDirect {
            try check(await failure { try await registry.data(for: request) })
          } else {
            let session = URLSession(configuration: .ephemeral.intercepted(by: registry))
            try check(await failure { try await session.data(for: request) })
            session.invalidateAndCancel()
          }
          #expect(rewriter.counters.requests == 1)
          registry.invalidate()
        }
      }
    }

    /// Waits for ever after what follows has failed.
    private struct Waiting: RequestInterceptor {
      func startLoading(
        _ request: InterceptedRequest, next: InterceptorChain.Next
      ) async throws -> InterceptedResponse {
        do { return try await next(request) } catch {
          // It ends with its task.
          try await Task.sleep(for: .seconds(1_000))
          throw error
        }
      }
    }

    @Test("is a plain timeout once all addresses have failed, and somebody else waits", .heavy)
    func afterFailure() async throws {
      let closed = try ClosedPort(host: "127.0.0.1")
      let rewriter = HostRewriter(rules: try HostRules(["api.test": ["127.0.0.1:\(closed.port)"]]), policy: .require)
      let registry = InterceptorRegistry(configuration: .ephemeral) {
        Waiting()
        rewriter
      }
      let url = try #require(URL(string: "http://api.test/"))
      let error = await failure { try await registry.data(for: URLRequest(url: url, timeoutInterval: 5)) } as? URLError
      #expect(error?.code == .timedOut)
      #expect(error?.userInfo[NSUnderlyingErrorKey] is WaylayError)
      #expect(rewriter.counters.failures == 1)
      registry.invalidate()
      closed.close()
    }

    @Test("is a plain timeout once an address has answered: what stays away is the body", .heavy)
    func body() async throws {
      let origin = try await TestOrigin.start()
      let rewriter = HostRewriter(rules: try HostRules(["api.test": ["127.0.0.1:\(origin.port)"]]), policy: .require)
      let registry = InterceptorRegistry(configuration: .ephemeral) { rewriter }
      let url = try #require(URL(string: "http://api.test/chunks/3?pause=60000"))
      let response = try await registry.load(URLRequest(url: url, timeoutInterval: 8))
      let error = await failure { try await response.body.collect(upTo: 1_000) } as? URLError
      #expect(error?.code == .timedOut)
      #expect(error?.userInfo[NSUnderlyingErrorKey] is WaylayError)
      registry.invalidate()
      await origin.stop()
    }
  }
#endif
