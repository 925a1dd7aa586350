import Foundation
import Logging
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("Interceptors that ship with the core", .timeLimit(.minutes(5)))
struct InterceptTests {
  @Test("closures change requests, change responses, and see both")
  func closures() async throws {
    try await withOrigin { origin in
      let seen = Log<String>()
      let registry = InterceptorRegistry {
        Intercept("watch") { request, next in
          seen.add("\(request.method) \(request.url.path)")
          let response = try await next(request)
          seen.add("\(response.status.code)")
          return response
        }
        Intercept(request: { $0.fields[.userAgent] = "app/1.0" })
        Intercept("status", response: { $0.status = .accepted })
      }
      let (_, head) = try await registry.data(for: URLRequest(url: origin.url("/echo")))
      #expect(head.statusCode == 202)
      #expect(seen.all == ["GET /echo", "202"])
      #expect(origin.requests.first?["User-Agent"] == ["app/1.0"])
      #expect(registry.chains.first?.interceptors.map(\.name) == ["watch", "Intercept", "status"])
    }
  }

  @Test("a field is set for its hosts alone, on redirects too", arguments: [HTTPField.Name.xAPIKey, .xHarmless])
  func fields(name: HTTPField.Name) async throws {
    try await withAway { origin, other in
      let registry = InterceptorRegistry { SetField(name, "k3y", for: .host("127.0.0.1:\(origin.port)")) }
      _ = try await registry.data(for: URLRequest(url: origin.url("/away")))
      #expect(origin.requests.first?[name.rawName] == ["k3y"])
      #expect(other.requests.first?[name.rawName] == [] && other.requests.count == 1)
    }
  }

  @Test("the value of a field is asked for with every request, and replaces what was there")
  func freshValues() async throws {
    let number = Locked(0)
    let link = SetField(
      .userAgent,
      "app/\(number.withLock { number in number += 1; return number })", for: .http)
    let echo = InterceptorChain.Next { InterceptedResponse(to: $0, body: .text($0.fields[.userAgent] ?? "none")) }
    for expected in ["app/1", "app/2"] {
      let request = InterceptedRequest(.get, .example, fields: [.userAgent: "old"])
      let response = try await link.startLoading(request, next: echo)
      #expect(try await response.body.collect(upTo: 100) == Data(expected.utf8))
    }
  }

  @Test(
    "a scope that cannot be read, and an order that an interceptor calls wrong, are reported when the chain is registered"
  )
  func reports() {
    struct Last: ChainValidating {
      func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse
      {
        try await next(request)
      }
      func problems(in chain: InterceptorChain) -> [String] {
        chain.interceptors.last is Last ? [] : ["is not the last"]
      }
    }
    let lines = Log<String>()
    let registry = InterceptorRegistry(logger: .recording(lines)) {
      Last()
      SetField(.xAPIKey, "…", for: .host("https://api.example.com"))
    }
    #expect(lines.all.contains { $0.contains("has Last, which is not the last") }, "\(lines.all)")
    #expect(lines.all.contains { $0.contains("has SetField, which has an invalid scope") }, "\(lines.all)")
    let before = lines.all.count
    registry.register(InterceptorChain("right") { Last() })
    #expect(lines.all.count == before)
  }

  @Test("a status of 400 or more becomes an error with head and the first KiB; the rest of the body is not awaited")
  func statuses() async throws {
    try await withOrigin { origin in
      origin.reply(to: "/bad") { _ in Reply(404, [("X-Why", "gone")], .gated("bad")) }
      let registry = InterceptorRegistry { ValidateStatus() }
      let load = Task { try await registry.data(for: URLRequest(url: origin.url("/bad?token=pl4nted"))) }
      origin.release(String(repeating: "a", count: 700), gate: "bad")
      origin.release(String(repeating: "b", count: 700), gate: "bad")
      let error = try #require(await failure { try await load.value.0 } as? URLError)
      let refusal = try #require(error.cause(as: StatusError.self))
      #expect(error.code == .badServerResponse && !error.isNetworkFailure)
      #expect(refusal.status == .notFound && refusal.fields.contains { $0.value == "gone" })
      #expect(refusal.body == Data((String(repeating: "a", count: 700) + String(repeating: "b", count: 324)).utf8))
      #expect(!"\(refusal)".contains("pl4nted") && !"\(refusal)".contains("aaa"))
      let fine = try await registry.data(for: URLRequest(url: origin.url("/echo"))).1
      #expect(fine.statusCode == 200)
    }
  }
}

extension HTTPField.Name {
  fileprivate static let xHarmless = HTTPField.Name("X-Harmless")!
}
