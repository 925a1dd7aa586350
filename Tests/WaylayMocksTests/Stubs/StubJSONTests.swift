import Foundation
import TestSupport
import Testing
import WaylayHAR

@testable import WaylayMocks

@Suite("Stubs in JSON")
struct StubJSONTests {
  /// Stubs that have a form in JSON, and what it has to hold.
  static let portable: [(Stub, String)] = [
    (Stub("/a", .text("a")), #""url":"/a""#),
    (Stub(.get, "https://*.example.com:8080/a/:id(\\d+)?page=*", .status(204)), #""status":204"#),
    (Stub(.any, .status(200)), #""url":"*""#),
    (Stub(.post, URL(string: "https://example.com/a*(b)?q=:x")!, .status(201)), #""literal":"https:"#),
    (Stub(.get, .regex("/v\\d+$"), .status(200)), #""regex":"/v\\d+$""#),
    (
      Stub(.named("PURGE"), "/a").where(.query("a", "1"), .query("b", nil), .query("c")),
      #""query":{"a":"1","b":null,"c":true}"#
    ),
    (Stub(.get, "/a").where(.field("X-A", "1"), .field("X-B")), #""fields":{"X-A":"1","X-B":true}"#),
    (Stub(.post, "/a").where(.body(.json(["a": [1, nil]]))), #""body":{"json":{"a":[1,null]}}"#),
    (Stub(.post, "/a").where(.body(.jsonSubset(["a": [1, 2]], ignoringArrayOrder: true))), #""anyOrder":true"#),
    (Stub(.post, "/a").where(.body(.text("a"))), #""body":{"text":"a"}"#),
    (Stub(.post, "/a").where(.graphQL("Orders")), #""graphQL":"Orders""#),
    (Stub(.post, "/a").where(.body(.data(Data([0, 255])))), #""body":{"base64":"AP8="}"#),
    (Stub(.post, "/a").where(.body(.empty)), #""body":"empty""#),
    (Stub(.post, "/a").where(.body(.present)), #""body":"present""#),
    (
      Stub(.get, "/a").where(.query(["a": "1", "a": "2", "b": nil], exactly: true)),
      #""where":[{"exactly":true,"query":{"a":["1","2"],"b":null}}]"#
    ),
    (Stub(.get, "/a").where(.field("X-A", regex: "^a")), #""fields":{"X-A":{"regex":"^a"}}"#),
    (
      Stub("/a").where(.method(.put) || .url("/a/*?b=1") && !.field("X-A")),
      #"{"any":[{"method":"PUT"},{"all":[{"url":"/a/*?b=1"},{"not":{"fields":{"X-A":true}}}]}]}"#
    ),
    (Stub(.post, "/a").where(.body(.regex("^a"))), #""body":{"regex":"^a"}"#),
    (Stub(.post, "/a").where(.body(.jsonPath("$.a", equals: nil))), #"{"equals":null,"jsonPath":"$.a"}"#),
    (Stub(.post, "/a").where(.body(.jsonPath(exists: "$.a"))), #""body":{"jsonPath":"$.a"}"#),
    (Stub(.post, "/a").where(.body(.form(["a": "1", "a": "2"]))), #""body":{"form":{"a":["1","2"]}}"#),
    (Stub(.post, "/a").where(.body(.form(["a": "1"], exactly: false))), #"{"exactly":false,"form":{"a":"1"}}"#),
    (
      Stub(.post, "/a").where(.body(.multipart(["a": .text("1"), "b": .file("b.png", type: "image/png")]))),
      #"{"body":{"file":{"content":"present","name":"b.png","type":"image/png"}},"name":"b"}"#
    ),
    (Stub(.post, "/a").where(.body(.text("a")), .body(.regex("a"))), #""where":[{"body":{"regex":"a"}}]"#),
    (Stub(.get, "/a", .json(["n": 1.50]), .data(Data([255]), type: "image/png")), #""base64":"/w==""#),
    (Stub(.get, "/a", .status(204).cookie("a=1").cookie("b=2")), #"["a=1","b=2"]"#),
    (Stub(.get, "/a", .text("a").delay(.milliseconds(500))), #""delay":0.5"#),
    (Stub(.get, "/a", .fault(.offline)), #""fault":"offline""#),
    (Stub(.get, "/a", .fault(.tls(.expired))), #""fault":"tls(expired)""#),
    (Stub(.get, "/a", .text("abc").fault(.truncated(afterBytes: 2))), #""fault":"truncated(afterBytes: 2)""#),
    (Stub(.get, "/a", .text("abc").fault(.stalledAtEnd)), #""fault":"stalled"#),
    (Stub(.get, "/a", .error(.userAuthenticationRequired)), #""error":-1013"#),
    (Stub(.get, "/a", .never), #""never":true"#), (Stub(.get, "/a", .passThrough), #""passThrough":true"#),
    (Stub(.get, "/a").times(2...3).priority(-1).optional, #""times":[2,3]"#),
    (Stub(.get, "/a").once.required, #""required":true"#),
    (Stub(.get, "/a", .text("a"), .text("b")).cycling, #""cycling":true"#),
  ]

  @Test("Repeated query items keep their order in JSON")
  func repeatedItems() async throws {
    let stub = Stub(.any, .status(204)).where(.query(["a": "1", "a": "3"]))
    let copy = try Stub(json: stub.json())
    for query in ["a=1&a=3", "a=3&a=1"] {
      for stub in [stub, copy] {
        let mock = MockInterceptor { stub.optional }
        let error = await failure { try await mock.ask(.get("https://a.b/x?\(query)")) }
        #expect((error == nil) == (query == "a=1&a=3"), "\(query)")
      }
    }
  }

  @Test("a stub is the same after its way through JSON, and says where it was written", arguments: portable.indices)
  func roundTrip(index: Int) throws {
    let (stub, part) = Self.portable[index]
    let json = try stub.json()
    #expect(json.description.contains(part), "\(json)")
    let copy = try Stub(json: JSONValue(parsing: json.description))
    #expect(copy.location.description.contains("StubJSONTests.swift"))
    #expect(try copy.json() == json)
    #expect(
      "\(copy)" == "\(stub)" && copy.pattern.conditions.map(\.identity) == stub.pattern.conditions.map(\.identity))
    #expect(copy.listed.map { "\($0)" } == stub.listed.map { "\($0)" })
    #expect(copy.needed == stub.needed && copy.requirement == stub.requirement)
  }

  @Test("a stub matches and answers the same after its way through JSON")
  func behaviour() async throws {
    func answers(_ stub: Stub, _ url: String) async throws -> [String] {
      let request = URLRequest(url: try #require(URL(string: url)))
      let mock = MockInterceptor(.init(unmatched: .status(501))) { stub }
      let registry = InterceptorRegistry(configuration: .ephemeral) { mock }
      defer { registry.invalidate() }
      do {
        let response = try await registry.load(request)
        let fields = response.fields.filter { $0.name == .setCookie }.map(\.value)
        let data = try await response.body.collect(upTo: 1 << 20)
        return ["\(response.status.code)", data.base64EncodedString()] + fields
      } catch { return ["\((error as? URLError)?.code.rawValue ?? 0)"] }
    }
    let marked = Data([0xEF, 0xBB, 0xBF]) + Data("{}".utf8)
    let urls = ["https://a.test/users/*", "https://a.test/users/7", "https://a.test/a", "https://a.test/users/a%20b"]
    for stub in [
      Stub(.get, URL(string: "/users/*")!, .text("literal")), Stub(.get, "/users/*", .text("pattern")),
      Stub("*", .data(marked, type: "application/json")),
      Stub(.any, .status(204).addingField("Set-Cookie", "a=1").addingField("set-cookie", "b=2")),
      Stub(.any, .text("abc").fault(.truncated(afterBytes: 1)).fault(.offline)),
      Stub(.any, .text("abc").fault(.offline).fault(.truncated(afterBytes: 1))),
    ] {
      let copy = try Stub(json: JSONValue(parsing: stub.json().description))
      for url in urls {
        let (before, after) = (try await answers(stub, url), try await answers(copy, url))
        #expect(before == after, "\(stub) for \(url)")
      }
    }
  }

  @Test("what no other process can be given is refused, with the part and the place")
  func refusals() {
    let stubs: [(Stub, String)] = [
      (Stub(.get, "/a") { .text("a") }, "the closure"),
      (Stub(.get, "/a").where(.predicate("odd") { _ in true }), "odd"),
      (Stub(.get, "/a").where(.field("X-A", "1") || !.predicate("even") { _ in true }), "even"),
      (Stub(.get, "/a", .chunks(["a", "b"])), "the response"),
      (Stub(.get, "/a", .error(MockError(.invalidForm, "x"))), "error"),
      (Stub(.get, "/a", .passThrough.mergingJSON(["a": 1])), "changed"),
      (Stub(.get, "/a", .text("a").chunking(.everyByte)), "the response"),
      (Stub(.get, "/a", .text("a").network(.threeG)), "the response"),
    ]
    for (stub, part) in stubs {
      let error = #expect(throws: MockError.self) { _ = try stub.json() }
      #expect(error?.code == .notPortable && error?.message.contains(part) == true, "\(error?.message ?? "")")
      #expect(error?.location?.description.contains("StubJSONTests.swift") == true)
    }
    #expect(throws: MockError.self) { _ = try Stub(.get, "/a", .status(99)).json() }
  }

  @Test("a file's bytes go with the stub")
  func files() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: file) }
    let stub = Stub(.get, "/a", .file(file))
    #expect(throws: MockError.self) { _ = try stub.json() }
    try Data("[1]".utf8).write(to: file)
    #expect(try stub.json().description.contains(#""text":"[1]""#))
  }

  @Test("JSON written by hand is short, and its members are known by name")
  func byHand() throws {
    let stub = try Stub(json: #"{"url":"/a","responses":[{"json":{"n":1},"fields":{"ETag":"1"}}],"times":1}"#.parsed)
    #expect(stub.listed?.first?.description == "200 application/json, 7 bytes" && stub.needed == 1)
    for (text, code, part) in [
      ("[]", "badStub", "not an object"), ("{}", "badStub", "\"url\""),
      (#"{"url":"/a","body":{"json":1,"text":"a"}}"#, "badStub", "body"),
      (#"{"url":"/a","where":[{"not":{"query":{"a":1}}}]}"#, "badStub", "a"),
      (#"{"url":"/a","where":[{"fields":{"a":{"regexp":"b"}}}]}"#, "badStub", "regexp"),
      (#"{"url":"/a","where":[{"body":{"regex":"("}}]}"#, "badStub", "regular expression"),
      (#"{"url":"/a","where":[{"path":"/a"}]}"#, "unknownMember", "path"),
      (#"{"url":"/a","respones":[]}"#, "unknownMember", "respones"),
      (#"{"url":"/a","times":[3,2]}"#, "badStub", "times"),
      (#"{"url":"/a","responses":[{"fault":"late"}]}"#, "badStub", "fault"),
      (#"{"url":"users"}"#, "badStub", "not a host"),
      (#"{"url":"/a","responses":[{"status":200,"body":"a"}]}"#, "unknownMember", "body"),
    ] {
      let error = try #require(throws: JSONRefusal.self) { _ = try Stub(json: text.parsed) }
      #expect(error.code == code && error.message.contains(part), "\(error.message)")
    }
  }

  @Test("each fault is found by its description")
  func faults() {
    let faults: [NetworkFault] = [
      .offline, .hostNotFound, .nameLookupFailed, .connectionRefused, .connectTimedOut, .timedOut, .connectionReset,
      .emptyResponse, .malformedResponse, .tls(.untrusted), .connectionReset(afterBytes: 1), .truncated(afterBytes: 2),
      .malformedChunk(afterBytes: 3), .stalled(afterBytes: 4), .stalledAtEnd,
    ]
    #expect(faults.allSatisfy { NetworkFault.named($0.description)?.description == $0.description })
    for name in [
      "", "()", ")", "Offline", "truncated", "truncated(afterBytes: -1)", "truncated(2)", "late(afterBytes: 1)",
    ] {
      #expect(NetworkFault.named(name) == nil, "\(name)")
    }
  }
}

extension String {
  fileprivate var parsed: JSONValue { get throws { try JSONValue(parsing: self) } }
}
