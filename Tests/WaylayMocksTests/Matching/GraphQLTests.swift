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
      #"{"query":"query Other { a }"}"#, #"{"query":"{ a }"}"#, "no JSON", "", #"[{"query":"query Users {a}"}]"#,
    ]
    for body in others {
      #expect(try await mock.ask(.make("POST", url, body: Data(body.utf8))).status == 501)
    }
    #expect(mock.issues.contains { $0.message.contains("GraphQL operation") && $0.message.contains("Other") })
  }

  @Test("a stub is for an operation of a batch, of a document alone, and of an upload's form")
  func bodies() async throws {
    let mock = MockInterceptor(.init(unmatched: .status(501))) {
      Stub("/graphql", .text("user")).where(.graphQL("User"))
    }
    func answer(_ body: String, _ type: String, _ query: String = "") async throws -> String {
      try await mock.text("POST", "https://a.test/graphql\(query)", body: body, headers: ["Content-Type": type])
    }
    let json = "application/json"
    #expect(try await answer(#"[{"query":"{a}"},{"query":"mutation User {a}"}]"#, json) == "user")
    #expect(try await answer(#"{"query":"query A {a} query User {b}"}"#, json, "?operationName=User") == "user")
    #expect(try await answer("query User { a }", "application/graphql; charset=utf-8") == "user")
    #expect(
      try await answer("query A {a} query User {b}", "application/graphql", "?operationName=User") == "user")
    func upload(_ operations: String) -> String {
      let head = "--b\r\nContent-Disposition: form-data; name="
      return "\(head)\"operations\"\r\n\r\n\(operations)\r\n\(head)\"0\"; filename=\"a\"\r\n\r\nx\r\n--b--\r\n"
    }
    let form = "multipart/form-data; boundary=b"
    #expect(try await answer(upload(#"{"query":"mutation User($f: Upload!) {a}"}"#), form) == "user")
    #expect(try await answer(upload(#"[{"query":"{a}"},{"operationName":"User"}]"#), form) == "user")
    #expect(try await answer(upload(#"{"query":"mutation Other {a}"}"#), form) != "user")
    #expect(try await answer("query User { a }", "text/plain") != "user")
    #expect(mock.issues.last?.message.contains("GraphQL operation  expected User") == true)
    #expect(mock.requests.first?.graphQLOperations == ["query", "mutation User"])
    #expect(mock.requests[4].graphQLOperations == ["mutation User"])
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
