import Foundation
import Testing
import WaylayHAR

@Suite("An HTTP archive that others have written")
struct ReadingTests {
  @Test("is read with its names in any order, a byte order mark, fields of its own and parts that are missing")
  func lenient() throws {
    let text = """
      \u{FEFF}{"log": {"entries": [{
        "_initiator": {"type": "script", "lines": [1, 2.5, null, true]},
        "response": {"content": {"text": "SGVsbG8=", "encoding": "base64", "mimeType": "text/plain"}, "status": 200,
          "headers": [{"value": "a=1; Path=/; HttpOnly", "name": "Set-Cookie"}]},
        "request": {"url": "https://api.test/a?x=1&y=b%20c", "method": "GET"},
        "startedDateTime": "2024-02-29T12:00:00.1234567+01:00", "time": 12.5
      }], "_origin": "browser"}}
      """
    let archive = try HAR(data: Data(text.utf8))
    let entry = try #require(archive.entries.first)
    #expect(archive.extensions["_origin"] == "browser" && archive.version == "1.2")
    #expect(entry.extensions["_initiator"] == ["type": "script", "lines": [1, 2.5, nil, true]])
    #expect(abs(entry.started.timeIntervalSince1970 - 1_709_204_400.123_456_7) < 0.000_01)
    #expect(entry.request.query == [HAR.Field("x", "1"), HAR.Field("y", "b c")])
    #expect(entry.response.body.text == "Hello" && !entry.response.body.isTruncated)
    #expect(entry.response.cookies.map(\.name) == ["a"] && entry.response.cookies[0].isHTTPOnly == true)
    #expect(entry.time == 12.5 && entry.timings.wait == 12.5)
    let written = archive.data()
    #expect(try HAR(data: written).data() == written)
  }

  @Test(
    "has times in any zone, with a fraction or without",
    arguments: [
      ("2024-02-29T12:00:00Z", 1_709_208_000.0), ("2024-02-29T12:00:00.5Z", 1_709_208_000.5),
      ("2024-02-29t12:00:00z", 1_709_208_000),
      ("2024-02-29T13:00:00+01:00", 1_709_208_000), ("2024-02-29T06:30:00.250-0530", 1_709_208_000.25),
    ])
  func times(text: String, seconds: Double) throws {
    let archive = try HAR(
      data: Data(
        Self.archive(#"{"startedDateTime":"\#(text)","request":{"method":"GET","url":"http://a.test/"}}"#).utf8))
    #expect(abs(archive.entries[0].started.timeIntervalSince1970 - seconds) < 0.001)
  }

  @Test("says of a body whose size is larger than what is there that it is cut off")
  func truncated() throws {
    let entry =
      #"{"request":{"method":"GET","url":"http://a.test/"},"response":{"content":{"size":1000,"text":"begin"}}}"#
    let body = try HAR(data: Data(Self.archive(entry).utf8)).entries[0].response.body
    #expect(body.isTruncated && body.size == 1000)
    let text = String(
      decoding: HAR(entries: [
        HAR.Entry(started: .now, request: .init(method: "GET", url: "/"), response: .init(status: 200, body: body))
      ]).data(), as: UTF8.self)
    #expect(text.contains("The first 5 of 1000 bytes.") && text.contains("\"_truncated\": true"))
  }

  @Test(
    "is refused with what is wrong and where, and never ends the process",
    arguments: [
      ("", "not JSON"), ("{", "not JSON"), ("[]", "\"log\""), (#"{"log":{}}"#, "no array of entries"),
      (#"{"log":{"entries":[1]}}"#, "Entry 1"),
      (#"{"log":{"entries":[{"request":{}},{"response":{}}]}}"#, "entry 1"),
      (#"{"log":{"entries":[{"request":{"url":"/"}}]}}"#, "no method"),
      (String(repeating: "[", count: 100_000), "not JSON"),
    ])
  func refused(text: String, reason: String) throws {
    let error = #expect(throws: HARError.self) { try HAR(data: Data(text.utf8)) }
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    #expect("\(try #require(error))".hasPrefix("HARError."))
  }

  @Test("with any byte changed or cut off is read or refused, whole and entry by entry")
  func damaged() throws {
    var random = SystemRandomNumberGenerator()
    let whole = Self.samples(3).data(isPretty: false)
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).har")
    defer { try? FileManager.default.removeItem(at: file) }
    for round in 0..<400 {
      var data = whole
      for _ in 0...round % 3 {
        data[data.indices.randomElement(using: &random)!] = UInt8.random(in: 0...255, using: &random)
      }
      if round % 2 == 0 { data = data.prefix(Int.random(in: 0...data.count, using: &random)) }
      _ = try? HAR(data: data)
      try data.write(to: file)
      do throws(HARError) {
        var reader = try HARReader(file)
        while try reader.next() != nil {}
      } catch { #expect(!error.message.isEmpty) }
    }
  }

  static func archive(_ entry: String) -> String {
    #"{"log":{"version":"1.2","creator":{"name":"a","version":"1"},"entries":["# + entry + "]}}"
  }

  /// Entries of many kinds.
  static func samples(_ count: Int) -> HAR {
    HAR(
      entries: (0..<count).map { number in
        var entry = HAR.Entry(
          started: Date(timeIntervalSince1970: 1_700_000_000 + Double(number)),
          request: HAR.Request(
            method: "POST", url: "https://api.test/\(number)?a=\(number)&b=%22",
            headers: [.init("Content-Type", "application/json"), .init("Cookie", "c=\(number)")],
            body: HAR.Body(Data(#"{"text":"\"]}[{,: \\","number":\#(number)}"#.utf8), mediaType: "application/json")),
          response: HAR.Response(
            status: 200, statusText: "OK",
            headers: [.init("Set-Cookie", "d=\(number); Expires=Wed, 21 Oct 2015 07:28:00 GMT; SameSite=Lax")],
            body: number % 2 == 0
              ? HAR.Body(Data([0, 1, 2, 255]), mediaType: "image/png")
              : HAR.Body(Data("ä\u{2028}</script>\n".utf8), mediaType: "text/html")),
          timings: HAR.Timings(blocked: 0.5, dns: 1, connect: 3.25, ssl: 2, send: 0.1, wait: 10.001, receive: 0.2))
        entry.serverAddress = "127.0.0.1"
        entry.extensions["_number"] = .init(number)
        return entry
      })
  }
}
