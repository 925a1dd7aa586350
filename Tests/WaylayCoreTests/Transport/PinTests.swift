// CurlTransport is there on Linux alone.
#if canImport(FoundationNetworking)
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore

  @Suite("Pins and client certificates", .timeLimit(.minutes(5)))
  struct PinTests {
    private static let strange = "sha256/" + Data(count: 32).base64EncodedString()

    /// Runs a test with a server over TLS, and the pin of its key.
    private func withSecureOrigin(
      clientAuthority: TestAuthority? = nil,
      _ body: (TestOrigin, _ pin: String, TestAuthority) async throws -> Void
    ) async throws {
      let authority = try TestAuthority()
      let certificate = TestOrigin.TLS.Certificate(names: TestOrigin.TLS.Certificate.loopback)
      var tls = TestOrigin.TLS(authority: authority, certificates: [certificate])
      tls.clientAuthority = clientAuthority
      try await withOrigin(tls: tls) { try await body($0, certificate.pin, authority) }
    }

    @Test("a pin that is not the server's sends nothing, one of several lets everything through; others hosts are free")
    func pins() async throws {
      try await withSecureOrigin { origin, pin, authority in
        func load(_ pins: [String: [String]]) async -> (any Error)? {
          await failure {
            var options = CurlTransport.Options()
            options.additionalAuthorities = [Data(authority.pem.utf8)]
            options.security.pins = try Pins(pins)
            let registry = InterceptorRegistry(transport: CurlTransport(options: options))
            var request = URLRequest(url: origin.url("/echo"))
            request.httpMethod = "POST"
            return try await registry.upload(for: request, from: Data("secret".utf8)).0
          }
        }
        for pins in [["127.0.0.1": [Self.strange]], ["*": [Self.strange]], ["127.0.0.1": [Self.strange], "*": [pin]]] {
          let error = try #require(await load(pins) as? URLError)
          let cause = try #require(error.cause(as: TransportError.self))
          #expect(error.code == .serverCertificateUntrusted && cause.code == .pinMismatch)
          #expect(cause.phase == .securing && cause.requestBytesSent == 0)
        }
        #expect(origin.requests.isEmpty && origin.rawBytes.allSatisfy { !$0.contains("secret") })
        for pins in [
          ["127.0.0.1": [Self.strange, pin]], ["*": [Self.strange], "127.0.0.1": [String(pin.dropFirst(7))]],
          ["other.example": [Self.strange]], [:],
        ] {
          #expect(await load(pins) == nil)
        }
        #expect(origin.requests.count == 4)
      }
    }

    @Test("a pin does not take the place of the chain of certificates")
    func chainStays() async throws {
      try await withSecureOrigin { origin, pin, _ in
        let security = TransportSecurity(pins: try Pins(["127.0.0.1": [pin]]))
        let registry = InterceptorRegistry(security: security)
        let error = await failure { try await registry.data(for: URLRequest(url: origin.url("/echo"))) } as? URLError
        #expect(error?.cause(as: TransportError.self)?.code == .certificateUntrusted)
        #expect(origin.requests.isEmpty)
      }
    }

    @Test("pins that only report let another key through, and tell: by an event, in the log, in the metrics")
    func reportOnly() async throws {
      try await withSecureOrigin { origin, pin, authority in
        for (pins, isPinned) in [([Self.strange], false), ([Self.strange, pin], true)] {
          let lines = Log<String>()
          var options = CurlTransport.Options()
          options.additionalAuthorities = [Data(authority.pem.utf8)]
          options.security.pins = try Pins(["127.0.0.1": pins], isReportOnly: true)
          let registry = InterceptorRegistry(transport: CurlTransport(options: options), logger: .recording(lines))
          let events = registry.events()
          let response = try await registry.load(URLRequest(url: origin.url("/echo")))
          _ = try await response.body.collect(upTo: 1 << 20)
          #expect(response.metrics?.isPinned == isPinned)
          registry.invalidate()
          let told = await events.reduce(into: [LoadEvent]()) { $0.append($1) }.filter { $0.kind == .pinMismatched }
          #expect(told.count == (isPinned ? 0 : 1))
          #expect(told.allSatisfy { ($0.error as? TransportError)?.code == .pinMismatch })
          #expect(lines.all.contains { $0.hasPrefix("warning") && $0.contains("only report") } == !isPinned)
        }
        #expect(origin.requests.count == 2)
      }
    }

    @Test("pins lapse with their date: until then they are enforced, afterwards the chain of certificates decides")
    func expiry() async throws {
      try await withSecureOrigin { origin, _, authority in
        for (expires, isRefused) in [(Date.distantPast, false), (Date.distantFuture, true), (nil, true)] {
          var options = CurlTransport.Options()
          options.additionalAuthorities = [Data(authority.pem.utf8)]
          options.security.pins = try Pins(["127.0.0.1": [Self.strange]], expires: expires)
          let registry = InterceptorRegistry(transport: CurlTransport(options: options))
          let error = await failure { try await registry.data(for: URLRequest(url: origin.url("/echo"))).0 }
          #expect((error != nil) == isRefused)
        }
      }
    }

    @Test("a transport that cannot check pins sends nothing; a host without pins is loaded as ever")
    func incapable() async throws {
      let pins = TransportSecurity(pins: try Pins(["pinned.example": [Self.strange]]))
      for registry in [
        InterceptorRegistry(transport: URLSessionTransport(security: pins)),
        InterceptorRegistry(transport: FixedTransport(), security: pins),
      ] {
        let pinned = await failure {
          try await registry.data(for: URLRequest(url: URL(string: "https://pinned.example/")!))
        }
        #expect(pinned.flatMap(cause)?.code == .transportIncapable)
      }
      let free = InterceptorRegistry(transport: FixedTransport(), security: pins)
      _ = try await free.data(for: URLRequest(url: URL(string: "https://free.example/")!))
    }

    @Test("a server that asks for a certificate gets the host's; without one it refuses the connection")
    func clientCertificates() async throws {
      let clients = try TestAuthority()
      let identity = try clients.clientIdentity(TestOrigin.TLS.Certificate(names: ["client"]))
      try await withSecureOrigin(clientAuthority: clients) { origin, pin, authority in
        func load(_ certificates: [ClientCertificate]) async -> (any Error)? {
          await failure {
            var options = CurlTransport.Options()
            options.additionalAuthorities = [Data(authority.pem.utf8)]
            options.security = TransportSecurity(
              pins: try Pins(["127.0.0.1": [pin]]), clientCertificates: certificates)
            let registry = InterceptorRegistry(transport: CurlTransport(options: options))
            return try await registry.data(for: URLRequest(url: origin.url("/echo"))).0
          }
        }
        let own = try ClientCertificate.pem(certificate: identity.certificate, key: identity.key, for: "127.0.0.1")
        let others = try ClientCertificate.pem(
          certificate: identity.certificate, key: identity.key, for: "other.example")
        #expect(await load([others]) != nil && origin.requests.isEmpty)
        #expect(await load([others, own]) == nil && origin.requests.count == 1)
        #expect(!"\(own)".contains("KEY") && !String(reflecting: own).contains("pkcs"))
      }
    }

    @Test("a file that is no certificate or no key is refused, and the error says what it is")
    func noCertificate() async throws {
      let authority = try TestAuthority()
      let identity = try authority.clientIdentity(TestOrigin.TLS.Certificate(names: ["client"]))
      let pem = Data(authority.pem.utf8)
      let lines = authority.pem.split(separator: "\n").map(String.init)
      let der = try #require(Data(base64Encoded: lines.dropFirst().dropLast().joined()))
      let files: [(data: Data, word: String)] = [
        (identity.key, "PRIVATE KEY"), (Data(), "nothing"), (der, "DER"), (Data("<html>portal</html>".utf8), "no PEM"),
        (Data(lines.dropLast().joined(separator: "\n").utf8), "cut off"),
        (Data("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n".utf8), "cut off"),
        (pem + Data("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8), "damaged"),
      ]
      for (data, word) in files {
        #expect {
          try ClientCertificate.pem(certificate: data, key: identity.key, for: "a.test")
        } throws: {
          ($0 as? WaylayError)?.code == .invalidCertificate && "\($0)".contains(word) && "\($0)".contains("certificate")
        }
        var options = CurlTransport.Options()
        options.additionalAuthorities = [pem, data]
        let registry = InterceptorRegistry(transport: CurlTransport(options: options))
        let error = await failure {
          try await registry.data(for: URLRequest(url: URL(string: "https://127.0.0.1:1/")!))
        }
        let found = try #require(error.flatMap(cause))
        #expect(found.code == .invalidCertificate && found.message.contains("additionalAuthorities[1]"), "\(found)")
        #expect(found.message.contains(word), "\(found)")
      }
      for key in [pem, Data(), Data(identity.key.dropLast(40))] {
        #expect { try ClientCertificate.pem(certificate: identity.certificate, key: key, for: "a.test") } throws: {
          ($0 as? WaylayError)?.code == .invalidCertificate && "\($0)".contains("key")
        }
      }
      // Text around the blocks, several of them, and other line ends are as good.
      let crlf = authority.pem.replacing("\n", with: "\r\n")
      let bundle = Data("# mine\n\(crlf)\n\(authority.pem)".utf8) + identity.key
      _ = try ClientCertificate.pem(certificate: bundle, key: bundle, for: "a.test")
    }

    @Test(
      "a PKCS #12 file serves as its certificate and key do, with the right passphrase",
      .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl"), "openssl makes the file"))
    func pkcs12() async throws {
      let clients = try TestAuthority()
      let identity = try clients.clientIdentity(TestOrigin.TLS.Certificate(names: ["client"]))
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-p12-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let (both, file) = (folder.appendingPathComponent("both.pem"), folder.appendingPathComponent("client.p12"))
      try (identity.certificate + identity.key).write(to: both)
      let (code, output) = try await Program(path: "/usr/bin/openssl").run([
        "pkcs12", "-export", "-in", both.path, "-out", file.path, "-passout", "pass:right",
      ])
      try #require(code == 0, "\(output)")
      let data = try Data(contentsOf: file)
      try await withSecureOrigin(clientAuthority: clients) { origin, _, authority in
        func load(_ passphrase: String) async -> (any Error)? {
          await failure {
            var options = CurlTransport.Options()
            options.additionalAuthorities = [Data(authority.pem.utf8)]
            options.security.clientCertificates = [try .pkcs12(data, passphrase: passphrase, for: "127.0.0.1")]
            let registry = InterceptorRegistry(transport: CurlTransport(options: options))
            return try await registry.data(for: URLRequest(url: origin.url("/echo"))).0
          }
        }
        let error = await load("wrong")
        #expect(error != nil && origin.requests.isEmpty && !"\(error!)".contains("wrong"))
        #expect(await load("right") == nil && origin.requests.count == 1)
      }
    }

    @Test("what is no pin is refused when it is made", arguments: ["", "sha256/", "abc", "sha1/AAAA", "sha256/AAAA"])
    func invalid(text: String) {
      let error = #expect(throws: WaylayError.self) { try Pins(["api.example.com": [text]]) }
      #expect(error?.code == .invalidPin)
      #expect(throws: WaylayError.self) { try Pins(["api.example.com": []]) }
    }
  }

  private struct FixedTransport: Transport {
    let capabilities: TransportCapabilities = []

    func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
      InterceptedResponse(to: request, source: .network)
    }
  }
#endif
