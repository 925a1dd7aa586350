import Foundation
import TestSupport
import Testing
import WaylayHAR

@Suite("An HTTP archive that is written here")
struct WritingTests {
  @Test("is read again as it was, is the same each time, and has nothing that a strict reader refuses")
  func roundTrip() throws {
    let archive = ReadingTests.samples(50)
    for isPretty in [true, false] {
      let data = archive.data(isPretty: isPretty)
      #expect(HARFormat.problems(in: data) == [])
      let read = try HAR(data: data)
      #expect(read == archive)
      #expect(read.data(isPretty: isPretty) == data)
      // Nothing in it ends a script of a page that it is put into.
      #expect(!String(decoding: data, as: UTF8.self).contains("</script"))
    }
  }

  @Test("has times that are not negative and add up, whatever was measured", arguments: 0..<200)
  func times(seed: Int) throws {
    func any() -> Double {
      switch Int.random(in: 0..<8) {
      case 0: -Double.random(in: 0..<1e6)
      case 1: .nan
      case 2: .infinity
      case 3: .greatestFiniteMagnitude
      default: Double.random(in: 0..<10_000)
      }
    }
    func maybe() -> Double? { Bool.random() ? any() : nil }
    var timings = HAR.Timings(
      blocked: maybe(), dns: maybe(), connect: maybe(), ssl: maybe(), send: any(), wait: any(), receive: any())
    timings.ssl = maybe()
    let entry = HAR.Entry(
      started: .now, request: .init(method: "GET", url: "http://a.test/"), response: .init(status: 200),
      timings: timings)
    let data = HAR(entries: [entry]).data()
    #expect(HARFormat.problems(in: data) == [])
    // The sum is exact in thousandths of a millisecond, the unit of the file.
    let json = try JSONValue(parsing: data)["log"]?["entries"]?.array?[0]
    let parts = ["blocked", "dns", "connect", "send", "wait", "receive"].compactMap { json?["timings"]?[$0]?.double }
      .filter { $0 >= 0 }
    let sum = parts.map { ($0 * 1000).rounded() }.reduce(0, +)
    #expect((try #require(json?["time"]?.double) * 1000).rounded() == sum)
  }

  @Test("has the oldest entry first")
  func order() throws {
    var archive = ReadingTests.samples(5)
    let wanted = archive.entries
    archive.entries.reverse()
    #expect(try HAR(data: archive.data()).entries == wanted)
  }

  @Test("has the body of a request that is no text in a field of its own, and an answer's in base64")
  func binary() throws {
    let bytes = Data([0, 200, 13, 10])
    let entry = HAR.Entry(
      started: .now,
      request: .init(
        method: "PUT", url: "http://a.test/", body: HAR.Body(bytes, mediaType: "application/octet-stream")),
      response: .init(status: 200, body: HAR.Body(bytes)))
    let json = try JSONValue(parsing: HAR(entries: [entry]).data())["log"]?["entries"]?.array?[0]
    #expect(
      json?["request"]?["postData"]?["text"] == ""
        && json?["request"]?["postData"]?["_base64"] == .init(bytes.base64EncodedString()))
    #expect(json?["response"]?["content"]?["encoding"] == "base64")
  }

  @Test("is checked by what can find what others refuse")
  func problems() {
    let entry = """
      {"startedDateTime": "yesterday", "time": 5, "request": {"method": "GET", "url": "/a#b", "headers": [{"name": \
      "a"}], "bodySize": -7},
       "response": {"status": "200", "content": {"encoding": "base64", "text": "!"}}, "timings": {"send": -1, "wait": \
       1, "connect": 1, "ssl": 2}}
      """
    let problems = HARFormat.problems(in: Data(ReadingTests.archive(entry).utf8))
    let paths = Set(problems.map { String($0.prefix { $0 != ":" }) })
    for path in [
      "startedDateTime", "time", "request.url", "request.httpVersion", "request.headers", "request.cookies",
      "request.bodySize", "response.status",
      "response.content.text", "cache", "timings.send", "timings.receive", "timings.ssl",
    ] { #expect(paths.contains(path), "\(path)") }
    #expect(HARFormat.problems(in: Data("no".utf8)) == ["is not JSON"])
  }

  @Test("gives one entry alone as a line, which is read again as it was")
  func entryAlone() throws {
    for entry in ReadingTests.samples(20).entries {
      let line = entry.data()
      #expect(!line.contains(0x0A))
      #expect(try HAR.Entry(data: line) == entry)
      #expect(try HAR.Entry(data: entry.data(isPretty: true)) == entry)
    }
    #expect { try HAR.Entry(data: Data("{".utf8)) } throws: { ($0 as? HARError)?.code == .notJSON }
    #expect { try HAR.Entry(data: Data("{}".utf8)) } throws: { ($0 as? HARError)?.code == .notAnArchive }
  }
}
