// On Apple platforms there is no CurlTransport: this file is empty there.
#if canImport(FoundationNetworking)
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore

  /// Requests on connections of HTTP/2 that end under them.
  @Suite("CurlTransport, connections that end", .timeLimit(.minutes(10)))
  struct CurlDepartureTests {
    private func with(_ body: (TestOrigin, InterceptorRegistry) async throws -> Void) async throws {
      let authority = try TestAuthority()
      let origin = try await TestOrigin.start(tls: .init(authority: authority))
      // The first connection ends, without a word, with the first request for this.
      origin.reply(to: "/") { $0.connection == 1 ? Reply(200, [], .close) : .text("answered") }
      var options = CurlTransport.Options()
      options.additionalAuthorities = [Data(authority.pem.utf8)]
      let registry = InterceptorRegistry(
        transport: CurlTransport(configuration: .ephemeral, options: options), configuration: .ephemeral
      ) { Link.pass() }
      do { try await body(origin, registry) } catch {
        await origin.stop()
        throw error
      }
      registry.invalidate()
      await origin.stop()
    }

    private func text(_ registry: InterceptorRegistry, _ url: URL, _ method: String = "GET") async throws -> String {
      var request = URLRequest(url: url)
      request.httpMethod = method
      return String(decoding: try await registry.data(for: request).0, as: UTF8.self)
    }

    @Test(
      "a crowd goes out on another connection when the kept one ends, where it may be sent again",
      arguments: ["GET", "PUT", "DELETE"])
    func repeated(method: String) async throws {
      try await with { origin, registry in
        _ = try await text(registry, origin.url("/hello"))
        let answers = await withTaskGroup(of: String.self) { group in
          for _ in 0..<40 {
            group.addTask {
              do { return try await text(registry, origin.url("/"), method) } catch { return "\(error.redacted)" }
            }
          }
          return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(answers) == ["answered"])
        #expect(origin.connectionCount > 1)
      }
    }

    @Test("what the server may have acted on is not sent again")
    func once() async throws {
      try await with { origin, registry in
        _ = try await text(registry, origin.url("/hello"))
        let code = await failureCode { try await text(registry, origin.url("/"), "POST") }
        #expect(code == .networkConnectionLost)
        #expect(origin.requests(to: "/").count == 1)
        let answer = try await text(registry, origin.url("/"), "POST")
        #expect(answer == "answered")
      }
    }

    @Test("one that is given up before its answer leaves the others on its connection alone", .heavy)
    func givenUp() async throws {
      try await with { origin, registry in
        let size = 40_000_000
        let large = Task { try await registry.data(for: URLRequest(url: origin.url("/bytes/\(size)"))).0.count }
        await origin.until { $0.bytesSent > 0 }
        for count in 1...10 {
          let given = Task { try await text(registry, origin.url("/never")) }
          await origin.until { $0.requests(to: "/never").count == count }
          given.cancel()
          _ = await given.result
          let answer = try await text(registry, origin.url("/hello"))
          #expect(answer == "hello")
        }
        let received = try await large.value
        #expect(received == size)
        #expect(origin.connectionCount == 1)
      }
    }
  }
#endif
