import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore
import WaylayHAR
import WaylayInspector

@Suite("A search among exchanges", .timeLimit(.minutes(5)))
struct SearchTests {
  /// Three exchanges: found, not found, failed.
  private func sample() async -> Inspector {
    let inspector = Inspector()
    let registry = inspected(inspector) { request in
      switch request.url.path {
      case "/users":
        return InterceptedResponse(
          to: request, fields: [.contentType: "application/json", .init("X-Trace")!: "Blue-7"],
          body: .text("{\"name\": \"Ada\"}"))
      case "/missing":
        return InterceptedResponse(
          to: request, status: .notFound, fields: [.contentType: "text/html"], body: .text("Not Found here"))
      default: throw TransportError(.cannotConnectToHost, phase: .connecting, message: "refused")
      }
    }
    _ = try? await registry.data(for: URLRequest(url: url("https://api.example.com:8443/users?page=2")))
    var post = URLRequest(url: url("https://www.example.org/missing"))
    post.httpMethod = "POST"
    post.httpBody = Data("what=Fish".utf8)
    _ = try? await registry.data(for: post)
    _ = try? await registry.data(for: URLRequest(url: url("http://[::1]:9/closed")))
    return inspector
  }

  @Test(
    "finds what each word of its language says",
    arguments: [
      ("", "123"), ("users", "1"), ("USERS", "1"), ("example", "12"), ("blue-7", "1"), ("\"not found\"", "2"),
      ("-example", "3"),
      ("host:example.com", "1"), ("host:api.example.com", "1"), ("host:xample.com", ""), ("host:*.org", "2"),
      ("host:*", "123"),
      ("host:example.com,example.org", "12"), ("host:[::1]", "3"), ("-host:example.com", "23"),
      ("host:API.Example.com", "1"),
      ("status:404", "2"), ("status:4xx", "2"), ("status:200-299", "1"), ("status:>=400", "2"), ("status:<300", "1"),
      ("status:4xx,2XX", "12"),
      ("method:post", "2"), ("method:get,post", "123"), ("method:g", ""), ("type:json", "1"), ("type:json,html", "12"),
      ("type:7", ""),
      ("duration:<1min", "123"), ("duration:>1min", ""), ("duration:>=0", "123"), ("size:>15b", ""), ("size:=14", "2"),
      ("size:=15", "1"), ("size:<1kb", "123"),
      ("body:\"not found\"", "2"), ("body:fish", "2"), ("body:ada", "1"), ("url:page=2", "1"), ("url:blue", ""),
      ("header:x-trace", "1"),
      ("error:refused", "3"), ("state:failed", "3"), ("state:finished", "12"), ("phase:connecting", "3"),
      ("source:mocked", "12"),
      ("https://api", "1"), ("status:4xx method:post", "2"), ("status:4xx method:get", ""), ("  users   page  ", "1"),
      ("\"a\\\"b\"", ""),
    ])
  func language(text: String, found: String) async throws {
    let inspector = await sample()
    let query = try Inspector.Query(text)
    let numbers = inspector.exchanges(matching: query).map(\.id.description).joined()
    #expect(numbers == found && inspector.count(matching: query) == found.count)
    // An exchange alone says the same.
    #expect(inspector.exchanges.filter { query.matches($0) }.map(\.id.description).joined() == found)
    #expect(query.description == text)
  }

  @Test(
    "says where a text is wrong and what to write",
    arguments: [
      ("users hots:a", 6, "Write one of host,"), ("status:4zz", 7, "status:4xx"), ("status:-", 7, "status:404"),
      ("status:500-400", 7, "status:"),
      ("status:99999999999999999999", 7, "is not a status"), ("body:\"open", 5, "has no end"),
      ("body:", 5, "a value is missing"),
      ("method: get", 7, "without a space"), ("duration:>5parsecs", 9, "us, ms, s, min"),
      ("size:1.2.3", 5, "size:>100kb"), ("\"\"", 0, "nothing"),
      ("host:,", 5, "between these commas"),
    ])
  func errors(text: String, position: Int, hint: String) {
    let error = #expect(throws: Inspector.QueryError.self) { try Inspector.Query(text) }
    #expect(error?.position == position && error?.message.contains(hint) == true, "\(error?.description ?? "")")
    #expect(error?.description.hasPrefix("at character \(position + 1): ") == true)
  }

  @Test("has bounds, and takes or refuses whatever is typed")
  func bounds() async throws {
    #expect(throws: Inspector.QueryError.self) { try Inspector.Query(String(repeating: "a", count: 5000)) }
    #expect(throws: Inspector.QueryError.self) {
      try Inspector.Query(Array(repeating: "a", count: 65).joined(separator: " "))
    }
    let exchange = try #require(await sample().exchanges.first)
    let pieces = [
      "host:", "status:", "-", "\"", "\\", ">", "<", "=", "*", ",", " ", "4xx", "1e9", "ms", "é", "\u{0}", "👩‍👩‍👧", ":",
      "//", "9999", ".", "a",
      "duration:", "size:", "body:", "999", "0",
    ]
    var numbers = SplitMix(state: 16)
    for _ in 0..<20_000 {
      let text = (0..<Int.random(in: 0..<12, using: &numbers)).map { _ in pieces.randomElement(using: &numbers) ?? "" }
        .joined()
      guard let query = try? Inspector.Query(text) else { continue }
      _ = query.matches(exchange)
    }
  }

  @Test("looks through many exchanges on several threads, and gives the newest in their order")
  func many() async throws {
    let inspector = Inspector(limits: Inspector.Limits(exchanges: 40_000, bytes: 1 << 30))
    let registry = inspected(inspector) { InterceptedResponse(to: $0, body: .text("\($0.url.path)")) }
    for number in 1...20_000 { _ = try await registry.load(URLRequest(url: url("https://a.test/\(number)/end"))) }
    let query = try Inspector.Query("body:77/end")
    #expect(inspector.count(matching: query) == 200)
    let newest = inspector.exchanges(matching: query, newest: 3)
    #expect(
      newest.map(\.request.url) == ["https://a.test/19777/end", "https://a.test/19877/end", "https://a.test/19977/end"])
  }

  @Test("counts by host, status and source, and lists the slowest")
  func statistics() async throws {
    try await withOrigin { origin in
      let inspector = Inspector()
      let registry = InterceptorRegistry(logger: .recording()) { inspector }
      for path in ["/hello", "/hello", "/status/404", "/bytes/1000", "/slow/200"] {
        _ = try await registry.data(for: URLRequest(url: origin.url(path)))
      }
      await #expect(throws: URLError.self) { try await registry.data(for: URLRequest(url: origin.url("/truncated"))) }
      let all = inspector.statistics(slowest: 2)
      #expect(
        all.count == 6 && all.failed == 1 && all.open == 0 && all.fromNetwork == 6 && all.archiveHits == 0
          && all.mocked == 0)
      #expect(all.statuses == [200: 5, 404: 1])
      #expect(all.onNewConnections + all.onKeptConnections == 6 && all.onKeptConnections >= 3)
      #expect(all.hosts.map(\.name) == ["127.0.0.1"] && all.hosts[0].count == 6 && all.hosts[0].errors == 2)
      #expect(all.bytesReceived == all.hosts[0].bytes && all.bytesReceived > 1000)
      #expect(
        all.slowest.count == 2 && all.slowest[0].duration >= all.slowest[1].duration
          && all.slowest[0].duration >= .milliseconds(200))
      #expect(all.median <= all.percentile95 && all.percentile95 >= .milliseconds(200))
      #expect(inspector.statistics(of: try Inspector.Query("status:404")).count == 1)
      #expect(Inspector().statistics() == Inspector().statistics())
    }
  }
}
