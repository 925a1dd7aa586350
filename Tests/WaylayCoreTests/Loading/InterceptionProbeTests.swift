import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("Verifying that a session is intercepted", .timeLimit(.minutes(10)))
struct InterceptionProbeTests {
  @Test("an intercepted session passes, before any chain: no interceptor, event or log has the probe")
  func intercepted() async throws {
    let lines = Log<String>()
    let registry = InterceptorRegistry(logger: .recording(lines))
    let asked = Locked(0)
    registry.register(
      InterceptorChain("all", for: .any) {
        Link { _, _ in
          asked.withLock { $0 += 1 }
          throw URLError(.badURL)
        }
      })
    let events = registry.events()
    let configuration = URLSessionConfiguration.ephemeral.intercepted(by: registry)
    try await configuration.verifyInterception()
    let session = URLSession(configuration: configuration)
    for _ in 0..<3 { try await session.verifyInterception() }
    registry.invalidate()
    var count = 0
    for await _ in events { count += 1 }
    #expect(asked.withLock { $0 } == 0)
    #expect(count == 0)
    #expect(lines.all.isEmpty)
  }

  @Test("a registry without a chain for the request counts as well: its class is asked")
  func emptyRegistry() async throws {
    let registry = InterceptorRegistry()
    try await URLSessionConfiguration.ephemeral.intercepted(by: registry).verifyInterception()
    registry.invalidate()
  }

  @Test("a plain session, and one that was made before, throw notIntercepted, which says where to look")
  func plain() async throws {
    let registry = InterceptorRegistry { Link.pass() }
    let configuration = URLSessionConfiguration.ephemeral
    let before = URLSession(configuration: configuration)
    _ = configuration.intercepted(by: registry)
    for session in [before, URLSession(configuration: .ephemeral)] {
      let error = await #expect(throws: WaylayError.self) { try await session.verifyInterception() }
      #expect(error?.code == .notIntercepted)
      for word in ["intercepted(by:)", "interceptSharedSession()", "usesClassicLoadingMode", "Background"] {
        #expect(error?.message.contains(word) == true, "\(word)")
      }
      #expect((error?.underlying as? URLError)?.code == .cannotConnectToHost)
    }
    registry.invalidate()
  }

  @Test("a session whose registry has ended throws registryInvalidated")
  func invalidated() async throws {
    let registry = InterceptorRegistry { Link.pass() }
    let session = URLSession.intercepted(by: registry)
    registry.invalidate()
    let error = await #expect(throws: WaylayError.self) { try await session.verifyInterception() }
    #expect(error?.code == .registryInvalidated)
  }

  @Test("a class of ours behind a foreign one that takes everything is not asked, and it says so")
  func foreign() async throws {
    let registry = InterceptorRegistry { Link.pass() }
    let configuration = URLSessionConfiguration.ephemeral.intercepted(by: registry)
    configuration.protocolClasses?.insert(TakesAll.self, at: 0)
    let error = await #expect(throws: WaylayError.self) { try await configuration.verifyInterception() }
    #expect(error?.code == .notIntercepted)
    registry.invalidate()
  }

  @Test("a request that only looks like a probe is an ordinary request to nobody")
  func forged() async throws {
    let registry = InterceptorRegistry { Link.answer("chain") }
    var request = URLRequest(url: try #require(URL(string: "https://127.0.0.1:1/forged")))
    request.httpMethod = "WAYLAY-PROBE"
    let answer = try await URLSession.intercepted(by: registry).text(for: request)
    #expect(answer.1 == "chain")
    registry.invalidate()
  }
}

private final class TakesAll: URLProtocol {
  override class func canInit(with request: URLRequest) -> Bool { true }
  override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
  override func startLoading() { client?.urlProtocol(self, didFailWithError: URLError(.badURL)) }
  override func stopLoading() {}
}
