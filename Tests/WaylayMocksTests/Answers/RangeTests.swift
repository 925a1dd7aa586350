import Foundation
import Testing
import WaylayCore
import WaylayMocks

@Suite("Ranges of an answer", .timeLimit(.minutes(5))) struct RangeTests {
  private static let body = "0123456789"
  private let answer = MockResponse.text(Self.body).field("ETag", "\"v1\"").field(
    "Last-Modified", "Sat, 21 Nov 2026 10:00:00 GMT"
  )
  .servingRanges()

  @Test(
    "one range of bytes is served as 206",
    arguments: [
      ("bytes=2-4", "234", "bytes 2-4/10"), ("bytes=0-0", "0", "bytes 0-0/10"), ("bytes=7-", "789", "bytes 7-9/10"),
      ("bytes=8-99999999999999999999999", "89", "bytes 8-9/10"), ("bytes=-3", "789", "bytes 7-9/10"),
      ("bytes=-100", "0123456789", "bytes 0-9/10"), ("Bytes = 1 - 2", "12", "bytes 1-2/10"),
    ])
  func parts(range: String, part: String, contentRange: String) async throws {
    let response = try await answer.answer(to: .mocked("GET", ["Range": range]))
    #expect(response.status == 206)
    #expect(response.text == part)
    #expect(response.field("Content-Range") == contentRange)
    #expect(response.field("Content-Length") == "\(part.count)")
    #expect(response.field("ETag") == "\"v1\"")
  }

  @Test(
    "a range behind the end is answered with 416 and the length", arguments: ["bytes=10-", "bytes=99-100", "bytes=-0"])
  func unsatisfiable(range: String) async throws {
    let response = try await answer.answer(to: .mocked("GET", ["Range": range]))
    #expect(response.status == 416)
    #expect(response.field("Content-Range") == "bytes */10")
    #expect(response.data.isEmpty)
  }

  @Test(
    "what is no single range of bytes gets the whole",
    arguments: [
      "bytes=4-2", "bytes=1-2,4-5", "items=0-1", "bytes", "bytes=", "bytes=a-b", "bytes=-", "bytes=1", "bytes=--1",
      "bytes=1-x",
    ])
  func ignored(range: String) async throws {
    let response = try await answer.answer(to: .mocked("GET", ["Range": range]))
    #expect(response.status == 200)
    #expect(response.text == Self.body)
    #expect(response.field("Accept-Ranges") == "bytes")
  }

  @Test(
    "If-Range holds for the same strong tag and the same date alone",
    arguments: [
      ("\"v1\"", 206), ("\"v2\"", 200), ("W/\"v1\"", 200), ("Sat, 21 Nov 2026 10:00:00 GMT", 206),
      ("Sat, 21 Nov 2026 10:00:01 GMT", 200),
    ])
  func conditions(condition: String, status: Int) async throws {
    let response = try await answer.answer(to: .mocked("GET", ["Range": "bytes=0-0", "If-Range": condition]))
    #expect(response.status == status)
  }

  @Test("a weak tag of the answer never satisfies If-Range")
  func weakTag() async throws {
    let response = try await answer.field("ETag", "W/\"v1\"").answer(
      to: .mocked("GET", ["Range": "bytes=0-0", "If-Range": "W/\"v1\""]))
    #expect(response.status == 200)
  }

  @Test("a method other than GET, and a status other than 200, are not cut")
  func others() async throws {
    #expect(try await answer.answer(to: .mocked("POST", ["Range": "bytes=0-0"])).status == 200)
    #expect(try await answer.status(404).answer(to: .mocked("GET", ["Range": "bytes=0-0"])).text == Self.body)
  }

  @Test("nothing is cut of an empty body")
  func empty() async throws {
    let empty = MockResponse.text("").servingRanges()
    #expect(try await empty.answer(to: .mocked("GET", ["Range": "bytes=-5"])).status == 200)
    #expect(try await empty.answer(to: .mocked("GET", ["Range": "bytes=0-"])).status == 416)
  }

  @Test("a file and a stream of chunks are cut where they are asked for")
  func sources() async throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-\(UUID().uuidString).bin")
    try Data(repeating: 7, count: 200_000).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let cut = try await MockResponse.file(file).servingRanges().answer(to: .mocked("GET", ["Range": "bytes=100000-"]))
    #expect(cut.data == Data(repeating: 7, count: 100_000))
    #expect(cut.field("Content-Range") == "bytes 100000-199999/200000")
    let chunks = MockResponse.chunks(["0123", "4567", "89"]).servingRanges()
    #expect(try await chunks.answer(to: .mocked("GET", ["Range": "bytes=3-8"])).text == "345678")
  }
}
