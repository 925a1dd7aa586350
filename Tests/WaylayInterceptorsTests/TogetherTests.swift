#if Tracing && Metrics
  import CoreMetrics
  import Foundation
  import InMemoryTracing
  import MetricsTestKit
  import TestOrigin
  import TestSupport
  import Testing
  import Tracing
  import WaylayCore
  import WaylayInterceptors
  import WaylayMocks

  @Suite("All interceptors together", .timeLimit(.minutes(5)))
  struct TogetherTests {
    fileprivate static func registry(
      _ origin: TestOrigin, tokens: Locked<Int>, lines: Log<String> = Log(), clock: any Clock<Duration>
    ) -> InterceptorRegistry {
      let scope = InterceptorChain.Scope.host(origin.hosts[0])
      return InterceptorRegistry(configuration: .ephemeral, logger: .recording(lines)) {
        RequestLogger(.body, logger: .recording { _ in })
        Retry(attempts: 4, clock: clock)
        BearerToken(hosts: scope) {
          "t\(tokens.withLock { $0 })"
        } refresh: { _ in
          let number = tokens.withLock { tokens in
            tokens += 1
            return tokens
          }
          return "t\(number)"
        }
        ConcurrencyLimit(perHost: 16)
        RateLimit(perHost: 1_000_000, every: .seconds(1), clock: clock)
        Tracing(for: scope, tracer: NoOpTracer())
        TrafficMetrics(factory: NOOPMetricsHandler.instance)
        SetField(.xAPIKey, "key", for: scope)
        NetworkConditions(clock: clock)
      }
    }

    @Test("64 in flight are served, also while others are cancelled at every step, and nothing is left behind")
    func cancellation() async throws {
      try await withOrigin { origin in
        let tokens = Locked(1)
        origin.reply(to: "/api") { request in
          if Int.random(in: 0..<8) == 0 { return .text("", status: 503) }
          let isValid = request["Authorization"] == ["Bearer t\(tokens.withLock { $0 })"]
          return .text(isValid ? "ok" : "", status: isValid ? 200 : 401)
        }
        let lines = Log<String>()
        let registry = TogetherTests.registry(origin, tokens: tokens, lines: lines, clock: MockClock(isAutomatic: true))
        let request = URLRequest(url: origin.url("/api"))
        await withTaskGroup(of: Void.self) { group in
          for number in 0..<Sizes.of(20_000, small: 640) {
            if number >= 64 { _ = await group.next() }
            if number % 100 == 0 { tokens.withLock { $0 += 1 } }
            group.addTask {
              let load = Task { try await registry.data(for: request).1.statusCode }
              if number % 3 == 0 {
                for _ in 0..<number % 50 { await Task.yield() }
                load.cancel()
              }
              switch await load.result {
              case .success(let status): #expect([200, 401, 503].contains(status))
              case .failure(let error): #expect(number % 3 == 0 && (error as? URLError)?.code == .cancelled)
              }
            }
          }
        }
        // A place that somebody has kept, or a turn, would hold these for good.
        for _ in 1...40 { _ = try await registry.data(for: request) }
        #expect(!lines.all.contains { $0.contains("comes before") }, "\(lines.all)")
      }
    }

    @Test(
      "a body of any size passes through all of them in bounded memory", .exitTest, .enabled(if: Process.measuresMemory)
    )
    func memory() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        let origin = try await TestOrigin.start()
        origin.keepsLog = false
        let registry = TogetherTests.registry(origin, tokens: Locked(1), clock: ContinuousClock())
        try await Process.requireSameMemory { size in
          let body = try await registry.load(URLRequest(url: origin.url("/bytes/\(size)"))).body
          return try await Process.peak(reading: body, of: size)
        }
        registry.invalidate()
        await origin.stop()
      }
    }
  }
#endif
