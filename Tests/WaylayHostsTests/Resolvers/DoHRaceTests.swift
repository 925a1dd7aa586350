#if canImport(FoundationNetworking)
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore

  @testable import WaylayHosts

  @Suite("DNS over HTTPS at several addresses", .timeLimit(.minutes(5)))
  struct DoHRaceTests {
    private static func zone(_ question: DNSQuestion) throws -> DNSMessage? {
      guard question.type == .a else { return try Messages.answer(question.name.description, question.type, []) }
      return try Messages.answer(
        question.name.description, .a, [Messages.address(question.name.description, "203.0.113.7", seconds: 900)])
    }

    @Test("nobody waits for addresses of the server that say nothing, and they are remembered")
    func silentAddresses() async throws {
      try await DoHOrigin.with(Self.zone) { server in
        let hosts = ["127.0.0.2", "127.0.0.3", "127.0.0.4"]
        let silent = try await TestOrigin.start(hosts: hosts, port: server.origin.port, behaviour: .silent)
        let time = Locked<Duration?>(nil)
        let clock = HostClock(now: { time.withLock { $0 } ?? HostClock.system.time() }, date: HostClock.system.date) {
          duration in
          try await HostClock.system.sleep(time.withLock { $0 } == nil ? duration : .seconds(1_000_000))
        }
        let resolver = try server.resolver(
          addresses: ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.1"], clock: clock
        ) {
          $0.timeout = .seconds(60)
        }
        let query = HostAuthority(try HostName("www.example.com"))
        #expect(try await resolver.resolve(query).endpoints.map(\.address.literal) == ["203.0.113.7"])
        // No time passes any more: what had to wait for a silent address would wait for ever.
        time.withLock { $0 = HostClock.system.time() }
        #expect(try await resolver.resolve(query).endpoints.count == 1)
        #expect(server.origin.requests.allSatisfy { $0["user-agent"] == ["waylay"] })
        await silent.stop()
      }
    }

    @Test("a kept connection that has died costs one lookup its silence, and is closed")
    func deadConnection() async throws {
      try await DoHOrigin.with(Self.zone) { server in
        let origin = server.origin
        let time = StepClock()
        let resolver = try server.resolver(clock: time.clock) { $0.timeout = .seconds(30) }
        let query = HostAuthority(try HostName("www.example.com"))
        #expect(try await resolver.resolve(query).endpoints.count == 1)
        // One for each question where they cannot share one.
        let dead = origin.connectionCount
        #expect(dead == 1 || !CurlTransport.canMultiplex)
        server.silence.withLock { $0 = { $0.connection <= dead } }
        let before = origin.requests.count
        async let first = resolver.resolve(query)
        // For addresses of both kinds and for services.
        await origin.until { $0.requests.count == before + 3 }
        time.advance(by: .seconds(10))
        // No time passes any more: what had to wait for the dead connection would wait for ever.
        #expect(try await first.endpoints.count == 1)
        await origin.until { $0.connections.prefix(dead).allSatisfy { !$0.isOpen } }
        for _ in 0..<3 { #expect(try await resolver.resolve(query).endpoints.count == 1) }
      }
    }

    @Test("lookups at once wait for a dead address of the server once, and not at all later")
    func deadAddress() async throws {
      try await DoHOrigin.with(hosts: ["127.0.0.1", "127.0.0.2"], Self.zone) { server in
        let time = StepClock()
        let resolver = try server.resolver(addresses: ["127.0.0.1", "127.0.0.2"], clock: time.clock) {
          $0.timeout = .seconds(30)
        }
        #expect(try await resolver.resolve(HostAuthority(HostName("www.example.com"))).endpoints.count == 1)
        server.silence.withLock { $0 = { $0.localAddress == "127.0.0.1" } }
        server.origin.setBehaviour(.silent, on: "127.0.0.1")
        let (kept, before) = (server.origin.openConnectionCount, server.origin.requests.count)
        await withTaskGroup(of: Void.self) { group in
          for number in 0..<30 {
            group.addTask {
              let answer = try? await resolver.resolve(HostAuthority(HostName("www\(number).example.com")))
              #expect(answer?.endpoints.count == 1)
            }
          }
          await server.origin.until { $0.requests.count >= before + kept }
          time.advance(by: .seconds(10))
        }
        // No time passes any more: what had to wait for the dead address would wait for ever.
        #expect(try await resolver.resolve(HostAuthority(HostName("www.example.com"))).endpoints.count == 1)
      }
    }

    @Test("a thousand addresses in an answer are too many")
    func manyAddresses() async throws {
      try await DoHOrigin.with { question in
        let name = question.name.description
        guard question.type == .a else { return try Messages.answer(name, question.type, []) }
        return try Messages.answer(
          name, .a, (0..<1_000).map { try Messages.address(name, "203.0.\($0 / 250).\($0 % 250)", seconds: 900) })
      } _: { server in
        let resolution = try await server.resolver().resolve(HostAuthority(HostName("www.example.com")))
        #expect(resolution.endpoints.count == HostResolution.mostCandidates)
      }
    }
  }
#endif
