import Foundation
import TestSupport
import Testing
import WaylayArchive
import WaylayHosts
import WaylayInspector
import WaylayInterceptors
import WaylayMocks

@testable import WaylayCore
@testable import WaylayTesting

/// Seeded chains of ready-made interceptors and of one that makes requests at random moments: before `next` and after
/// it, beside it, with its response open, after the end; from a refresh, the closure of a stub, a resolver, a delegate.
///
/// `WAYLAY_SCHEDULES` is the number of chains, `WAYLAY_SEED` the first seed.
@Suite("Requests that interceptors make at any moment", .timeLimit(.minutes(10)))
struct NestedScheduleTests {
  /// What keeps the requests of a chain from the network.
  enum Guardian: CaseIterable {
    case rewriter, mock, airGap
  }

  /// One chain, with what it may not do.
  private final class Bench: Sendable {
    let random: SeededRandom
    let guardian: Guardian
    let registry: InterceptorRegistry
    private let session: URLSession
    let inspector = Inspector()
    /// The URLs that were asked for, each once.
    let asked = Log<String>()
    private let made = Locked(0)
    /// The tasks that outlive their loads.
    let tasks = Locked<[Task<Void, Never>]>([])
    let faults = Log<String>()
    private let valid = Locked(1)

    init(seed: UInt64) {
      random = SeededRandom(seed: seed)
      guardian = Guardian.allCases[random.number(below: 3)]
      let box = Locked<Bench?>(nil)
      registry = InterceptorRegistry(
        transport: Sending { request in
          guard let bench = box.withLock({ $0 }) else { throw CancellationError() }
          return try await bench.send(request)
        }, configuration: .ephemeral)
      let delegate = Delegate()
      session = URLSession(
        configuration: .ephemeral.intercepted(by: registry), delegate: delegate, delegateQueue: nil)
      box.withLock { $0 = self }
      delegate.bench.withLock { $0.bench = self }
      registry.register(chain())
    }

    private struct Sending: Transport {
      let capabilities: TransportCapabilities = [.routes]
      let answer: @Sendable (InterceptedRequest) async throws -> InterceptedResponse

      func load(_ request: InterceptedRequest) async throws -> InterceptedResponse { try await answer(request) }
    }

    /// A URL that no other request has.
    func url() -> URL {
      let number = made.withLock { number in
        number += 1
        return number
      }
      return URL(string: "http://api.example.com/\(number)")!
    }

    /// The network.
    private func send(_ request: InterceptedRequest) async throws -> InterceptedResponse {
      // What a stub's closure and a resolver ask for does not come back to them.
      if request.url.host == "own.example" { return InterceptedResponse(to: request, source: .network) }
      switch guardian {
      case .rewriter where request.route == nil: faults.add("the system would have looked up \(request.url)")
      case .rewriter: break
      case .mock, .airGap: faults.add("\(request.url) was sent")
      }
      try await random.pause()
      return answer(to: request)
    }

    private func answer(to request: InterceptedRequest) -> InterceptedResponse {
      switch random.number(below: 10) {
      case 0: return InterceptedResponse(to: request, status: .serviceUnavailable, body: body(), source: .network)
      case 1:
        return InterceptedResponse(
          to: request, status: .found, fields: [.location: url().absoluteString], body: body(), source: .network)
      case 2:
        valid.withLock { $0 += 1 }
        return InterceptedResponse(to: request, status: .unauthorized, body: body(), source: .network)
      default:
        let isValid = request.fields[.authorization].map { $0 == "Bearer t\(valid.withLock { $0 })" } ?? true
        return InterceptedResponse(
          to: request, status: isValid ? .ok : .unauthorized, fields: [.cacheControl: "max-age=60"], body: body(),
          source: .network)
      }
    }

    /// A body that may come late, and that can be read once.
    private func body() -> MessageBody {
      let count = random.number(below: 4)
      guard count > 0 else { return .text("all at once") }
      let late = LateBody(left: count, chunk: Data("x".utf8), random: random)
      return .stream(late, length: random.number(below: 2) == 0 ? Int64(count) : nil)
    }

    func end() {
      session.finishTasksAndInvalidate()
      registry.invalidate()
    }

    /// Makes a request, directly or by the session, and tells of a time limit.
    func ask(host: String? = nil) async {
      // Requests that make requests come to an end.
      guard made.withLock({ $0 }) < 100 else { return }
      var url = url()
      if let host { url = URL(string: "http://\(host)\(url.path)")! }
      let request = URLRequest(url: url)
      do {
        if random.number(below: 4) == 0 {
          _ = try await session.data(for: request)
        } else {
          let response = try await registry.load(request)
          if random.number(below: 4) > 0 { for try await _ in response.body {} }
        }
      } catch let error as URLError where error.code == .timedOut {
        faults.add("a load ended by a time limit: \(error)")
      } catch let error as URLError where error.code == .cancelled {
        // By the load around it, which has failed.
        return
      } catch {}
      asked.add(url.absoluteString)
    }

    // MARK: The chain

    /// Makes requests at moments made up of the seed, a few levels deep.
    private struct Maker: RequestInterceptor {
      let bench: Bench

      func startLoading(
        _ request: InterceptedRequest, next: InterceptorChain.Next
      ) async throws -> InterceptedResponse {
        let random = bench.random
        func maybe() -> Bool { random.number(below: 4) == 0 }
        if maybe() { await bench.ask() }
        async let beside: Void = maybe() ? bench.ask() : ()
        var response = try await maybe() ? hedged(request, next) : next(request)
        if maybe() { await bench.ask() }
        if maybe(), request.body.isReplayable { response = try await next(request) }
        await beside
        if maybe() {
          let task = Task { [bench] in
            if random.number(below: 2) == 0 {
              await InterceptorRegistry.withoutEnclosingLoad { await bench.ask() }
            } else {
              await bench.ask()
            }
          }
          bench.tasks.withLock { $0.append(task) }
        }
        return response
      }

      /// The first of two responses.
      private func hedged(
        _ request: InterceptedRequest, _ next: InterceptorChain.Next
      ) async throws -> InterceptedResponse {
        guard request.body.isReplayable else { return try await next(request) }
        return try await withThrowingTaskGroup(of: InterceptedResponse.self) { group in
          for _ in 1...2 { group.addTask { try await next(request) } }
          defer { group.cancelAll() }
          guard let first = try await group.next() else { throw CancellationError() }
          return first
        }
      }
    }

    /// A delegate of the session, which makes a request of the app before it follows a redirect.
    private final class Delegate: NSObject, URLSessionTaskDelegate, Sendable {
      let bench = Locked<Weak>(Weak())

      struct Weak { weak var bench: Bench? }

      func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
      ) {
        let bench = bench.withLock { $0.bench }
        Task {
          if bench?.random.number(below: 2) == 0 { await bench?.ask() }
          completionHandler(bench?.random.number(below: 8) == 0 ? nil : request)
        }
      }
    }

    private struct Resolver: HostResolver {
      weak var bench: Bench?

      func resolve(_ host: HostName, port: Int) async throws -> HostResolution {
        if let bench, bench.random.number(below: 2) == 0 { await bench.ask(host: "own.example") }
        return HostResolution([try HostAddress("1.2.3.4")], timeToLive: .zero, source: "made up")
      }
    }

    private func chain() -> InterceptorChain {
      let (random, clock) = (random, MockClock(isAutomatic: true))
      var all: [any RequestInterceptor] = [
        RequestLogger(.body, logger: .recording { _ in }), Retry(attempts: 3, clock: clock),
        BearerToken(hosts: .http, allowsPlainHTTP: true) {
          "t0"
        } refresh: { [weak self] _ in
          await self?.ask()
          return "t\(self?.valid.withLock { $0 } ?? 0)"
        },
        ArchiveCache(.memory), ConcurrencyLimit(perHost: 1),
        RateLimit(perHost: 1 + random.number(below: 50), every: .seconds(1), clock: clock),
        SetField(.xAPIKey, "key", for: .http), NetworkConditions(clock: clock), LoopGuard(), Maker(bench: self),
      ]
      all.removeAll { !($0 is Maker) && random.number(below: 4) == 0 }
      let last: any RequestInterceptor =
        switch guardian {
        case .rewriter:
          HostRewriter(
            rules: try! HostRules([HostRule("*.example.com", endpoints: [])]), resolver: Resolver(bench: self),
            policy: .require)
        case .mock:
          MockInterceptor {
            Stub("**") { [weak self] _ in
              guard let self else { throw CancellationError() }
              if random.number(below: 8) == 0 { await ask(host: "own.example") }
              return switch random.number(below: 8) {
              case 0: .status(503)
              case 1: .status(401)
              case 2: .redirect(to: url().absoluteString)
              default: .body(body())
              }
            }
          }
        case .airGap: AirGap.Refusal()
        }
      return InterceptorChain("made up") {
        inspector
        random.ordered(all)
        last
      }
    }
  }

  @Test("every load ends, none by a time limit or past its guardian, and the inspector has each once")
  func schedules() async throws {
    let environment = ProcessInfo.processInfo.environment
    let count = environment["WAYLAY_SCHEDULES"].flatMap { Int($0) } ?? Sizes.of(3000, small: 150)
    let first = environment["WAYLAY_SEED"].flatMap { UInt64($0) } ?? 1
    for seed in first..<first + UInt64(count) {
      let bench = Bench(seed: seed)
      let watch = Task {
        try await ContinuousClock().sleep(for: .seconds(60))
        Issue.record("seed \(seed): loads wait: \(bench.registry.chains.map { $0.interceptors.map(\.name) })")
        bench.registry.invalidate()
      }
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 { group.addTask { await bench.ask() } }
      }
      while let task = bench.tasks.withLock({ $0.popLast() }) { await task.value }
      watch.cancel()
      #expect(bench.faults.all == [], "seed \(seed)")
      await bench.inspector.flush()
      let seen = bench.inspector.exchanges.map(\.entry.request.url).reduce(into: [:]) { $0[$1, default: 0] += 1 }
      for url in bench.asked.all { #expect(seen[url] == 1, "seed \(seed), \(url)") }
      #expect(seen.values.allSatisfy { $0 == 1 }, "seed \(seed)")
      bench.end()
    }
  }
}
