import Testing
@testable import WaylayHosts

@Suite("The system's resolver", .timeLimit(.minutes(5)))
struct SystemResolverTests {
  @Test("finds what the system finds")
  func found() async throws {
    let resolution = try await SystemResolver().resolve(HostAuthority(HostName("localhost")))
    #expect(resolution.source == "system")
    #expect(!resolution.endpoints.isEmpty)
    #expect(resolution.endpoints.allSatisfy { ["127.0.0.1", "::1"].contains($0.address.literal) })
  }

  @Test("says that a host does not exist, or that nobody could be asked, as an error of ours")
  func missing() async throws {
    let query = HostAuthority(try HostName("does-not-exist.invalid"))
    let error = await #expect(throws: HostError.self) { try await SystemResolver().resolve(query) }
    #expect(error.map { [.noSuchHost, .resolverFailed].contains($0.code) } == true)
    #expect(error?.host == "does-not-exist.invalid")
  }

  @Test("is not waited for once the limit is over")
  func limit() async throws {
    let time = VirtualClock()
    let clock = HostClock(now: time.clock.time, date: time.clock.date) { _ in }
    let error = await #expect(throws: HostError.self) {
      // The limit is over at once: either that or the answer comes first, so the same is tried until it is the limit.
      for _ in 0..<10_000 { _ = try await SystemResolver(clock: clock).resolve(HostAuthority(HostName("localhost"))) }
    }
    #expect(error?.code == .resolverTimedOut)
  }
}
