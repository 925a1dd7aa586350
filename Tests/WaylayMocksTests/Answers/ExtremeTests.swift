import Foundation
import TestSupport
import Testing
import WaylayCore

@testable import WaylayMocks

@Suite("Messages as large as they can be", .timeLimit(.minutes(5)))
struct ExtremeTests {
  private func load(_ response: MockResponse) async throws -> URLError? {
    let mock = MockInterceptor { Stub(.get, "/x", response) }
    let registry = InterceptorRegistry(configuration: .ephemeral) { mock }
    let url = try #require(URL(string: "http://api.example/x"))
    let error = await failure { try await registry.data(for: URLRequest(url: url)) } as? URLError
    registry.invalidate()
    return error
  }

  @Test("an answer to which more fields are added than a message can have is an error", .timeLimit(.minutes(1)))
  func added() async throws {
    let fields = HTTPFields(repeatElement(HTTPField(name: .accept, value: ""), count: 65_500))
    var answer = MockResponse(content: .message(MockResponse.Message(fields: fields)))
    for _ in 0..<100 { answer = answer.addingField("Accept", "") }
    #expect(try await load(answer) != nil)
  }

  @Test("a call is described without its secrets")
  func description() async throws {
    let mock = MockInterceptor { Stub(.get, "/x", .status(204)) }
    let registry = InterceptorRegistry(configuration: .ephemeral) { mock }
    let url = try #require(URL(string: "http://api.example/x?page=2&access_token=pl4nted#pl4nted"))
    _ = try await registry.data(for: URLRequest(url: url))
    #expect(mock.requests.map(\.description) == ["GET http://api.example/x?page=2&access_token=…"])
    registry.invalidate()
  }
}
