import TestSupport
import Testing
import WaylayMocks

@Suite("Scenarios", .timeLimit(.minutes(5)))
struct ScenarioTests {
  private let cart = Scenario("cart", states: ["empty", "full"])
  private let url = "https://api.example.com/cart"

  private var stubs: [Stub] {
    [
      Stub(.get, "/cart") { .text("nothing") }.scenario(cart, requires: "empty"),
      Stub(.get, "/cart") { .text("a book") }.scenario(cart, requires: "full"),
      Stub(.post, "/cart") { .text("added") }.scenario(cart, requires: "empty", next: "full"),
      Stub(.delete, "/cart") { .text("emptied") }.scenario(cart, next: "empty"),
    ]
  }

  @Test("What is answered depends on what came before")
  func states() async throws {
    let mock = MockInterceptor { stubs }
    #expect(mock.state(of: cart) == "empty")
    #expect(try await mock.text("GET", url) == "nothing")
    #expect(try await mock.text("POST", url) == "added")
    #expect(mock.state(of: cart) == "full")
    #expect(try await mock.text("GET", url) == "a book")
    #expect(try await mock.text("DELETE", url) == "emptied")
    #expect(try await mock.text("GET", url) == "nothing")
    #expect(mock.issues.isEmpty)
  }

  @Test("Each mock has a state of its own")
  func isolation() async throws {
    let (one, other) = (MockInterceptor { stubs }, MockInterceptor { stubs })
    #expect(try await one.text("POST", url) == "added")
    #expect(try await one.text("GET", url) == "a book")
    #expect(try await other.text("GET", url) == "nothing")
  }

  @Test("Of a hundred requests at once, one moves the scenario on")
  func race() async throws {
    let mock = MockInterceptor(unmatched: .respond(501)) { stubs }
    let moved = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<100 { group.addTask { await (try? mock.text("POST", url)) == "added" } }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(moved == 1)
  }

  @Test("A request in the wrong state is told so")
  func wrongState() async throws {
    let mock = MockInterceptor { stubs }
    try mock.setState("full", of: cart)
    let error = await failure { try await mock.text("POST", url) }
    #expect(mockError(error)?.code == .usedUp)
    #expect(
      mockError(error)?.message.contains(
        #"the scenario "cart" is in the state "full", and the stub requires "empty""#) == true)
  }

  @Test("A state that the scenario does not have is a mistake, where it is written")
  func unknownState() async throws {
    let line: UInt = #line + 2
    let mock = MockInterceptor {
      Stub(.get, "/cart") { .status(200) }.scenario(cart, requires: "fulll")
      Stub(.get, "/cart") { .status(200) }.scenario(cart, next: "broken")
      Stub(.get, "/cart") { .status(200) }.scenario(Scenario("none", states: []))
    }
    #expect(mock.issues.map(\.location.line) == [line, line + 1, line + 2])
    #expect(mock.issues.first?.message.contains(#"has no state "fulll": its states are "empty", "full""#) == true)
    let error = await failure { try mock.setState("closed", of: cart) }
    #expect(mockError(error)?.code == .unknownState)
    #expect(mockError(error)?.location?.line == UInt(#line) - 2)
  }
}
