#if AsyncHTTPClient
  import AsyncHTTPClient
  import Foundation
  import NIOCore
  import Testing
  import WaylayAsyncHTTPClient
  import WaylayInspector
  import WaylayTesting

  // The listings of `OnServers.md`. Those that are tests run. What it shows of Swift OpenAPI is in `OtherClientsTests.swift`.

  struct Weather: Sendable {
    let client: InterceptedHTTPClient

    func today() async throws -> String {
      let request = HTTPClientRequest(url: "https://weather.example.com/today")
      let response = try await client.execute(request, timeout: .seconds(30))
      return String(buffer: try await response.body.collect(upTo: 1 << 20))
    }
  }

  private func program(_ inspector: Inspector) async throws {
    let client = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
    let registry = InterceptorRegistry { inspector }
    let weather = Weather(client: InterceptedHTTPClient(client, registry))
    _ = weather
    try await client.shutdown()
  }

  @Suite("The listings of the page on servers", .timeLimit(.minutes(5)))
  struct OnServersListings {
    @Test(.mocked { Stub(.get, "https://weather.example.com/today", .text("rain")) })
    func saysWhatTheSkyDoes() async throws {
      #expect(try await Weather(client: .mocked).today() == "rain")
    }
  }

  private func beneath(_ inspector: Inspector, _ url: URL) async throws {
    var configuration = HTTPClient.Configuration()
    configuration.timeout.connect = .seconds(5)
    let registry = InterceptorRegistry(transport: AsyncHTTPClientTransport(configuration: configuration)) { inspector }
    let (data, _) = try await registry.data(for: URLRequest(url: url))
    _ = data
  }
#endif
