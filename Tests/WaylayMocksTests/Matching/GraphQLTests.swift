import TestOrigin
import TestSupport
import Testing

@testable import WaylayMocks

@Suite("GraphQL operations", .timeLimit(.minutes(5)))
struct GraphQLTests {
  @Test("a stub is for the operation that a request names, in a body or in a query")
  func requests() async throws {
    let mock = MockInterceptor(.init(unmatched: .status(501))) {
      Stub("/graphql", .text("orders")).where(.graphQL("Orders"))
      Stub("/graphql", .text("user")).where(.graphQL("User"))
    }
    let url = "https://a.test/graphql"
    #expect(try await mock.text("POST", url, body: #"{"operationName":"Orders","query":"query X { a }"}"#) == "orders")
    #expect(try await mock.text("POST", url, body: ##"{"query":"# query X {\nquery User($id: ID) { a }"}"##) == "user")
    #expect(try await mock.text("POST", url, body: #"{"operationName":"User","extensions":{}}"#) == "user")
    #expect(try await mock.text("GET", url + "?query=query%20Orders%20%7Ba%7D") == "orders")
    #expect(try await mock.text("GET", url + "?operationName=User&extensions=%7B%7D") == "user")
    let others = [
      #"{"query":"query Other { a }"}"#, #"{"query":"{ a }"}"#, "no JSON", "", #"[{"query":"query User {a}"}]"#,
    ]
    for body in others {
      #expect(try await mock.ask(.make("POST", url, body: Data(body.utf8))).status == 501)
    }
    #expect(mock.issues.contains { $0.message.contains("GraphQL operation") && $0.message.contains("Other") })
  }

  @Test(
    "the name of a document is that of its first operation",
    arguments: [
      ("query Orders { a }", "Orders"), ("mutation Add($a: In = {b: \"query X\"}) @d(e: {f: 1}) { a }", "Add"),
      ("subscription _9 { a }", "_9"), ("fragment query on User { a } query Second { ...query }", "Second"),
      ("\"\"\"query A { \\\"\"\" \"\"\" query B { a }", "B"), ("{ query a }", nil), ("query { a }", nil),
      ("query ($a: Int) { a }", nil), ("query @d { a }", nil), ("", nil), ("\"query A", nil), ("query", nil),
      ("#query A\rquery C{a}", "C"), ("type Query { query: Int } ", nil),
    ] as [(String, String?)])
  func documents(_ document: String, _ name: String?) {
    #expect(GraphQL.operations(in: document).first?.name == name)
  }

  @Test("no document stops the search for a name")
  func any() {
    var dice = SplitMix(state: 7)
    let parts = ["query", " ", "{", "}", "(", ")", "\"", "\"\"\"", "\\", "#", "\n", "@", "name", "é", "\u{0}"]
    for _ in 0..<2000 {
      let document = (0..<Int.random(in: 0..<20, using: &dice)).map { _ in parts.randomElement(using: &dice)! }.joined()
      for case let name? in GraphQL.operations(in: document).map(\.name) { #expect(document.contains(name)) }
    }
  }
}
