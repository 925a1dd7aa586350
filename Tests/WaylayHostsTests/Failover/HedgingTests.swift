import Foundation
import TestSupport
import Testing
import WaylayCore
@testable import WaylayHosts

@Suite("A slow answer, and a second server that is asked", .timeLimit(.minutes(5)))
struct HedgingTests {
  private let slow = FakeNetwork.Behaviour.takesAndAnswers(after: .seconds(12))
  private let five = (1...5).map { "127.0.0.\($0)" }

  private func rig() throws -> Rig { try Rig(Dictionary(uniqueKeysWithValues: five.map { ($0, slow) })) }

  @Test("a report that takes twelve seconds is asked of two servers and no more, at first and once they are known")
  func once() async throws {
    let rig = try rig()
    for round in 0..<2 {
      async let answer = rig.load()
      // Before the clock advances: on a busy machine the load starts late.
      await rig.network.visits(2 * round + 1)
      await rig.network.time.sleep(until: .seconds(12 * round + 3))
      await rig.network.visits(2 * round + 2)
      await rig.network.time.sleep(until: .seconds(12 * round + 12))
      #expect(try await answer == "127.0.0.1")
    }
    #expect(rig.network.sent == ["127.0.0.1", "127.0.0.2", "127.0.0.1", "127.0.0.2"])
    #expect(rig.rewriter.counters.faults == 0)
  }

  @Test("a request that says so is with one server, however slow", arguments: [false, true])
  func notAllowed(isProven: Bool) async throws {
    let rig = try rig()
    if isProven {
      rig.network.set(.answers(), for: "127.0.0.1")
      try await rig.load()
      rig.network.set(slow, for: "127.0.0.1")
    }
    let count = rig.network.sent.count
    var request = InterceptedRequest(.get, try #require(URL(string: "https://api.test/report")))
    request.options.allowsHedging = false
    // What an interceptor changes in the projection says nothing of it.
    request.urlRequest.setValue("text/csv", forHTTPHeaderField: "Accept")
    #expect(!request.options.allowsHedging)
    let load = Task { [request] in try await rig.rewriter.startLoading(request, next: rig.network.next) }
    await rig.network.time.sleeper(until: .seconds(12))
    for _ in 0..<130 {
      rig.network.time.advance(by: .milliseconds(100))
      for _ in 0..<10 { await Task.yield() }
    }
    _ = try await load.value
    #expect(rig.network.sent.count == count + 1)
  }

  @Test("a server that answers others meanwhile is slow with one request, and stays preferred")
  func aliveAndSlow() async throws {
    let rig = try Rig(["127.0.0.1": .answers(), "127.0.0.2": .answers()])
    try await rig.load("GET", "http://api.test/")
    rig.network.set(.takesAndIsSilent, for: "127.0.0.1")
    let report = Task { try await rig.load("GET", "http://api.test/report") }
    while rig.network.sent.count < 2 { await Task.yield() }
    rig.network.time.advance(by: .seconds(1))
    rig.network.set(.answers(), for: "127.0.0.1")
    try await rig.load("GET", "http://api.test/")
    await rig.network.time.sleeper(until: .seconds(3))
    rig.network.time.advance(by: .seconds(2))
    #expect(try await report.value == "127.0.0.2")
    #expect(rig.rewriter.counters.bans == 0)
    #expect(try await rig.load("GET", "http://api.test/") == "127.0.0.1")
  }

  @Test("what one request finds silent the others leave at once: those that have sent something, and those that wait")
  func together() async throws {
    let rig = try Rig(["127.0.0.1": .answers(), "127.0.0.2": .answers()])
    try await rig.load()
    rig.network.set(.takesAndIsSilent, for: "127.0.0.1")
    let first = Task { try await rig.load() }
    while rig.network.sent.count < 2 { await Task.yield() }
    rig.network.time.advance(by: .seconds(2))
    let second = Task { try await rig.load() }
    while rig.network.sent.count < 3 { await Task.yield() }
    // As one that waits for a free connection. Nothing of a POST is sent twice.
    rig.network.set(
      .claimsAndFails(.refused, connected: .seconds(1_000), failed: .zero), for: "127.0.0.1")
    let waiting = Task { try await rig.load("POST") }
    await rig.network.visits(4)
    await rig.network.time.sleeper(until: .seconds(3))
    rig.network.time.advance(by: .seconds(1))
    // No time passes any more.
    #expect(try await first.value == "127.0.0.2")
    #expect(try await second.value == "127.0.0.2")
    #expect(try await waiting.value == "127.0.0.2")
    #expect(try await rig.load() == "127.0.0.2")
  }
}
