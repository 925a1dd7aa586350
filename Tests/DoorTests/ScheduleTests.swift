import Foundation
import TestSupport
import Testing
import WaylayArchive
import WaylayInterceptors
import WaylayMocks

@testable import WaylayCore

/// Seeded schedules of all interceptors, in all orders that registration allows: bodies come late, without a length,
/// are cut or not read, loads are cancelled at any moment.
///
/// `WAYLAY_SCHEDULES` is the number of schedules, `WAYLAY_SEED` the first seed.
@Suite("All interceptors in all orders", .timeLimit(.minutes(10)))
struct ScheduleTests {
  /// A server made up of a seed.
  private struct Server: Transport {
    let capabilities: TransportCapabilities = []
    let random: SeededRandom
    let valid: Locked<Int>

    func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
      try await random.pause()
      switch random.number(below: 12) {
      case 0: throw TransportError(.networkConnectionLost, message: "lost")
      case 1, 2: return answer(request, .serviceUnavailable)
      case 3:
        valid.withLock { $0 += 1 }
        return answer(request, .unauthorized)
      default:
        let isValid = request.fields[.authorization] == "Bearer t\(valid.withLock { $0 })"
        return answer(request, isValid ? .ok : .unauthorized)
      }
    }

    private func answer(_ request: InterceptedRequest, _ status: HTTPResponse.Status) -> InterceptedResponse {
      let (chunks, isCut) = (random.number(below: 4), random.number(below: 6) == 0)
      if random.number(below: 4) == 0 { return InterceptedResponse(to: request, status: status, source: .network) }
      let length: Int64? = random.number(below: 2) == 0 ? Int64(chunks * 10) : nil
      let late = LateBody(left: chunks, isCut: isCut, chunk: Data(count: 10), random: random)
      let body = MessageBody.stream(late, length: length)
      return InterceptedResponse(to: request, status: status, body: body, source: .network)
    }
  }

  /// All of them, in an order made up of a seed that registration allows.
  private static func chain(
    _ random: SeededRandom, valid: Locked<Int>, clock: any Clock<Duration>
  ) -> InterceptorChain {
    var all: [any RequestInterceptor] = [
      RequestLogger(.body, logger: .recording { _ in }), Retry(attempts: 3, clock: clock),
      BearerToken(hosts: .https) {
        "t0"
      } refresh: { _ in
        for _ in 0..<random.number(below: 30) { await Task.yield() }
        if random.number(below: 8) == 0 { throw URLError(.networkConnectionLost) }
        return "t\(valid.withLock { $0 })"
      },
      ArchiveCache(.memory), ConcurrencyLimit(perHost: 1 + random.number(below: 3)),
      RateLimit(perHost: 1 + random.number(below: 50), every: .seconds(1), clock: clock),
      SetField(.xAPIKey, "key", for: .https),
      NetworkConditions(clock: clock), RequestSigner(for: .https) { _ in }, LoopGuard(), ValidateStatus(),
    ]
    all.removeAll { _ in random.number(below: 4) == 0 }
    return InterceptorChain("made up", { random.ordered(all) })
  }

  @Test("nobody waits after the last response has gone")
  func schedules() async throws {
    let environment = ProcessInfo.processInfo.environment
    let count = environment["WAYLAY_SCHEDULES"].flatMap { Int($0) } ?? Sizes.of(10_000, small: 300)
    let first = environment["WAYLAY_SEED"].flatMap { UInt64($0) } ?? 1
    for seed in first..<first + UInt64(count) {
      let random = SeededRandom(seed: seed)
      let valid = Locked(1)
      let clock = MockClock(isAutomatic: true)
      let chain = Self.chain(random, valid: valid, clock: clock)
      let registry = InterceptorRegistry(transport: Server(random: random, valid: valid), configuration: .ephemeral)
      registry.register(chain)
      let ended = Locked(0)
      let watch = Task {
        try await ContinuousClock().sleep(for: .seconds(60))
        Issue.record("seed \(seed): \(ended.withLock { $0 }) loads have ended: \(chain.interceptors)")
        registry.invalidate()
      }
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<6 {
          let (isDropped, cut) = (random.number(below: 4) == 0, random.number(below: 40))
          group.addTask {
            let load = Task {
              var request = URLRequest(url: URL(string: "https://api.example.com/\(number % 4)")!)
              if number == 5 { request.httpMethod = "POST" }
              let response = try await registry.load(request)
              if isDropped { return }
              for try await _ in response.body {}
            }
            if cut < 20 {
              for _ in 0..<cut * 2 { await Task.yield() }
              load.cancel()
            }
            _ = await load.result
            ended.withLock { $0 += 1 }
          }
        }
      }
      watch.cancel()
      registry.invalidate()
    }
  }
}

extension SeededRandom {
  func number(below limit: Int) -> Int { Int(unit() * Double(limit)) }

  /// Waits for a while, or until the task is cancelled.
  func pause() async throws {
    for _ in 0..<number(below: 20) { await Task.yield() }
    try Task.checkCancellation()
  }

  /// Interceptors in an order that registration allows.
  func ordered(_ interceptors: [any RequestInterceptor]) -> [any RequestInterceptor] {
    var order: [any RequestInterceptor] = []
    for interceptor in interceptors {
      // Anywhere that is allowed; the end is, because the list is in order.
      let places = (0...order.count).filter { place in
        var tried = order
        tried.insert(interceptor, at: place)
        return InterceptorChain("tried", { tried }).problems.isEmpty
      }
      order.insert(interceptor, at: places.isEmpty ? order.count : places[number(below: places.count)])
    }
    return order
  }
}

/// A body whose bytes come after a while.
struct LateBody: AsyncSequence, AsyncIteratorProtocol {
  var left: Int
  var isCut = false
  let chunk: Data
  let random: SeededRandom

  func makeAsyncIterator() -> LateBody { self }

  mutating func next() async throws -> Data? {
    try await random.pause()
    guard left > 0 else { return nil }
    if isCut, left == 1 { throw TransportError(.networkConnectionLost, message: "cut") }
    left -= 1
    return chunk
  }
}
