import Foundation
import Testing
import WaylayTesting

/// Clients whose requests have generated parts, with one mistake each and without: only in the process that
/// `ExplorationTests` starts.
@Suite("Fair", .enabled(if: Fixtures.areEnabled), .serialized)
struct FairTests {
  /// A time and a UUID.
  private static var noise: String { "at=\(Date().timeIntervalSince1970)&nonce=\(UUID())" }
  private static var seconds: Int { Int(Date().timeIntervalSince1970) }

  private static func upload(_ client: ExploredClient) -> URLRequest {
    let boundary = UUID().uuidString
    var request = client.request(
      "POST", "/photos",
      body: "--\(boundary)\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--\(boundary)--")
    request.setValue("multipart/form-data; boundary=\(boundary)", forHTTPHeaderField: "Content-Type")
    return request
  }

  private static func graphQL(_ client: ExploredClient, _ document: String) -> URLRequest {
    client.request(
      "POST", "/graphql", body: #"{"query":"\#(document)","variables":{"id":"\#(UUID())","at":"\#(Date())"}}"#)
  }

  private static func toSecondHost(_ request: URLRequest) -> URLRequest {
    var request = request
    let url = request.url?.absoluteString.replacingOccurrences(of: "api.", with: "backup.")
    request.url = url.flatMap { URL(string: $0) }
    return request
  }

  private static func pages(_ client: ExploredClient) async throws -> String {
    var (text, cursor) = ("", "first")
    while cursor != "end" {
      cursor = try await client.ok(client.request("GET", "/pages/\(cursor)?\(noise)"))
      text += cursor
    }
    return text
  }

  private static func page(_ request: MockRequest) -> MockResponse {
    .text(["first": "second", "second": "third"][request.url.lastPathComponent] ?? "end")
  }

  @Suite("Right", .exploringFaults(limit: 400, safe: RequestPattern(.post, "/search")))
  struct Right {
    @Test("requests pages in parallel, each again after a while", .mocked { Stub(.get, "/list", .text("x")) })
    func parallelPages() async throws {
      let client = ExploredClient()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for page in 1...3 {
          group.addTask {
            _ = try await client.patiently(3) {
              try await client.ok(client.request("GET", "/list?page=\(page)&\(noise)"))
            }
          }
        }
        try await group.waitForAll()
      }
    }

    @Test("begins again from the first page", .mocked { Stub(.get, "/pages/*") { page($0) } })
    func restartedPages() async throws {
      let client = ExploredClient()
      #expect(try await client.patiently(3) { try await pages(client) } == "secondthirdend")
    }

    @Test("uploads in parallel, each once", .mocked { Stub(.post, "/photos", .status(201)).optional })
    func uploads() async throws {
      let client = ExploredClient()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<3 { group.addTask { _ = try await client.ok(upload(client)) } }
        try await group.waitForAll()
      }
    }

    @Test(
      "reports each failure once",
      .mocked {
        Stub(.get, "/a", .text("x")).optional
        Stub(.post, "/log", .status(204)).optional
      })
    func failureLog() async throws {
      let client = ExploredClient()
      let text = try await client.patiently(3) {
        do { return try await client.ok(client.request("GET", "/a?\(noise)")) } catch {
          try Task.checkCancellation()
          _ = try? await client.ok(client.request("POST", "/log", body: "failed at \(Date())"))
          throw error
        }
      }
      #expect(text == "x")
    }

    @Test(
      "sends an order to a second host if the first one refuses the connection",
      .mocked { Stub(.post, "https://*.example.com/orders", .status(201)).optional })
    func secondHost() async throws {
      let client = ExploredClient()
      let request = client.request("POST", "/orders?\(noise)", body: "tea \(UUID())")
      do { _ = try await client.ok(request) } catch let error as URLError where error.code == .cannotConnectToHost {
        _ = try await client.ok(toSecondHost(request))
      }
    }

    @Test("puts again under its UUID", .mocked { Stub(.put, "/files/*", .status(204)).optional })
    func uuid() async throws {
      let (client, id) = (ExploredClient(), UUID())
      _ = try await client.patiently { try await client.ok(client.request("PUT", "/files/\(id)", body: "\(Date())")) }
    }

    @Test("orders again when refused, with another time", .mocked { Stub(.post, "/orders", .status(201)).optional })
    func refused() async throws {
      let client = ExploredClient()
      do {
        _ = try await client.ok(client.request("POST", "/orders?at=\(seconds)", body: "tea \(Date())"))
      } catch let error as ExploredClient.Failed {
        try await client.clock.sleep(for: error.retryAfter ?? .seconds(1))
        _ = try await client.ok(client.request("POST", "/orders?at=\(seconds)", body: "tea \(Date())"))
      }
    }

    @Test("repeats a query", .mocked { Stub(.post, "/graphql", .text("{}")) })
    func query() async throws {
      let client = ExploredClient()
      _ = try await client.patiently { try await client.ok(graphQL(client, "query Orders { orders { id } }")) }
      _ = try await client.patiently { try await client.ok(graphQL(client, "{ user { name } }")) }
    }

    @Test("sends a mutation once, and repeats the query after it", .mocked { Stub(.post, "/graphql", .text("{}")) })
    func mutation() async throws {
      let client = ExploredClient()
      _ = try await client.ok(graphQL(client, "mutation Pay { pay { id } }"))
      _ = try await client.patiently { try await client.ok(graphQL(client, "query Orders { orders { id } }")) }
    }

    @Test("keeps its Idempotency-Key", .mocked { Stub(.post, "/photos", .status(201)).optional })
    func key() async throws {
      let (client, key) = (ExploredClient(), UUID().uuidString)
      _ = try await client.patiently {
        var request = upload(client)
        request.setValue(key, forHTTPHeaderField: "Idempotency-Key")
        return try await client.ok(request)
      }
    }

    @Test("obeys Retry-After", .mocked { Stub(.post, "/orders", .status(201)).optional })
    func retryAfter() async throws {
      let client = ExploredClient()
      do {
        _ = try await client.ok(client.request("POST", "/orders?\(noise)"))
      } catch let error as ExploredClient.Failed {
        guard let wait = error.retryAfter else { throw error }
        try await client.clock.sleep(for: wait)
        _ = try await client.ok(client.request("POST", "/orders?\(noise)"))
      }
    }

    @Test("repeats a search that is declared safe", .mocked { Stub(.post, "/search", .text("[]")) })
    func search() async throws {
      let client = ExploredClient()
      _ = try await client.patiently {
        try await client.ok(client.request("POST", "/search?\(noise)", body: "tea"))
      }
    }
  }

  @Suite("Wrong", .exploringFaults(limit: 400))
  struct Wrong {
    @Test(
      "requests a page again before Retry-After, with another time", .mocked { Stub(.get, "/list", .text("x")) })
    func parallelPages() async throws {
      let client = ExploredClient()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for page in 1...3 {
          group.addTask {
            let request = { client.request("GET", "/list?page=\(page)&\(noise)") }
            do { _ = try await client.ok(request()) } catch is ExploredClient.Failed {
              try await client.clock.sleep(for: .seconds(1))
              _ = try await client.ok(request())
            }
          }
        }
        try await group.waitForAll()
      }
    }

    @Test(
      "begins again from a cart with another identifier",
      .mocked {
        Stub(.post, "/carts", .status(201)).optional
        Stub(.get, "/pages/*") { page($0) }.optional
      })
    func restartedPages() async throws {
      let client = ExploredClient()
      let text = try await client.patiently(2) {
        _ = try await client.ok(client.request("POST", "/carts", body: "\(UUID())"))
        return try await pages(client)
      }
      #expect(text == "secondthirdend")
    }

    @Test("uploads again with another boundary", .mocked { Stub(.post, "/photos", .status(201)).optional })
    func upload() async throws {
      let client = ExploredClient()
      _ = try await client.patiently(2) { try await client.ok(FairTests.upload(client)) }
    }

    @Test(
      "reports each failure twice",
      .mocked {
        Stub(.get, "/a", .text("x")).optional
        Stub(.post, "/log", .status(204)).optional
      })
    func failureLog() async throws {
      let client = ExploredClient()
      do { _ = try await client.ok(client.request("GET", "/a?\(noise)")) } catch {
        try Task.checkCancellation()
        for _ in 0..<2 { _ = try await client.ok(client.request("POST", "/log", body: "failed at \(Date())")) }
        throw error
      }
    }

    @Test(
      "sends an order to a second host after a timeout",
      .mocked { Stub(.post, "https://*.example.com/orders", .status(201)).optional })
    func secondHost() async throws {
      let client = ExploredClient()
      let request = client.request("POST", "/orders?\(noise)", body: "tea \(UUID())")
      do { _ = try await client.ok(request) } catch let error as URLError where error.code == .timedOut {
        _ = try await client.ok(toSecondHost(request))
      }
    }

    @Test("pays again under another UUID", .mocked { Stub(.post, "/payments/*", .status(201)).optional })
    func uuid() async throws {
      let client = ExploredClient()
      _ = try await client.patiently { try await client.ok(client.request("POST", "/payments/\(UUID())", body: "9")) }
    }

    @Test(
      "orders again with another time in the query", .mocked { Stub(.post, "/orders", .status(201)).optional })
    func time() async throws {
      let client = ExploredClient()
      _ = try await client.patiently {
        try await client.ok(client.request("POST", "/orders?at=\(seconds)", body: "tea \(Date())"))
      }
    }

    @Test("repeats a mutation with another identifier", .mocked { Stub(.post, "/graphql", .text("{}")) })
    func mutation() async throws {
      let client = ExploredClient()
      _ = try await client.patiently { try await client.ok(graphQL(client, "mutation Pay { pay { id } }")) }
    }

    @Test(
      "repeats a mutation because the next query failed", .mocked { Stub(.post, "/graphql", .text("{}")).optional })
    func mutationAndQuery() async throws {
      let client = ExploredClient()
      for _ in 0..<3 {
        _ = try await client.ok(graphQL(client, "mutation Pay { pay { id } }"))
        do { return _ = try await client.ok(graphQL(client, "query Orders { orders { id } }")) } catch {
          try Task.checkCancellation()
          try await client.clock.sleep(for: .seconds(9))
        }
      }
    }

    @Test("makes an Idempotency-Key for each attempt", .mocked { Stub(.post, "/orders", .status(201)).optional })
    func key() async throws {
      let client = ExploredClient()
      _ = try await client.patiently {
        var request = client.request("POST", "/orders", body: "tea")
        request.setValue(UUID().uuidString, forHTTPHeaderField: "Idempotency-Key")
        return try await client.ok(request)
      }
    }

    @Test("ignores Retry-After", .mocked { Stub(.post, "/orders", .status(201)).optional })
    func retryAfter() async throws {
      let client = ExploredClient()
      do { _ = try await client.ok(client.request("POST", "/orders?\(noise)")) } catch is ExploredClient.Failed {
        try await client.clock.sleep(for: .milliseconds(1500))
        _ = try await client.ok(client.request("POST", "/orders?\(noise)"))
      }
    }

    @Test(
      "takes half a list for all of it, with a time in the query",
      .mocked { Stub(.get, "/list", .text("[1,2,3,4,5,6]")) })
    func half() async throws {
      let client = ExploredClient()
      var text = ""
      do {
        for try await chunk in try await client.chunks("/list?\(noise)") {
          text += String(decoding: chunk, as: UTF8.self)
        }
      } catch  where !text.isEmpty {}
      #expect(text.split { !$0.isNumber }.count == 6)
    }
  }

  @Suite("Differing", .exploringFaults())
  struct Differing {
    @Test(
      "requests another item, and another path in each run",
      .mocked { Stub(.get, "/**", .text("x")) })
    func random() async throws {
      let client = ExploredClient()
      _ = try await client.ok(client.request("GET", "/items/\(UUID())"))
      // As many segments as there have been runs.
      let count = Self.runs.withLock { runs in
        runs += 1
        return runs
      }
      let path = String(repeating: "/more", count: count)
      _ = try await client.ok(client.request("GET", "/all" + path))
    }

    private static let runs = Locked(1)
  }
}
