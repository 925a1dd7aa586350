import Forecasts
import Foundation
import Testing
import WaylayTesting

@Suite struct ForecastsTests {
  @Test(.mocked { Stub(.get, "https://weather.example.com/Vienna", .text("rain")).times(1) })
  func asksOnceAMinute() async {
    let forecasts = Forecasts(configuration: .mocked)
    for _ in 1...2 {
      let (status, body) = await forecasts.response(city: "Vienna")
      #expect(status == 200 && body == Data("rain".utf8))
    }
  }

  @Test(
    .mocked { Stub(.get, "https://weather.example.com/Vienna", .status(503).field("Retry-After", "0"), .text("rain")) })
  func asksAgainWhenTheOtherServerIsBusy() async {
    #expect(await Forecasts(configuration: .mocked).response(city: "Vienna").status == 200)
  }

  @Test(.mocked { Stub(.get, "https://weather.example.com/Vienna", .error(.badServerResponse)) })
  func saysThatTheOtherServerFails() async {
    #expect(await Forecasts(configuration: .mocked).response(city: "Vienna").status == 502)
  }

  @Test(.mocked { Stub(.get, "https://weather.example.com/S%C3%A3o%20Paulo", .text("sun")) })
  func servesOverASocket() async throws {
    let server = Server(Forecasts(configuration: .mocked))
    let (ports, port) = AsyncStream.makeStream(of: Int.self)
    let running = Task { try await server.run { port.yield($0) } }
    defer { running.cancel() }
    let number = try #require(await ports.first { _ in true })
    let url = try #require(URL(string: "http://127.0.0.1:\(number)/S%C3%A3o%20Paulo"))
    let (body, _) = try await URLSession.shared.data(from: url)
    #expect(String(decoding: body, as: UTF8.self) == "sun")
  }
}
