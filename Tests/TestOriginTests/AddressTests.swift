import Foundation
import NIOCore
import TestOrigin
import TestSupport
import Testing

@Suite("Several addresses", .timeLimit(.minutes(5)))
struct AddressTests {
  @Test(
    "one port serves several addresses, and a request tells which it came in on",
    .enabled(if: Platform.hasLoopbackRange && Platform.hasIPv6Loopback, "Apple systems have no 127.0.0.2"))
  func several() async throws {
    let hosts = ["127.0.0.1", "127.0.0.2", "::1"]
    try await withOrigin(hosts: hosts) { origin in
      for host in hosts {
        let client = try await RawClient(origin, host: host)
        try await client.request("/hello")
        #expect(try await client.read(through: "hello").hasPrefix("HTTP/1.1 200 OK\r\n"))
        await client.close()
      }
      #expect(origin.requests.map(\.localAddress) == hosts)
      #expect(origin.connections.map(\.localAddress) == hosts)
      #expect(origin.connections.map(\.remoteAddress) == ["127.0.0.1", "127.0.0.1", "::1"])
      #expect(origin.connections.allSatisfy { $0.remotePort > 0 })
      #expect(origin.url("/a").absoluteString == "http://127.0.0.1:\(origin.port)/a")
      #expect(origin.url("/a", host: "::1").absoluteString == "http://[::1]:\(origin.port)/a")
    }
  }

  @Test(
    "many servers on several addresses find ports",
    .enabled(if: Platform.hasLoopbackRange, "Apple systems have no 127.0.0.2"))
  func many() async throws {
    try await withThrowingTaskGroup(of: TestOrigin.self) { group in
      for _ in 0..<20 { group.addTask { try await TestOrigin.start(hosts: ["127.0.0.1", "127.0.0.2", "127.0.0.3"]) } }
      var origins: [TestOrigin] = []
      for try await origin in group { origins.append(origin) }
      #expect(Set(origins.map(\.port)).count == 20)
      for origin in origins { await origin.stop() }
    }
  }

  @Test("a port that somebody listens on, or keeps closed, cannot be taken")
  func taken() async throws {
    try await withOrigin { origin in
      for _ in 0..<2 {
        let error = await failure { try ClosedPort(port: origin.port) }
        #expect((error as? IOError)?.errnoCode == EADDRINUSE)
        try await origin.stopListening()
      }
    }
  }

  @Test(
    "one address refuses connections while another accepts them, and accepts them again",
    .enabled(if: Platform.hasLoopbackRange, "Apple systems have no 127.0.0.2"))
  func refusing() async throws {
    try await withOrigin(hosts: ["127.0.0.1", "127.0.0.2"]) { origin in
      let early = try await RawClient(origin, host: "127.0.0.2")
      // Only then has the server taken the connection, too.
      try await early.request("/hello")
      #expect(try await early.read(through: "hello").hasSuffix("hello"))
      try await origin.stopListening(on: "127.0.0.2")
      #expect(await failure { try await RawClient(origin, host: "127.0.0.2") } != nil)

      let other = try await RawClient(origin, host: "127.0.0.1")
      try await other.request("/hello")
      #expect(try await other.read(through: "hello").hasSuffix("hello"))
      // What was connected stays so.
      try await early.request("/hello")
      #expect(try await early.read(through: "hello").hasSuffix("hello"))

      try await origin.resumeListening(on: "127.0.0.2")
      let late = try await RawClient(origin, host: "127.0.0.2")
      try await late.request("/hello")
      #expect(try await late.read(through: "hello").hasSuffix("hello"))
    }
  }

  @Test("a closed port refuses connections, and nobody else gets it")
  func closedPort() async throws {
    let port = try ClosedPort()
    #expect(await failure { try await URLSession.fetch(port.url()) } as? URLError != nil)
    #expect(await failure { try ClosedPort(port: port.port) } != nil)
    // Whether it is free again is not asked: another test may have been given it meanwhile.
    port.close()
  }

  @Test("a server that has stopped hears of no connections")
  func stopped() async throws {
    let origin = try await TestOrigin.start(host: "127.0.0.1")
    await origin.stop()
    // Somebody else may have been given the port meanwhile; this server does not hear of it.
    _ = await failure { try await RawClient(origin) }
    #expect(origin.connectionCount == 0)
  }
}
