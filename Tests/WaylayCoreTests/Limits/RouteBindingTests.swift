import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite(
  "A route and the host that it was made for", .enabled(if: Platform.hasCurl, "only CurlTransport has routes"),
  .timeLimit(.minutes(5)))
struct RouteBindingTests {
  /// Sends `change` the request behind an interceptor that gives it a route; what comes of it, and what reached the
  /// server.
  private func outcome(
    _ change: @escaping @Sendable (inout InterceptedRequest) -> Void
  ) async throws -> (error: (any Error)?, bytes: Int, requests: Int) {
    var outcome: (error: (any Error)?, bytes: Int, requests: Int) = (nil, 0, 0)
    try await withOrigin { origin in
      let port = origin.port
      let transport = try #require(Platform.curlTransport())
      let registry = InterceptorRegistry(transport: transport, configuration: .ephemeral) {
        Link(name: "Dial") { request, next in
          var request = request
          request.route = try Route("127.0.0.1", port: port)
          return try await next(request)
        }
        Link(name: "Sign") { request, next in
          var request = request
          change(&request)
          return try await next(request)
        }
      }
      let url = try #require(URL(string: "http://first.example/hello?token=tok-1"))
      outcome.error = await failure { try await registry.data(for: URLRequest(url: url)) }
      outcome.bytes = origin.rawBytes.joined().count
      outcome.requests = origin.requests.count
      registry.invalidate()
    }
    return outcome
  }

  @Test("a request whose URL has come to name another host is not sent to the first one's address")
  func otherHost() async throws {
    for url in ["http://second.example/hello", "http://first.example:8080/hello", "https://first.example/hello"] {
      let outcome = try await outcome { $0.url = URL(string: url) ?? $0.url }
      let error = outcome.error.flatMap(cause)
      #expect(error?.code == .routeMismatch)
      #expect(error?.message.contains("first.example") == true)
      #expect(outcome.bytes == 0)
    }
    let second = try await outcome { $0.urlRequest.url = URL(string: "http://second.example/hello") }
    #expect(second.error.flatMap(cause)?.message.contains("second.example") == true)
  }

  @Test("path and query may change; the letters of a host do not matter")
  func sameHost() async throws {
    for url in ["http://first.example/hello?a=b", "http://FIRST.example:80/hello"] {
      let outcome = try await outcome { $0.url = URL(string: url) ?? $0.url }
      #expect(outcome.error == nil)
      #expect(outcome.requests == 1)
    }
  }

  @Test("an interceptor that changes the host may take the route off, or set one for the new host")
  func anew() async throws {
    let outcome = try await outcome { request in
      let route = request.route
      request.urlRequest.url = URL(string: "http://second.example/hello")
      request.route = nil
      request.route = route.flatMap { try? Route($0.address, port: $0.port) }
    }
    #expect(outcome.error == nil)
    #expect(outcome.requests == 1)
  }

  @Test("the transport asks too, where no chain does")
  func transport() async throws {
    try await withOrigin { origin in
      let transport = try #require(Platform.curlTransport())
      var request = InterceptedRequest(.get, .example)
      request[Route.self] = try Route("127.0.0.1", port: origin.port)
      request.urlRequest.url = URL(string: "http://second.example/hello")
      let error = await failure { [request] in try await transport.load(request) }
      #expect((error as? WaylayError)?.code == .routeMismatch)
      #expect(origin.rawBytes.joined().isEmpty)
      transport.invalidate()
    }
  }
}
