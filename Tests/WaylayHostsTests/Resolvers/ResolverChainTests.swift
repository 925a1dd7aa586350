import Testing
@testable import WaylayHosts

@Suite("A chain of resolvers", .timeLimit(.minutes(5)))
struct ResolverChainTests {
  /// Answers, or fails, as it is told, and counts how often it is asked.
  private final class Scripted: HostResolver {
    let name: String
    private let answer: @Sendable (HostAuthority) async throws -> HostResolution
    private let count = Locked(0)

    init(_ name: String, _ answer: @escaping @Sendable (HostAuthority) async throws -> HostResolution) {
      self.name = name
      self.answer = answer
    }

    convenience init(_ name: String, address: String) throws {
      let address = try HostAddress(address)
      self.init(name) { _ in HostResolution([address], timeToLive: .seconds(60), source: name) }
    }

    convenience init(_ name: String, failing code: HostError.Code) {
      self.init(name) { _ in throw HostError(code, "no luck.") }
    }

    var calls: Int { count.withLock { $0 } }

    func resolve(_ host: HostName, port: Int) async throws -> HostResolution {
      let query = HostAuthority(host, port: port)
      count.withLock { $0 += 1 }
      return try await answer(query)
    }
  }

  private let query: HostAuthority
  private let time = VirtualClock()

  init() throws {
    query = HostAuthority(try HostName("api.example.com"))
  }

  @Test("asks them in order, and stops at the first answer")
  func order() async throws {
    let second = try Scripted("second", address: "203.0.113.2")
    let third = try Scripted("third", address: "203.0.113.3")
    let chain = ResolverChain([Scripted("first", failing: .notListed), second, third], clock: time.clock)
    let resolution = try await chain.resolve(query)
    #expect(resolution.endpoints.map(\.address.literal) == ["203.0.113.2"])
    #expect(resolution.source == "second")
    #expect(second.calls == 1 && third.calls == 0)
  }

  @Test(
    "goes on when one does not list the host, fails, or gives an answer that is refused",
    arguments: [
      HostError.Code.notListed, .resolverFailed, .resolverTimedOut, .resolutionRejected, .malformedResponse,
    ])
  func failures(code: HostError.Code) async throws {
    let chain = ResolverChain(
      [Scripted("first", failing: code), try Scripted("second", address: "203.0.113.2")], clock: time.clock)
    #expect(try await chain.resolve(query).source == "second")
  }

  @Test("takes the word of one that says there is no such host, unless told not to")
  func absence() async throws {
    let last = try Scripted("last", address: "203.0.113.2")
    let believing = ResolverChain([Scripted("first", failing: .noSuchHost), last], clock: time.clock)
    let error = await #expect(throws: HostError.self) { try await believing.resolve(query) }
    #expect(error?.code == .noSuchHost && last.calls == 0)
    let asking = ResolverChain(
      [Scripted("first", failing: .noSuchHost), last], trustsAbsence: false, clock: time.clock)
    #expect(try await asking.resolve(query).source == "last")
  }

  @Test("goes on when one takes too long, and calls it off")
  func silence() async throws {
    let cancelled = Locked(false)
    let time = time
    let silent = Scripted("silent") { _ in
      do {
        try await time.clock.sleep(.seconds(1_000))
      } catch {
        cancelled.withLock { $0 = true }
        throw error
      }
      throw HostError(.resolverFailed, "unreachable")
    }
    let chain = ResolverChain(
      [silent, try Scripted("second", address: "203.0.113.2")], timeout: .seconds(5), clock: time.clock)
    async let resolution = chain.resolve(query)
    await time.untilSleeping(2)
    time.advance(by: .seconds(5))
    #expect(try await resolution.source == "second")
    #expect(cancelled.withLock { $0 })
  }

  @Test("says what each of them said when none has an answer")
  func none() async {
    let chain = ResolverChain(
      [Scripted("first", failing: .notListed), Scripted("second", failing: .resolverFailed)], clock: time.clock)
    let error = await #expect(throws: HostError.self) { try await chain.resolve(query) }
    #expect(error?.code == .resolverFailed)
    #expect(error?.message.contains("first: no luck. second: no luck.") == true)
    let unlisted = ResolverChain([Scripted("first", failing: .notListed)], clock: time.clock)
    let missing = await #expect(throws: HostError.self) { try await unlisted.resolve(query) }
    #expect(missing?.code == .notListed)
  }

  @Test("ends when its task is cancelled, and asks nobody else")
  func cancelled() async throws {
    let time = time
    let query = query
    let second = try Scripted("second", address: "203.0.113.2")
    let silent = Scripted("silent") { _ in
      try await time.clock.sleep(.seconds(1_000))
      throw HostError(.resolverFailed, "unreachable")
    }
    let chain = ResolverChain([silent, second], clock: time.clock)
    let task = Task { try await chain.resolve(query) }
    await time.untilSleeping(2)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(second.calls == 0)
  }
}
