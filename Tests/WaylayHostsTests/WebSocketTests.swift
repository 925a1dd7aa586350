import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore
import WaylayHosts

/// WebSocket tasks are asked about by their handshake, which no transport routes.
@Suite("WebSocket tasks to routed hosts", .timeLimit(.minutes(5)))
struct WebSocketTests {
  private func asked(_ text: String, _ registry: InterceptorRegistry) throws -> Bool {
    registry.protocolClass.canInit(with: URLRequest(url: try #require(URL(string: text))))
  }

  private func rules() throws -> HostRules {
    try HostRules([
      HostRule("api.test", endpoints: ["192.0.2.1"]), HostRule("port.test:8443", endpoints: ["192.0.2.1"]),
      HostRule(excluding: "old.test"),
    ])
  }

  @Test(
    "are held back under .require, with an event, and nothing else is",
    .enabled(if: Platform.isLinux, "Apple's loading system does not ask"))
  func require() async throws {
    let lines = Log<String>()
    let rewriter = HostRewriter(rules: try rules(), policy: .require, logger: .recording(lines))
    let registry = InterceptorRegistry(configuration: .ephemeral) { rewriter }
    var events = rewriter.events().makeAsyncIterator()
    #expect(try asked("wss://api.test/socket", registry))
    let event = try #require(await events.next())
    #expect(event.kind == .failed && event.host.description == "api.test")
    #expect((event.error as? HostError)?.code == .webSocketNotRouted)
    #expect(try asked("ws://API.test:8080/socket", registry))
    #expect(try asked("wss://port.test:8443/", registry))
    for url in ["wss://old.test/", "wss://example.com/", "wss://port.test/", "wss://192.0.2.7/"] {
      #expect(try !asked(url, registry))
    }
    // Aloud, and once for each host.
    #expect(lines.all.filter { $0.contains("a WebSocket task is not routed") }.count == 2)
    registry.invalidate()
  }

  @Test(
    "fail under .require, and open no connection", .enabled(if: Platform.isLinux, "Apple's loading system does not ask")
  )
  func task() async throws {
    let origin = try await TestOrigin.start()
    let rewriter = HostRewriter(
      rules: try HostRules(["localhost": ["192.0.2.1"]]), policy: .require, logger: .recording())
    let registry = InterceptorRegistry(configuration: .ephemeral) { rewriter }
    let session = URLSession(configuration: .ephemeral.intercepted(by: registry))
    let task = session.webSocketTask(with: try #require(URL(string: "ws://localhost:\(origin.port)/chat")))
    task.resume()
    // A libcurl without WebSockets fails it by itself.
    #expect(await failure { try await task.receive() } != nil)
    #expect(origin.connectionCount == 0)
    session.invalidateAndCancel()
    registry.invalidate()
    await origin.stop()
  }

  @Test(
    "go the system's way under .prefer, and it is said",
    .enabled(if: Platform.isLinux, "Apple's loading system does not ask"))
  func prefer() async throws {
    let lines = Log<String>()
    let rewriter = HostRewriter(rules: try rules(), policy: .prefer, logger: .recording(lines))
    let registry = InterceptorRegistry(configuration: .ephemeral) { rewriter }
    var events = rewriter.events().makeAsyncIterator()
    for _ in 0..<3 { #expect(try !asked("wss://api.test/socket", registry)) }
    #expect(await events.next()?.kind == .fellBackToSystem)
    #expect(lines.all.filter { $0.contains("a WebSocket task is not routed") }.count == 1)
    registry.invalidate()
  }

  @Test("to hosts that a chain's scope does not cover are none of its business")
  func scope() throws {
    let rewriter = HostRewriter(rules: try rules(), policy: .require)
    let registry = InterceptorRegistry(configuration: .ephemeral)
    registry.register(InterceptorChain("other", for: .http.host("other.test")) { rewriter })
    #expect(try !asked("wss://api.test/", registry))
    registry.invalidate()
  }
}
