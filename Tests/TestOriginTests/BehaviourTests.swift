import Foundation
import TestOrigin
import TestSupport
import Testing

@Suite("Connections that are treated badly", .timeLimit(.minutes(5)))
struct BehaviourTests {
  @Test("closed at once")
  func close() async throws {
    try await withOrigin(behaviour: .close) { origin in
      let (text, error) = try BlockingClient.exchange("", with: origin)
      #expect(text == "")
      #expect(error == 0)
      #expect(origin.connectionCount == 1)
    }
  }

  @Test("reset at once")
  func reset() async throws {
    try await withOrigin(behaviour: .reset) { origin in
      let (text, error) = try BlockingClient.exchange("", with: origin)
      #expect(text == "")
      #expect(error == ECONNRESET)
    }
  }

  @Test("silent: what comes is noted, and nothing is said until the server stops")
  func silent() async throws {
    let origin = try await TestOrigin.start(behaviour: .silent)
    let client = try await RawClient(origin)
    try await client.request("/hello")
    await origin.until { $0.rawBytes.first?.hasSuffix("\r\n\r\n") == true }
    #expect(origin.requests.isEmpty)
    await origin.stop()
    #expect(try await client.readToEnd() == "")
  }

  @Test("silent with TLS: not even a handshake")
  func silentBeforeHandshake() async throws {
    let origin = try await TestOrigin.start(tls: .init(authority: try TestAuthority()), behaviour: .silent)
    let client = try await RawClient(origin, tls: ClientTLS())
    await origin.until { $0.connections.first?.rawBytes.first == 22 }
    await origin.stop()
    #expect(await failure { try await client.applicationProtocol() } != nil)
    #expect(origin.handshakeFailures.isEmpty)
  }

  @Test("silent after the handshake")
  func silentAfterHandshake() async throws {
    let origin = try await TestOrigin.start(
      tls: .init(authority: try TestAuthority()), behaviour: .silentAfterHandshake)
    let client = try await RawClient(origin, tls: ClientTLS(applicationProtocols: ["http/1.1"]))
    #expect(try await client.applicationProtocol() == "http/1.1")
    try await client.request("/hello")
    await origin.until { $0.rawBytes.first?.hasSuffix("\r\n\r\n") == true }
    #expect(origin.requests.isEmpty)
    await origin.stop()
    #expect(try await client.readToEnd() == "")
  }

  @Test("answered with garbage")
  func garbage() async throws {
    try await withOrigin(behaviour: .garbage(Data("no HTTP".utf8))) { origin in
      let client = try await RawClient(origin)
      try await client.request("/hello")
      #expect(try await client.readToEnd() == "no HTTP")
    }
  }

  @Test("garbage with TLS comes in place of the handshake")
  func garbageBeforeHandshake() async throws {
    try await withOrigin(tls: .init(authority: try TestAuthority()), behaviour: .garbage(Data("no TLS".utf8))) {
      origin in
      let client = try await RawClient(origin, tls: ClientTLS())
      #expect(await failure { try await client.applicationProtocol() } != nil)
    }
  }

  @Test("what is set while the server runs counts for later connections")
  func atRunTime() async throws {
    try await withOrigin { origin in
      let early = try await RawClient(origin)
      try await early.request("/hello")
      #expect(try await early.read(through: "hello").hasSuffix("hello"))
      origin.behaviour = .close
      #expect(try await RawClient(origin).readToEnd() == "")
      try await early.request("/hello")
      #expect(try await early.read(through: "hello").hasSuffix("hello"))
      origin.behaviour = .serve
      let late = try await RawClient(origin)
      try await late.request("/hello")
      #expect(try await late.read(through: "hello").hasSuffix("hello"))
    }
  }

  @Test(
    "one address may behave otherwise than the rest",
    .enabled(if: Platform.hasLoopbackRange, "Apple systems have no 127.0.0.2"))
  func perHost() async throws {
    try await withOrigin(hosts: ["127.0.0.1", "127.0.0.2"]) { origin in
      origin.setBehaviour(.close, on: "127.0.0.2")
      #expect(try await RawClient(origin, host: "127.0.0.2").readToEnd() == "")
      let client = try await RawClient(origin, host: "127.0.0.1")
      try await client.request("/hello")
      #expect(try await client.read(through: "hello").hasSuffix("hello"))
    }
  }
}
