import Testing
import WaylayTesting

@Suite("The trait without braces and parentheses", .mocked, .timeLimit(.minutes(5)))
struct PlainTraitTests {
  @Test("gives each test a mock without stubs, which it can add to", .mocked)
  func onATest() async throws {
    MockInterceptor.current.add { Stub(.get, "https://api.example.com/users/1", .text("Ada")) }
    #expect(try await UserClient(session: .mocked).name(of: 1) == "Ada")
  }

  @Test("holds for the tests of a suite")
  func onASuite() async throws {
    #expect(MockInterceptor.current.requests.isEmpty)
    MockInterceptor.current.add { Stub(.get, "https://api.example.com/users/2", .text("Grace")) }
    #expect(try await UserClient(session: .mocked).name(of: 2) == "Grace")
  }

  @Test("with parentheses it is the same", .mocked())
  func withParentheses() async throws {
    MockInterceptor.current.add { Stub(.get, "https://api.example.com/users/3", .text("Alan")) }
    #expect(try await UserClient(session: .mocked).name(of: 3) == "Alan")
  }
}
