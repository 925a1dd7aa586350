import Foundation
import Testing
import WaylayMocks

@Suite("JSON with places", .timeLimit(.minutes(5))) struct JSONNodeTests {
  @Test(
    "what is no JSON is refused with line and column",
    arguments: [
      ("", "line 1, column 1"), ("{", "line 1, column 2"), ("{\n\"a\" 1}", "line 2, column 5"),
      ("[1,]", "line 1, column 4"),
      ("[1 2]", "line 1, column 4"), ("01", "superfluous"), ("1.", "line 1, column 3"), ("1e", "exponent"),
      ("-", "digits"),
      ("tru", "true"), ("\"a", "not terminated"), ("\"\\x\"", "backslash"), ("\"\\u12g4\"", "hexadecimal"),
      ("\"\\ud800\"", "surrogate"),
      ("\"\\ud800\\u0041\"", "surrogate"), ("\"\u{1}\"", "escaped"), ("1 2", "unexpected text"),
      ("{\"a\":1,\n\n  b:2}", "line 3, column 3"),
      (String(repeating: "[", count: 100_000), "nested"),
    ])
  func refused(text: String, hint: String) throws {
    let error = #expect(throws: JSONSyntaxError.self) { try JSONNode(parsing: text) }
    #expect(error?.description.contains(hint) == true)
  }

  @Test("bytes that are not UTF-8 are refused")
  func bytes() {
    #expect(throws: JSONSyntaxError.self) { try JSONNode(parsing: [0x22, 0xFF, 0x22]) }
    #expect(throws: JSONSyntaxError.self) { try JSONNode(parsing: [0xEF, 0xBB, 0xBF]) }
  }

  @Test("values keep their lines, their digits and their order")
  func kept() throws {
    let node = try JSONNode(parsing: "{\n  \"z\": 1.50,\n  \"a\": [\"\\u00e9\\ud83d\\ude00\\n\", null, true]\n}")
    #expect(node.members?.map(\.name) == ["z", "a"])
    #expect(node.members?.map(\.line) == [2, 3])
    #expect(node["a"]?[0]?.string == "é😀\n")
    #expect(node["a"]?[0]?.line == 3)
    #expect(node["a"]?[9] == nil)
    #expect(node.text == #"{"z":1.50,"a":["é😀\n",null,true]}"#)
  }

  @Test("numbers are compared by value, objects in any order")
  func equality() throws {
    for (one, other) in [
      ("1", "1.0"), ("1", "10e-1"), ("100", "1E2"), ("0", "-0.0"), ("{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}"),
    ] {
      #expect(try JSONNode(parsing: one) == JSONNode(parsing: other))
    }
    for (one, other) in [
      ("1", "2"), ("9007199254740993", "9007199254740992"), ("1", "\"1\""), ("[1,2]", "[2,1]"), ("1", "-1"),
    ] {
      #expect(try JSONNode(parsing: one) != JSONNode(parsing: other))
    }
  }

  // The table of RFC 7396, appendix A.
  @Test(
    "merge patches do what RFC 7396 says",
    arguments: [
      (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
      (#"{"a":"b"}"#, #"{"a":null}"#, "{}"), (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
      (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
      (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
      (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
      (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#), (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#),
      (#"{"a":"foo"}"#, "null", "null"),
      (#"{"a":"foo"}"#, #""bar""#, #""bar""#), (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#),
      ("[1,2]", #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
      ("{}", #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
    ])
  func merging(original: String, patch: String, result: String) throws {
    #expect(try JSONNode(parsing: original).merging(JSONNode(parsing: patch)) == JSONNode(parsing: result))
  }

  @Test("random bytes, and texts with a byte changed, never trap")
  func fuzz() {
    let random = MockRandom(seed: 7)
    let seed = Array(#"{"a":[1,-2.5e+3,"x\u00e9\ud83d\ude00",true,null],"b":{"c":[]}}"#.utf8)
    for _ in 0..<3000 {
      var bytes = seed
      for _ in 0..<Int(random.unit() * 4) + 1 {
        bytes[Int(random.unit() * Double(bytes.count))] = UInt8(random.unit() * 256)
      }
      _ = try? JSONNode(parsing: bytes.prefix(Int(random.unit() * Double(bytes.count + 1))))
    }
  }
}
