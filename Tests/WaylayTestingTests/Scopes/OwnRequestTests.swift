import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayTesting

@Suite("What the closure of a stub asks for", .timeLimit(.minutes(5)))
struct OwnRequestTests {
  private static let login = URL(string: "https://api.example.com/login")!
  private static let token = URL(string: "https://api.example.com/token")!

  @Test("is answered by the stubs of the test, in the session and without one")
  func answered() async throws {
    try await withMock {
      Stub(.get, "/token", .text("t")).times(2)
      Stub(.get, "/login") { _ in
        let (first, _) = try await URLSession.mocked.data(from: Self.token)
        let second = try await MockScope.current?.registry.data(for: URLRequest(url: Self.token)).0 ?? Data()
        return .data(first + second)
      }
    } operation: { () async throws in
      let (data, _) = try await URLSession.mocked.data(from: Self.login)
      #expect(String(decoding: data, as: UTF8.self) == "tt")
      #expect(MockInterceptor.current.requests.map(\.url.path) == ["/login", "/token", "/token"])
    }
  }

  @Test("does not leave when no stub is for it, and is reported")
  func missing() async throws {
    let origin = try await TestOrigin.start()
    let url = origin.url("/hello")
    let reports = await collectReports {
      await withMock {
        Stub(.get, "/login") { _ in .data(try await URLSession.mocked.data(from: url).0) }
      } operation: { () async in
        _ = await #expect(throws: URLError.self) { _ = try await URLSession.mocked.data(from: Self.login) }
      }
    }
    #expect(reports.count == 1 && reports.first?.text.contains("hello") == true)
    #expect(origin.connectionCount == 0)
    await origin.stop()
  }

  /// On a busy machine each of many loads waits for its turn.
  private static let patient = URLRequest(url: login, timeoutInterval: 600)

  @Test("ends in an error when a stub asks for itself without an end")
  func endless() async throws {
    await withMock {
      Stub(.get, "/login") { _ in .data(try await URLSession.mocked.data(for: Self.patient).0) }
    } operation: { () async in
      let error = await #expect(throws: URLError.self) { _ = try await URLSession.mocked.data(for: Self.patient) }
      #expect(error?.cause(as: WaylayError.self)?.code == .loopDetected)
    }
  }
}
