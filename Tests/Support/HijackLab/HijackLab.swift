public import Foundation
public import TestOrigin

/// A good server and a hijacker of every kind, all on one port: each has a loopback address of its own.
///
/// The good one answers as `api.test`, `www.test` and `other.test` on `127.0.0.1` and `::1`, and says so in the field
/// `X-Served-By`. For tests, the tour and stress runs on Linux only; other systems have no addresses beyond
/// `127.0.0.1`.
public final class HijackLab: Sendable {
  /// The names that the good server has a certificate for.
  public static let names = ["api.test", "www.test", "other.test"]
  /// Where the good server listens.
  public static let goodAddresses = ["127.0.0.1", "::1"]
  /// What the good server answers with.
  public static let answer = "the real answer"
  /// What a portal answers with.
  public static let portalPage = "Welcome to the hotel"

  /// Who has issued the good server's certificate.
  public let authority: TestAuthority
  /// The good server.
  public let good: TestOrigin
  /// The hijackers that are servers; the black hole and the refusal are none.
  private let servers: [Hijacker: TestOrigin]
  private let blackHole: BlackHole
  private let closedPort: ClosedPort

  /// The port of them all.
  public var port: Int { good.port }

  /// Starts all servers, with TLS or without; those with TLS speak these protocols, the preferred one first.
  public static func start(isSecure: Bool, protocols: [String] = ["h2", "http/1.1"]) async throws -> HijackLab {
    var attempts = 0
    while true {
      do { return try await HijackLab(isSecure: isSecure, protocols: protocols) } catch {
        // The port is free on the good addresses, and somebody else may have it on another.
        attempts += 1
        guard attempts < 50 else { throw error }
      }
    }
  }

  private init(isSecure: Bool, protocols: [String]) async throws {
    let authority = try TestAuthority()
    func tls(_ kind: TestOrigin.TLS.Certificate.Kind = .valid) -> TestOrigin.TLS? {
      guard isSecure else { return nil }
      var tls = TestOrigin.TLS(authority: authority, names: Self.names, kind: kind)
      tls.applicationProtocols = protocols
      return tls
    }
    let good = try await TestOrigin.start(hosts: Self.goodAddresses, tls: tls())
    good.reply(to: "/") { _ in .text(Self.answer, fields: [("X-Served-By", "good")]) }
    let port = good.port
    var servers: [Hijacker: TestOrigin] = [:]
    do {
      let plans: [(Hijacker, TestOrigin.TLS?, TestOrigin.Behaviour)] = [
        (.rogueCertificate, tls(.unknownAuthority), .serve), (.wrongName, tls(.wrongName), .serve),
        (.close, nil, .close),
        (.reset, nil, .reset), (.silence, nil, .silent), (.portal, nil, .serve),
      ]
      for (hijacker, tls, behaviour) in plans {
        let server = try await TestOrigin.start(hosts: [hijacker.address], port: port, tls: tls, behaviour: behaviour)
        servers[hijacker] = server
        // Without TLS a certificate cannot be wrong, and the page is all that there is.
        for path in ["/", "/hello"] { server.reply(to: path) { _ in .text(Self.portalPage) } }
      }
      blackHole = try BlackHole(host: Hijacker.blackHole.address, port: port)
      closedPort = try ClosedPort(host: Hijacker.refusal.address, port: port)
    } catch {
      for server in servers.values { await server.stop() }
      await good.stop()
      throw error
    }
    self.authority = authority
    self.good = good
    self.servers = servers
  }

  /// Stops all servers.
  public func stop() async {
    for server in servers.values { await server.stop() }
    await good.stop()
    closedPort.close()
  }

  /// The URL of a path on the good server, under one of its names.
  public func url(_ path: String = "/", host: String = "api.test") -> URL { good.url(path, host: host) }

  /// The server that a hijacker is, if it is one.
  public func server(_ hijacker: Hijacker) -> TestOrigin? { servers[hijacker] }
}
