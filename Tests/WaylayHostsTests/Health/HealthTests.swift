import Foundation
import Testing
import WaylayCore
@testable import WaylayHosts

@Suite("Health of addresses", .timeLimit(.minutes(5)))
struct HealthTests {
  private let time = StepClock()
  private let place: HostAuthority

  init() throws {
    place = HostAuthority(try HostName("api.test"), port: 443)
  }

  private func health(_ policy: HostRewriter.Policy = .require, capacity: Int = 4096) -> HostHealth {
    HostHealth(policy: policy, clock: time.clock, capacity: capacity)
  }

  private func candidate(_ text: String, port: Int = 443) throws -> HostCandidate {
    HostCandidate(try HostAddress(text), port: port, source: "rule")
  }

  private func order(_ health: HostHealth, _ texts: [String]) throws -> [String] {
    let candidates = try texts.map { try candidate($0) }
    return Ranking(candidates, records: health.records(of: candidates, at: place), at: time.now).entries.map(
      \.candidate.address.literal)
  }

  @Test("untried addresses keep the order of the rule, with the families alternating from the first one's")
  func interleaving() throws {
    let mixed = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "2001:db8::1", "2001:db8::2"]
    #expect(try order(health(), mixed) == ["192.0.2.1", "2001:db8::1", "192.0.2.2", "2001:db8::2", "192.0.2.3"])
    #expect(try order(health(), ["2001:db8::1", "192.0.2.1"]) == ["2001:db8::1", "192.0.2.1"])
  }

  @Test("proven addresses come first by their measured time, then untried ones, then overtaken ones, banned ones last")
  func ranking() throws {
    let health = health()
    health.responded(try candidate("192.0.2.5"), at: place, handshake: .milliseconds(80))
    health.responded(try candidate("192.0.2.4"), at: place, handshake: .milliseconds(20))
    health.superseded(try candidate("192.0.2.2"), at: place, after: .milliseconds(250))
    health.failed(try candidate("192.0.2.1"), at: place, .refused)
    #expect(
      try order(health, ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5"])
        == ["192.0.2.4", "192.0.2.5", "192.0.2.3", "192.0.2.2", "192.0.2.1"])
  }

  @Test("when all are banned, the one that failed longest ago comes first")
  func allBanned() throws {
    let health = health()
    for text in ["192.0.2.2", "192.0.2.3", "192.0.2.1"] {
      health.failed(try candidate(text), at: place, .refused)
      time.advance(by: .seconds(1))
    }
    #expect(try order(health, ["192.0.2.1", "192.0.2.2", "192.0.2.3"]) == ["192.0.2.2", "192.0.2.3", "192.0.2.1"])
  }

  @Test("measured times are smoothed: a new one counts for three tenths")
  func smoothing() throws {
    let health = health()
    let one = try candidate("192.0.2.1")
    health.responded(one, at: place, handshake: .milliseconds(100))
    health.responded(one, at: place, handshake: .milliseconds(200))
    #expect(health.records(of: [one], at: place)[0].smoothed == .milliseconds(130))
    health.responded(one, at: place, handshake: nil)
    #expect(health.records(of: [one], at: place)[0].smoothed == .milliseconds(130))
  }

  @Test("a ban for a failure of the network is short, doubles with each one in a row, and ends")
  func networkBans() throws {
    let health = health()
    let one = try candidate("192.0.2.1")
    func ban() -> AddressBan? { health.records(of: [one], at: place)[0].ban(at: time.now) }
    for seconds in [30, 60, 120, 240, 480, 600, 600] {
      health.failed(one, at: place, .timedOut)
      time.advance(by: .seconds(seconds) - .milliseconds(1))
      #expect(ban()?.cause == .timedOut)
      time.advance(by: .milliseconds(1))
      #expect(ban() == nil)
    }
    health.responded(one, at: place, handshake: nil)
    health.failed(one, at: place, .refused)
    time.advance(by: .seconds(30))
    #expect(ban() == nil)
  }

  @Test("a suspected hijack is banned for an hour or until the network changes; an answer lifts any ban")
  func hijackBans() throws {
    let health = health()
    let one = try candidate("192.0.2.1")
    func isBanned() -> Bool { health.records(of: [one], at: place)[0].ban(at: time.now) != nil }
    health.failed(one, at: place, .certificateRefused)
    time.advance(by: .seconds(3599))
    #expect(isBanned())
    health.networkChanged()
    #expect(!isBanned())
    health.failed(one, at: place, .certificateRefused)
    health.responded(one, at: place, handshake: .milliseconds(5))
    #expect(!isBanned())
    health.failed(one, at: place, .protocolMismatch)
    time.advance(by: .seconds(3600))
    #expect(!isBanned())
  }

  @Test("what is held against an address holds for one host and port only")
  func places() throws {
    let health = health()
    let one = try candidate("192.0.2.1")
    health.failed(one, at: place, .certificateRefused)
    let other = HostAuthority(try HostName("www.test"), port: 443)
    #expect(health.records(of: [one], at: other)[0].ban == nil)
    #expect(health.records(of: [try candidate("192.0.2.1", port: 8443)], at: place)[0].ban == nil)
  }

  @Test("deadlines follow what was measured, within their limits")
  func deadlines() throws {
    let health = health()
    let one = try candidate("192.0.2.1")
    #expect(health.deadline(of: one, at: place) == .seconds(3))
    health.responded(one, at: place, handshake: .milliseconds(10))
    #expect(health.deadline(of: one, at: place) == .milliseconds(1200))
    // The network turns slow: two seconds for each connection.
    for _ in 0..<20 { health.responded(one, at: place, handshake: .seconds(2)) }
    #expect(health.deadline(of: one, at: place) > .seconds(4))
    for _ in 0..<20 { health.responded(one, at: place, handshake: .seconds(60)) }
    #expect(health.deadline(of: one, at: place) == .seconds(20))
  }

  @Test("remembers so many addresses, and forgets those that were used longest ago")
  func capacity() throws {
    let health = health(capacity: 16)
    let first = try candidate("192.0.2.200")
    health.responded(first, at: place, handshake: .milliseconds(1))
    for number in 1...40 {
      time.advance(by: .seconds(1))
      health.responded(try candidate("192.0.2.\(number)"), at: place, handshake: .milliseconds(1))
    }
    #expect(!health.records(of: [first], at: place)[0].isProven)
    #expect(health.records(of: [try candidate("192.0.2.40")], at: place)[0].isProven)
    let kept = try (1...40).filter { health.records(of: [try candidate("192.0.2.\($0)")], at: place)[0].isProven }
    #expect(kept.count <= 16)
  }
}

@Suite("What requests teach", .timeLimit(.minutes(5)))
struct LearningTests {
  @Test("an address that was banned is not tried again while another answers, and is when nothing else does")
  func bans() async throws {
    let rig = try Rig(["127.0.0.1": .fails(.rogue), "127.0.0.2": .answers()])
    for _ in 0..<3 { try await rig.load() }
    #expect(rig.network.visited == ["127.0.0.1", "127.0.0.2", "127.0.0.2", "127.0.0.2"])
    #expect(try await rig.states() == ["127.0.0.2 proven", "127.0.0.1 banned: certificate refused"])
    rig.network.set(.fails(.refused), for: "127.0.0.2")
    rig.network.set(.answers(), for: "127.0.0.1")
    #expect(try await rig.load() == "127.0.0.1")
    #expect(try await rig.states() == ["127.0.0.1 proven", "127.0.0.2 banned: refused"])
  }

  @Test("an address that was slower than another is not banned, and comes after it; one that was late is")
  func slowness() async throws {
    let rig = try Rig(["127.0.0.1": .hangs, "127.0.0.2": .answers(after: .milliseconds(100))])
    async let first = rig.load()
    await rig.network.time.sleeper(until: .milliseconds(250))
    rig.network.time.advance(by: .milliseconds(250))
    await rig.network.time.sleeper(until: .milliseconds(350))
    rig.network.time.advance(by: .milliseconds(100))
    #expect(try await first == "127.0.0.2")
    #expect(rig.rewriter.counters.bans == 0)
    #expect(try await rig.states() == ["127.0.0.2 proven", "127.0.0.1 superseded before"])
  }

  @Test("an address that was late one by one is banned once another has answered in good time")
  func lateness() async throws {
    var policy = HostRewriter.Policy.require
    policy.connectionAttemptDelay = nil
    let rig = try Rig(["127.0.0.1": .hangs, "127.0.0.2": .answers()], policy: policy)
    async let answer = rig.load()
    await rig.network.time.sleeper(until: .seconds(3))
    rig.network.time.advance(by: .seconds(3))
    _ = try await answer
    #expect(try await rig.states() == ["127.0.0.2 proven", "127.0.0.1 banned: timed out"])
  }

  @Test(
    "a slow network bans nobody: an address that is late counts as slow when the one that answers was hardly faster")
  func slowNetwork() async throws {
    var policy = HostRewriter.Policy.require
    policy.connectionAttemptDelay = nil
    let rig = try Rig(
      ["127.0.0.1": .answers(after: .seconds(4)), "127.0.0.2": .answers(after: .milliseconds(2900))], policy: policy)
    async let answer = rig.load()
    await rig.network.time.sleeper(until: .seconds(3))
    rig.network.time.advance(by: .seconds(3))
    await rig.network.time.sleeper(until: .milliseconds(5900))
    rig.network.time.advance(by: .milliseconds(2900))
    #expect(try await answer == "127.0.0.2")
    #expect(rig.rewriter.counters.bans == 0)
  }

  @Test("a server that is verified and fails on a request is not banned: others are preferred")
  func verified() async throws {
    let rig = try Rig(["127.0.0.1": .fails(.sentAndLost), "127.0.0.2": .answers()])
    try await rig.load()
    #expect(rig.rewriter.counters.bans == 0)
    #expect(try await rig.states() == ["127.0.0.2 proven", "127.0.0.1 failed before"])
  }

  @Test("a proven address gets requests directly for a minute, then in a race again")
  func direct() async throws {
    let rig = try Rig(["127.0.0.1": .answers(), "127.0.0.2": .answers()])
    for _ in 0..<3 { try await rig.load() }
    rig.network.time.advance(by: .seconds(61))
    try await rig.load()
    #expect(rig.network.visited == Array(repeating: "127.0.0.1", count: 4))
    let limits = rig.network.visits.map { $0.request.route?.connectTimeout }
    #expect(limits == [.seconds(20), .milliseconds(250), .milliseconds(250), .seconds(20)])
  }

  @Test("a proven address that goes dark costs one request the stagger; those after it go elsewhere")
  func darkened() async throws {
    let rig = try Rig(["127.0.0.1": .answers(), "127.0.0.2": .answers()])
    try await rig.load()
    rig.network.set(.hangs, for: "127.0.0.1")
    async let answer = rig.load("POST")
    await rig.network.time.sleeper(until: .milliseconds(250))
    rig.network.time.advance(by: .milliseconds(250))
    #expect(try await answer == "127.0.0.2")
    #expect(try await rig.load() == "127.0.0.2")
    #expect(rig.network.visited == ["127.0.0.1", "127.0.0.1", "127.0.0.2", "127.0.0.2"])
    #expect(rig.rewriter.counters.bans == 0)
  }

  @Test("the only address of a host has all the time that the request has, once it is proven")
  func onlyOne() async throws {
    let rig = try Rig(["127.0.0.1": .answers()])
    try await rig.load()
    try await rig.load()
    #expect(rig.network.visits.map { $0.request.route?.connectTimeout } == [.seconds(20), nil])
  }

  @Test("over http an address that was proven and is silent until the app gives up is doubted by the next request")
  func silentUntilCancelled() async throws {
    let rig = try Rig(["127.0.0.1": .answers(), "127.0.0.2": .answers()])
    try await rig.load("GET", "http://api.test/")
    rig.network.set(.takesAndIsSilent, for: "127.0.0.1")
    let load = Task { try await rig.load("GET", "http://api.test/") }
    await rig.network.visits(2)
    rig.network.time.advance(by: .seconds(11))
    load.cancel()
    _ = await load.result
    #expect(try await rig.load("GET", "http://api.test/") == "127.0.0.2")
  }

  @Test("after a change of network everything is untried again")
  func networkChange() async throws {
    let rig = try Rig(["127.0.0.1": .fails(.rogue), "127.0.0.2": .answers()])
    try await rig.load()
    rig.rewriter.networkChanged()
    #expect(try await rig.states() == ["127.0.0.1 untried", "127.0.0.2 untried"])
  }
}
