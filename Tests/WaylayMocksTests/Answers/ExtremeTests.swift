import Foundation
import TestSupport
import Testing
import WaylayCore
import WaylayMocks

@Suite("Messages and numbers as large as they can be", .timeLimit(.minutes(5)))
struct ExtremeTests {
  private func load(_ response: MockResponse) async throws -> URLError? {
    let mock = MockInterceptor { Stub(.get, "/x") { response } }
    let registry = InterceptorRegistry(configuration: .ephemeral) { mock }
    let url = try #require(URL(string: "http://api.example/x"))
    let error = await failure { try await registry.data(for: URLRequest(url: url)) } as? URLError
    registry.invalidate()
    return error
  }

  @Test("a raw message with 70 000 fields is an error, one with 70 000 folded lines is read", .timeLimit(.minutes(1)))
  func raw() async throws {
    let many = Data(("HTTP/1.1 200 OK\r\n" + String(repeating: "X:\r\n", count: 70_000) + "\r\n").utf8)
    let error = try await load(.raw(many))
    #expect(error != nil)
    let folded = Data(("HTTP/1.1 200 OK\r\nX: a\r\n" + String(repeating: "\tb\r\n", count: 70_000) + "\r\n").utf8)
    #expect(try await load(.raw(folded)) == nil)
  }

  @Test("an answer to which more fields are added than a message can have is an error", .timeLimit(.minutes(1)))
  func added() async throws {
    var answer = MockResponse.raw(
      Data(("HTTP/1.1 200 OK\r\n" + String(repeating: "X:\r\n", count: 65_500) + "\r\n").utf8))
    for _ in 0..<100 { answer = answer.addingHeader("X", "") }
    #expect(try await load(answer) != nil)
  }

  @Test("a call is described without its secrets")
  func description() async throws {
    let mock = MockInterceptor { Stub(.get, "/x") { .status(204) } }
    let registry = InterceptorRegistry(configuration: .ephemeral) { mock }
    let url = try #require(URL(string: "http://api.example/x?page=2&access_token=pl4nted#pl4nted"))
    _ = try await registry.data(for: URLRequest(url: url))
    #expect(mock.calls.map(\.description) == ["GET http://api.example/x?page=2&access_token=…"])
    registry.invalidate()
  }
}
