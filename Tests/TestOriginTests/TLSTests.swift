import Foundation
import NIOSSL
import TestOrigin
import TestSupport
import Testing

@Suite("TLS", .timeLimit(.minutes(5)))
struct TLSTests {
  private let authority: TestAuthority

  init() throws { authority = try TestAuthority() }

  /// Asks for a page with a client that trusts the authority.
  private func hello(_ origin: TestOrigin, _ tls: ClientTLS) async throws -> String {
    let client = try await RawClient(origin, tls: tls)
    try await client.request("/hello", fields: ["Connection: close"])
    return try await client.readToEnd()
  }

  private func expectHello(
    _ origin: TestOrigin, _ tls: ClientTLS, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let text = try await hello(origin, tls)
    #expect(text.hasSuffix("\r\n\r\nhello"), sourceLocation: sourceLocation)
  }

  private func trusting(_ serverName: String? = nil, _ protocols: [String] = []) -> ClientTLS {
    ClientTLS(authority: authority, serverName: serverName, applicationProtocols: protocols)
  }

  @Test("a client that trusts the authority is served, and the log tells what was agreed on")
  func trusted() async throws {
    try await withOrigin(tls: .init(authority: authority, names: ["api.test"])) { origin in
      try await expectHello(origin, trusting("api.test", ["http/1.1"]))
      let connection = try #require(origin.connections.first)
      #expect(connection.sni == "api.test")
      #expect(connection.alpn == "http/1.1")
      #expect(connection.tlsVersion == .v1_3)
      #expect(connection.handshakeFailure == nil)
      #expect(String(decoding: connection.rawBytes, as: UTF8.self).hasPrefix("GET /hello HTTP/1.1\r\nHost: test\r\n"))
      #expect(origin.connection(of: origin.requests[0]).number == 1)
      #expect(origin.url("/a", host: "api.test").absoluteString == "https://api.test:\(origin.port)/a")
      await origin.until { $0.openConnectionCount == 0 }
      #expect(origin.connections[0].isOpen == false)
      #expect(origin.handshakeFailures.isEmpty)
    }
  }

  @Test("a client that asks for an address sends no name, and the certificate is good for the address")
  func address() async throws {
    try await withOrigin(tls: .init(authority: authority)) { origin in
      try await expectHello(origin, trusting())
      #expect(origin.connections[0].sni == nil)
      #expect(origin.connections[0].alpn == nil)
    }
  }

  @Test(
    "a bad certificate is turned down, and counted",
    arguments: [
      TestOrigin.TLS.Certificate.Kind.missingIntermediate, .expired, .notYetValid, .wrongName, .selfSigned,
      .unknownAuthority,
    ])
  func bad(_ kind: TestOrigin.TLS.Certificate.Kind) async throws {
    try await withOrigin(tls: .init(authority: authority, names: ["api.test"], kind: kind)) { origin in
      #expect(await failure { try await hello(origin, trusting("api.test")) } != nil)
      await origin.until { $0.openConnectionCount == 0 }
      #expect(origin.requests.isEmpty)
      #expect(origin.rawBytes.allSatisfy { $0.isEmpty })
      // A client finds out about the name after the handshake, and may be gone before the server has noticed that it is
      // over.
      #expect(kind == .wrongName || origin.handshakeFailures.count == 1, "\(origin.handshakeFailures)")
    }
  }

  @Test(
    "a client that checks nothing is served whatever the certificate is like",
    arguments: TestOrigin.TLS.Certificate.Kind.allCases)
  func unchecked(_ kind: TestOrigin.TLS.Certificate.Kind) async throws {
    try await withOrigin(tls: .init(authority: authority, names: ["api.test"], kind: kind)) { origin in
      try await expectHello(origin, ClientTLS())
    }
  }

  @Test("an intermediate authority that is sent along is as good as none")
  func intermediate() async throws {
    try await withOrigin(tls: .init(authority: authority, names: ["api.test"], kind: .intermediate)) { origin in
      try await expectHello(origin, trusting("api.test"))
    }
  }

  @Test("the client's name selects the certificate; without a match it gets the first")
  func selection() async throws {
    let tls = TestOrigin.TLS(
      authority: authority,
      certificates: [
        .init(names: ["first.test"]), .init(names: ["*.second.test"]), .init(names: ["third.test"], kind: .expired),
      ])
    try await withOrigin(tls: tls) { origin in
      try await expectHello(origin, trusting("first.test"))
      try await expectHello(origin, trusting("api.second.test"))
      for name in ["third.test", "a.b.second.test", "second.test", "other.test"] {
        #expect(await failure { try await hello(origin, trusting(name)) } != nil, "\(name)")
      }
      let names = ["first.test", "api.second.test", "third.test", "a.b.second.test", "second.test", "other.test"]
      #expect(origin.connections.map(\.sni) == names)
    }
  }

  @Test("each version of TLS can be the only one", arguments: TestOrigin.TLS.Version.allCases)
  func version(_ version: TestOrigin.TLS.Version) async throws {
    var tls = TestOrigin.TLS(authority: authority)
    tls.versions = version...version
    try await withOrigin(tls: tls) { origin in
      try await expectHello(origin, trusting())
      #expect(origin.connections[0].tlsVersion == version)
    }
  }

  @Test("clients of another version are turned down, and counted")
  func versionMismatch() async throws {
    var tls = TestOrigin.TLS(authority: authority)
    tls.versions = .v1_3 ... .v1_3
    try await withOrigin(tls: tls) { origin in
      var old = trusting()
      old.maximumVersion = .tlsv12
      #expect(await failure { try await hello(origin, old) } != nil)
      await origin.until { $0.openConnectionCount == 0 }
      #expect(origin.handshakeFailures.count == 1)
      #expect(origin.connections[0].tlsVersion == nil)
    }
  }

  @Test("a client that speaks no TLS, or leaves before the handshake is over, is a failed handshake")
  func noHandshake() async throws {
    try await withOrigin(tls: .init(authority: authority)) { origin in
      let plain = try await RawClient(origin)
      try await plain.request("/hello")
      _ = try? await plain.readToEnd()
      let mute = try await RawClient(origin)
      await mute.close()
      await origin.until { $0.connectionCount == 2 && $0.openConnectionCount == 0 }
      #expect(origin.handshakeFailures.count == 2)
      #expect(origin.connections[1].handshakeFailure == "closed before the handshake was over")
    }
  }

  @Test("the authority's certificate is there as text, as bytes and as a file that goes with it")
  func authorityFile() throws {
    var another: TestAuthority? = try TestAuthority(name: "Another")
    let file = try #require(try another?.file())
    let certificate = try NIOSSLCertificate(bytes: Array(try Data(contentsOf: file)), format: .pem)
    #expect(try certificate.toDERBytes() == another.map { Array($0.der) })
    #expect(another?.pem.hasPrefix("-----BEGIN CERTIFICATE-----\n") == true)
    another = nil
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  @Test("a server with open connections stops without waiting for its clients")
  func stop() async throws {
    let origin = try await TestOrigin.start(tls: .init(authority: authority))
    let client = try await RawClient(origin, tls: trusting())
    try await client.request("/hello")
    _ = try await client.read(through: "hello")
    await origin.stop()
    // The client has not closed its end: the server is done with it all the same, once its own end has said so.
    await origin.until { $0.openConnectionCount == 0 }
    await client.close()
  }
}
