import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("Settings made after intercepted(by:)", .timeLimit(.minutes(5)))
struct SettingsTests {
  @Test("header fields set on the intercepted configuration go along, and are there when interceptors are asked")
  func fields() async throws {
    try await withOrigin { origin in
      let asked = Log<String?>()
      let registry = InterceptorRegistry {
        Link.pass {
          asked.add($0.value(forHTTPHeaderField: "X-Late"))
          return true
        }
      }
      let configuration = URLSessionConfiguration.ephemeral.intercepted(by: registry)
      configuration.httpAdditionalHeaders = ["X-Late": "yes"]
      _ = try await URLSession(configuration: configuration).data(from: origin.url("/hello"))
      #expect(origin.requests.last?["X-Late"] == ["yes"])
      #expect(asked.all.contains("yes"))
    }
  }

  @Test("two sessions made from one configuration, changed in between, have their own settings")
  func twoSessions() async throws {
    try await withOrigin { origin in
      let configuration = URLSessionConfiguration.ephemeral.intercepted(by: InterceptorRegistry { Link.pass() })
      let copy = try #require(configuration.copy() as? URLSessionConfiguration)
      copy.httpAdditionalHeaders = ["X-Late": "second"]
      let (first, second) = (URLSession(configuration: configuration), URLSession(configuration: copy))
      for _ in 0..<2 {
        _ = try await first.data(from: origin.url("/hello"))
        #expect(origin.requests.last?["X-Late"] == [])
        _ = try await second.data(from: origin.url("/hello"))
        #expect(origin.requests.last?["X-Late"] == ["second"])
      }
    }
  }

  @Test("a cookie storage set on the intercepted configuration is used, both ways")
  func cookies() async throws {
    try await withOrigin { origin in
      let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
      let configuration = URLSessionConfiguration.ephemeral.intercepted(by: InterceptorRegistry { Link.pass() })
      configuration.httpCookieStorage = storage
      let session = URLSession(configuration: configuration)
      _ = try await session.data(from: origin.url("/cookies/set?late=1"))
      #expect(storage.cookies?.map(\.name) == ["late"])
      _ = try await session.data(from: origin.url("/hello"))
      #expect(origin.requests.last?["Cookie"] == ["late=1"])
    }
  }

  @Test("timeouts set on the intercepted configuration count")
  func timeouts() async throws {
    let clock = ManualClock()
    let started = Event()
    let registry = InterceptorRegistry(clock: clock.clock) { Link.waiting(started) }
    let configuration = URLSessionConfiguration.ephemeral.intercepted(by: registry)
    configuration.timeoutIntervalForRequest = 5
    let session = URLSession(configuration: configuration)
    async let code = failureCode { try await session.data(from: .example) }
    await started.wait()
    let hasEnded = Locked(false)
    let time = Task {
      // The load may come under its timeout a moment after its chain has begun. Never as late as the default.
      while !hasEnded.withLock({ $0 }), !Task.isCancelled {
        if clock.isAwaited, clock.seconds < 50 { clock.advance(by: 6) }
        await Task.yield()
      }
    }
    #expect(await code == .timedOut)
    hasEnded.withLock { $0 = true }
    await time.value
  }

  @Test("protocol classes set on the intercepted configuration are asked before the network")
  func classes() async throws {
    let configuration = URLSessionConfiguration.ephemeral.intercepted(by: InterceptorRegistry { Link.pass() })
    let inner = URLSessionConfiguration.ephemeral.intercepted(by: InterceptorRegistry { Link.answer("inner") })
    configuration.protocolClasses?.insert(try #require(inner.protocolClasses?.first), at: 1)
    #expect(try await URLSession(configuration: configuration).text(from: .example).1 == "inner")
  }
}
