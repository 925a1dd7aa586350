import Testing
import WaylayCore

@testable import WaylayHosts

@Suite("Probes of an address", .timeLimit(.minutes(1)))
struct ProbeTests {
  @Test("one that is cancelled while it waits is told so, and the next one tries when the first has ended unknown")
  func cancelledWaiter() async throws {
    let probes = Probes()
    let target = Probes.Target(
      authority: HostAuthority(try HostName("api.test"), port: 443), endpoint: try HostEndpoint("203.0.113.7"))
    var probe: Probes.Probe?
    if case .granted(let granted) = await probes.permit(for: target) { probe = granted }
    #expect(probe != nil)
    let cancelled = Task { await probes.permit(for: target) }
    let next = Task { await probes.permit(for: target) }
    cancelled.cancel()
    guard case .settled(.abandoned) = await cancelled.value else {
      Issue.record("a cancelled request got a permit")
      return
    }
    probe = nil
    guard case .granted = await next.value else {
      Issue.record("nobody tries the address any more")
      return
    }
  }
}
