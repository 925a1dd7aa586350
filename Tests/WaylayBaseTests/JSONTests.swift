import Foundation
import Testing
import WaylayHAR

@Suite("JSON", .timeLimit(.minutes(5)))
struct JSONTests {
  @Test(
    "what is no JSON is refused with line and column",
    arguments: [
      ("", "line 1, column 1"), ("{", "line 1, column 2"), ("{\n\"a\" 1}", "line 2, column 5"),
      ("[1,]", "line 1, column 4"),
      ("[1 2]", "line 1, column 4"), ("01", "superfluous"), ("1.", "line 1, column 3"), ("1e", "exponent"),
      ("-", "digits"),
      ("tru", "true"), ("\"a", "not terminated"), ("\"\\x\"", "backslash"), ("\"\\u12g4\"", "hexadecimal"),
      ("\"\\ud80\"", "hexadecimal"), ("\"\\ud800\\q\"", "cannot escape"), ("\"\u{1}\"", "escaped"),
      ("1 2", "unexpected text"),
      ("{\"a\":1,\n\n  b:2}", "line 3, column 3"),
      (String(repeating: "[", count: 100_000), "nested"),
    ])
  func refused(text: String, hint: String) throws {
    let error = #expect(throws: JSONSyntaxError.self) { try JSONValue(reading: text.utf8) }
    #expect(error?.description.contains(hint) == true)
  }

  @Test("bytes that are not UTF-8 are refused")
  func bytes() {
    #expect(throws: JSONSyntaxError.self) { try JSONValue(reading: [0x22, 0xFF, 0x22]) }
    #expect(throws: JSONSyntaxError.self) { try JSONValue(reading: [0xEF, 0xBB, 0xBF]) }
  }

  @Test("values keep their digits and their order")
  func kept() throws {
    let value = try JSONValue(parsing: "{\n  \"z\": 1.50,\n  \"a\": [\"\\u00e9\\ud83d\\ude00\\n\", null, true]\n}")
    #expect(value.members?.map(\.name) == ["z", "a"])
    #expect(value["a"]?[0]?.string == "é😀\n")
    #expect(value["a"]?[9] == nil)
    #expect(value.description == #"{"z":1.50,"a":["é😀\n",null,true]}"#)
  }

  @Test("a mark of byte order at the beginning of a string is one of its characters")
  func byteOrderMark() throws {
    for text in [#""\#u{FEFF}x""#, #""\ufeffx""#, #""\#u{FEFF}é""#] {
      let value = try JSONValue(parsing: Data(text.utf8))
      #expect(value.string?.unicodeScalars.first == "\u{FEFF}", "\(text)")
    }
    #expect(throws: (any Error).self) { try JSONValue(parsing: Data([0x22, 0xEF, 0xBB, 0x22])) }
  }

  @Test("numbers are compared by value, objects in any order")
  func equality() throws {
    for (one, other) in [
      ("1", "1.0"), ("1", "10e-1"), ("100", "1E2"), ("0", "-0.0"), ("{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}"),
    ] {
      #expect(try JSONValue(parsing: one) == JSONValue(parsing: other))
    }
    for (one, other) in [
      ("1", "2"), ("9007199254740993", "9007199254740992"), ("1", "\"1\""), ("[1,2]", "[2,1]"), ("1", "-1"),
    ] {
      #expect(try JSONValue(parsing: one) != JSONValue(parsing: other))
    }
  }

  @Test("names are the same where all their characters are, not where they look alike")
  func names() throws {
    let (composed, decomposed) = (#"{"\u00e9":1}"#, #"{"e\u0301":1}"#)
    #expect(try JSONValue(parsing: composed) != JSONValue(parsing: decomposed))
    let value = try JSONValue(parsing: #"{"\u00e9":1,"e\u0301":2}"#)
    #expect(value["\u{e9}"] == 1 && value["e\u{301}"] == 2)
    #expect(try value == JSONValue(parsing: #"{"e\u0301":2,"\u00e9":1}"#))
  }

  @Test("random bytes, and texts with a byte changed, never trap")
  func fuzz() {
    var random = Random(state: 7)
    let seed = Array(#"{"a":[1,-2.5e+3,"x\u00e9\ud83d\ude00",true,null],"b":{"c":[]}}"#.utf8)
    for _ in 0..<3000 {
      var bytes = seed
      for _ in 0..<random.below(4) + 1 {
        bytes[random.below(bytes.count)] = UInt8(random.below(256))
      }
      _ = try? JSONValue(reading: bytes.prefix(random.below(bytes.count + 1)))
    }
  }

  /// Numbers that are the same in each run.
  private struct Random {
    var state: UInt64

    mutating func below(_ count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(count))
    }
  }

  @Test("a value nested as deep as it may be is read, written, compared and hashed on a small stack")
  func depth() async {
    let text = String(repeating: #"{"a":["#, count: 64) + String(repeating: "]}", count: 64)
    let done = AsyncStream<Bool> { continuation in
      let thread = Thread {
        let value = try? JSONValue(parsing: text)
        continuation.yield(value?.description == text && Set([value, try? JSONValue(parsing: text)]).count == 1)
        continuation.finish()
      }
      thread.stackSize = 128 << 10
      thread.start()
    }
    for await isRight in done { #expect(isRight) }
    #expect(throws: HARError.self) { try JSONValue(parsing: "[" + text + "]") }
  }

  @Test("equal values have equal hashes: numbers by value, members in any order")
  func hashes() throws {
    let texts = [#"{"a":1,"b":[1.0,"x",null,true]}"#, #"{ "b": [1e0, "x", null, true], "a": 10e-1 }"#]
    #expect(Set(try texts.map { try JSONValue(parsing: $0) }).count == 1)
  }

  @Test("numbers that no Int or Double holds keep their digits")
  func digits() throws {
    let text = #"{"id":12345678901234567890,"price":1.0,"rate":0.1000000000000000055511151231257827}"#
    let value = try JSONValue(parsing: text)
    #expect(value.description == text)
    #expect(value["id"]?.int == nil && value["price"]?.int == 1 && value["price"]?.double == 1)
  }

  @Test("a value goes through the coders of Foundation")
  func coding() throws {
    let value: JSONValue = ["a": [1, 2.5, nil, true, "x"], "b": ["c": [:]]]
    #expect(try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value)) == value)
    #expect(try JSONValue(encoding: ["a": [1, 2]]) == ["a": [1, 2]])
  }
}
