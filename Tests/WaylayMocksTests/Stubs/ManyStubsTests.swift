import TestSupport
import Testing
import WaylayMocks

@Suite("Many stubs", .timeLimit(.minutes(10)))
struct ManyStubsTests {
  @Test("thousands for one request that answer once are asked as they are written", .heavy)
  func manyOnce() async throws {
    let mock = MockInterceptor {
      for number in 0..<Sizes.of(10_000, small: 2_000) { Stub(.get, "/x", .text("\(number)")).once.optional }
    }
    for number in 0..<100 { #expect(try await mock.text("GET", "https://a.b/x") == "\(number)") }
  }

  @Test("a miss among thousands names the nearest", .heavy)
  func miss() async throws {
    let count = Sizes.of(10_000, small: 2_000)
    let mock = MockInterceptor {
      for number in 0..<count { Stub(.get, "https://api.example.com/items/\(number)", .status(200)).optional }
    }
    let error = await failure { try await mock.ask(.get("https://api.example.com/item/7")) }
    let text = try #require(mockError(error)).message
    #expect(text.contains("Nearest of \(count) stubs:\n  GET https://api.example.com/items/7 ["), "\(text)")
  }
}
