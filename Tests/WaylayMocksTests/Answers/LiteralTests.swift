import Foundation
import Testing
import WaylayHAR
import WaylayMocks

// A file that imports both modules compiles: there is one `JSONValue`.

@Suite("JSON literals with variables", .timeLimit(.minutes(5)))
struct LiteralTests {
  private let id = 42
  private let name = "Ada"
  private let note: String? = nil
  private let big: Int64 = 9_007_199_254_740_993
  private let rate = 1.5
  private let isPaid = true
  private let tags = ["a", "b"]
  private let prices = ["x": 1.5]

  private func body(_ stub: Stub) async throws -> String {
    let mock = MockInterceptor { stub }
    return try await mock.text("GET", "https://api.example.com/x")
  }

  private func accepts(_ matcher: BodyMatcher, _ body: String) async throws -> Bool {
    try await Stub(.post, "/x").where(.body(matcher))
      .matches(.make("POST", "https://api.example.com/x", body: Data(body.utf8)))
  }

  @Test("plain literals keep the order of their members")
  func plain() async throws {
    let stub = Stub(.get, "/x", .json(["id": 42, "tags": [], "address": nil]))
    #expect(try await body(stub) == #"{"id":42,"tags":[],"address":null}"#)
    #expect(try await body(Stub(.get, "/x", .json(["z": 1, "a": "2"]))) == #"{"z":1,"a":"2"}"#)
    #expect(try await body(Stub(.get, "/x", .json([1, "a", nil, true, 2.5]))) == #"[1,"a",null,true,2.5]"#)
    #expect(try await body(Stub(.get, "/x", .json([]))) == "[]")
    #expect(try await body(Stub(.get, "/x", .json([:]))) == "{}")
    #expect(try await body(Stub(.get, "/x", .json(nil))) == "null")
    let nested = Stub(
      .get, "/x",
      .json(
        [
          "items": [["id": 1, "tags": ["a", nil]], ["id": 2, "tags": []]], "next": nil,
          "user": ["name": "Ada", "address": ["city": "London", "zip": nil]], "total": 2, "price": 3.5, "isNew": true,
        ], status: 201))
    #expect(
      try await body(nested)
        == #"{"items":[{"id":1,"tags":["a",null]},{"id":2,"tags":[]}],"next":null,"#
        + #""user":{"name":"Ada","address":{"city":"London","zip":null}},"total":2,"price":3.5,"isNew":true}"#)
  }

  @Test("variables of any simple type stand in a literal, also optional ones")
  func variables() async throws {
    #expect(try await body(Stub(.get, "/x", .json(["id": id, "name": name]))) == #"{"id":42,"name":"Ada"}"#)
    #expect(try await body(Stub(.get, "/x", .json(["id": id]))) == #"{"id":42}"#)
    #expect(try await body(Stub(.get, "/x", .json(["name": name, "note": note]))) == #"{"name":"Ada","note":null}"#)
    let all = Stub(
      .get, "/x",
      .json([
        "id": id, "name": name, "note": note, "big": big, "rate": rate, "isPaid": isPaid, "tags": tags,
        "prices": prices, "text": "user \(id)", "one": 1, "none": nil,
      ]))
    #expect(
      try await body(all)
        == #"{"id":42,"name":"Ada","note":null,"big":9007199254740993,"rate":1.5,"isPaid":true,"tags":["a","b"],"#
        + #""prices":{"x":1.5},"text":"user 42","one":1,"none":null}"#)
  }

  @Test("variables of one type keep their order too, and a name may come twice")
  func oneType() async throws {
    #expect(try await body(Stub(.get, "/x", .json(["z": name, "a": name]))) == #"{"z":"Ada","a":"Ada"}"#)
    #expect(try await body(Stub(.get, "/x", .json(["z": id, "a": 1, "m": id]))) == #"{"z":42,"a":1,"m":42}"#)
    #expect(try await body(Stub(.get, "/x", .json(["z": note, "a": name]))) == #"{"z":null,"a":"Ada"}"#)
    #expect(try await body(Stub(.get, "/x", .json(["a": id, "a": id]))) == #"{"a":42,"a":42}"#)
    #expect(try await body(Stub(.get, "/x", .json(["z": "1", "a": "2"]))) == #"{"z":"1","a":"2"}"#)
    let rows: [JSONValue] = [["z": 1, "a": "2"]]
    #expect(try await body(Stub(.get, "/x", .json(rows))) == #"[{"z":1,"a":"2"}]"#)
    #expect(try await body(Stub(.get, "/x", .json(["rows": rows]))) == #"{"rows":[{"z":1,"a":"2"}]}"#)
    #expect(try await accepts(.json(["z": name, "a": name]), #"{"a":"Ada","z":"Ada"}"#))
    #expect(try await accepts(.jsonSubset(["a": name, "z": name]), #"{"a":"Ada","m":1,"z":"Ada"}"#))
  }

  @Test("a literal in a literal, and one with [], take variables by .init")
  func nested() async throws {
    let stub = Stub(.get, "/x", .json(["user": ["id": .init(id), "note": .init(note)], "tags": []]))
    #expect(try await body(stub) == #"{"user":{"id":42,"note":null},"tags":[]}"#)
    let value: JSONValue = ["id": .init(id), "tags": .init(tags)]
    #expect(value["tags"]?[1]?.string == "b")
    #expect(try await body(Stub(.get, "/x", .json(value))) == #"{"id":42,"tags":["a","b"]}"#)
  }

  @Test("top-level arrays take variables")
  func arrays() async throws {
    #expect(try await body(Stub(.get, "/x", .json([id, name, note]))) == #"[42,"Ada",null]"#)
    #expect(try await body(Stub(.get, "/x", .json([id, 7]))) == "[42,7]")
    #expect(try await body(Stub(.get, "/x", .json([["id": .init(id)], ["id": 2]]))) == #"[{"id":42},{"id":2}]"#)
  }

  @Test("values that encode themselves are encoded")
  func encodable() async throws {
    struct User: Encodable { var id = 1 }
    #expect(try await body(Stub(.get, "/x", .json(User()))) == #"{"id":1}"#)
    #expect(try await body(Stub(.get, "/x", .json(tags))) == #"["a","b"]"#)
    #expect(try await body(Stub(.get, "/x", .json(prices))) == #"{"x":1.5}"#)
  }

  @Test("conditions take variables too")
  func conditions() async throws {
    let body = #"{"id": 42, "name": "Ada", "note": null, "tags": ["a", "b"]}"#
    #expect(try await accepts(.json(["id": id, "name": name, "note": note, "tags": tags]), body))
    #expect(try await accepts(.json(["id": 42, "name": "Ada", "note": nil, "tags": ["a", "b"]]), body))
    #expect(try await !accepts(.json(["id": id, "name": name]), body))
    #expect(try await accepts(.jsonSubset(["id": id]), body))
    #expect(try await accepts(.jsonSubset(["id": 42]), body))
    #expect(try await accepts(.jsonSubset(["id": id, "note": note]), body))
    #expect(try await accepts(.jsonSubset(["tags": ["b", "a"]], ignoringArrayOrder: true), body))
    #expect(try await accepts(.jsonSubset(["tags": ["b"], "id": .init(id)], ignoringArrayOrder: true), body))
    #expect(try await accepts(.jsonPath("$.id", equals: id), body))
    #expect(try await accepts(.jsonPath("$.note", equals: note), body))
    #expect(try await accepts(.jsonPath("$.note", equals: nil), body))
    #expect(try await accepts(.json([id, name, note]), #"[42, "Ada", null]"#))
    #expect(try await !accepts(.json(["id": id]), #"{"id": "42"}"#))
  }
}
