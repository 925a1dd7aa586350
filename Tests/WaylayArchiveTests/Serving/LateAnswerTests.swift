import Foundation
import HTTPTypes
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("Answers that come after a change (RFC 9111, section 4.4)", .timeLimit(.minutes(5)))
struct LateAnswerTests {
  /// An archive with a stale response, whose confirmation by the server waits for a latch.
  private func stale(_ control: String) async throws -> (archive: ArchiveCache, script: ScriptedNext, gate: Latch) {
    let wall = Wall()
    let archive = ArchiveCache { $0.now = { wall.now } }
    let script = ScriptedNext()
    script.answers("old", [.cacheControl: control, .eTag: "\"1\""])
    _ = try await archive.load(script)
    wall.advance(by: 20)
    let gate = Latch()
    script.answers { request in
      try await gate.wait()
      return InterceptedResponse(
        to: request, status: .notModified, fields: [.cacheControl: "max-age=1000", .eTag: "\"1\""], source: .network)
    }
    return (archive, script, gate)
  }

  @Test("a 304 that was asked for before a POST and comes after it does not bring back what the POST invalidated")
  func lateConfirmation() async throws {
    let (archive, script, gate) = try await stale("max-age=10")
    async let late = archive.load(script)
    await script.wasAsked(2)
    script.answers("", status: .noContent)
    _ = try await archive.load(script) { $0.httpMethod = "POST" }
    gate.open()
    // A load that asked before the change gets what was there then, as over any network.
    #expect(try await late.text == "old")
    script.answers("new", [.cacheControl: "max-age=10"])
    #expect(try await archive.load(script).text == "new")
    #expect(script.asked.count == 4)
  }

  @Test("what was asked for before everything was removed is not stored after it")
  func removedMeanwhile() async throws {
    let archive = ArchiveCache()
    let script = ScriptedNext()
    let gate = Latch()
    script.answers { request in
      try await gate.wait()
      return InterceptedResponse(
        to: request, fields: [.cacheControl: "max-age=1000"], body: .data(Data("of the old user".utf8)),
        source: .network)
    }
    async let late = archive.load(script)
    await script.wasAsked(1)
    try await archive.removeAll()
    gate.open()
    #expect(try await late.text == "of the old user")
    script.answers("of the new user", [.cacheControl: "max-age=1000"])
    #expect(try await archive.load(script).text == "of the new user")
    #expect(try await archive.load(script).text == "of the new user")
    #expect(script.asked.count == 2)
  }

  @Test("nor the beginning of a large body that was under way", arguments: [true, false])
  func removedWithinBody(isOnDisk: Bool) async throws {
    let directory = TemporaryDirectory()
    let archive =
      isOnDisk ? ArchiveCache(.disk(at: directory.url, options: DiskStore.Options(logger: .silent))) : ArchiveCache()
    let events = archive.events()
    let (chunks, source) = AsyncStream.makeStream(of: Data.self)
    let script = ScriptedNext { request in
      InterceptedResponse(
        to: request, fields: [.cacheControl: "max-age=1000", .eTag: "\"1\""], body: .stream(chunks), source: .network)
    }
    let response = try await archive.startLoading(
      InterceptedRequest(URLRequest(url: URL(string: "http://example.com/a")!)), next: script.next)
    var reader = response.body.makeAsyncIterator()
    source.yield(.noise(1 << 20))
    #expect(try await reader.next()?.isEmpty == false)
    try await archive.removeAll()
    for _ in 0..<9 { source.yield(.noise(1 << 20)) }
    source.finish()
    while try await reader.next() != nil {}
    for await event in events where event.kind == .refused { break }
    #expect(try await archive.usage.count == 0)
    await archive.close()
  }

  @Test("a revalidation behind an answer that comes after a DELETE does not, either")
  func lateBehind() async throws {
    let (archive, script, gate) = try await stale("max-age=10, stale-while-revalidate=1000")
    #expect(try await archive.load(script).text == "old")
    await script.wasAsked(2)
    script.answers("", status: .noContent)
    _ = try await archive.load(script) { $0.httpMethod = "DELETE" }
    var events = archive.events().makeAsyncIterator()
    gate.open()
    while let event = await events.next(), event.kind != .refused {}
    script.answers("gone", status: .notFound)
    #expect(try await archive.load(script).text == "gone")
  }

  @Test(
    "the answer to a POST with its own Content-Location and a lifetime answers the next GET (RFC 9110, section 9.3.3)")
  func postWithContentLocation() async throws {
    let archive = ArchiveCache()
    let script = ScriptedNext()
    script.answers("old", [.cacheControl: "max-age=1000"])
    _ = try await archive.load(script)
    script.answers("after the change", [.cacheControl: "max-age=1000", .contentLocation: "/a"])
    _ = try await archive.load(script) { $0.httpMethod = "POST" }
    let next = try await archive.load(script)
    #expect(next.text == "after the change" && next.response.source == .archive)
    #expect(script.asked.count == 2)
  }

  @Test("… unless another change came between: then nobody knows which of the two was the last")
  func twoPosts() async throws {
    let archive = ArchiveCache()
    let script = ScriptedNext()
    let gate = Latch()
    script.answers { request in
      try await gate.wait()
      return InterceptedResponse(
        to: request, fields: [.cacheControl: "max-age=1000", .contentLocation: "/a"], body: .text("first"),
        source: .network)
    }
    async let first = archive.load(script) { $0.httpMethod = "POST" }
    await script.wasAsked(1)
    script.answers("second", [:])
    _ = try await archive.load(script) { $0.httpMethod = "POST" }
    gate.open()
    #expect(try await first.text == "first")
    script.answers("now", [.cacheControl: "max-age=10"])
    #expect(try await archive.load(script).text == "now")
  }

  @Test(
    "412, 416, 417 and those that RFC 6585 keeps from caches are not stored, whatever lifetime they have",
    arguments: [412, 416, 417, 428, 429, 431, 511])
  func aboutTheRequest(_ status: Int) async throws {
    let archive = ArchiveCache()
    let script = ScriptedNext()
    script.answers("no", status: HTTPResponse.Status(code: status), [.cacheControl: "max-age=1000"])
    let fields = ["Range": "bytes=100-", "If-Match": "\"2\"", "Expect": "100-continue"]
    _ = try await archive.load(script) { request in
      for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
    }
    script.answers("yes", [.cacheControl: "max-age=1000"])
    let plain = try await archive.load(script)
    #expect(plain.response.status == .ok && plain.text == "yes")
  }

  @Test("a 416 does not take the place of what is stored whole")
  func unsatisfiable() async throws {
    let archive = ArchiveCache()
    let script = ScriptedNext()
    script.answers("whole", [.cacheControl: "max-age=1000", .eTag: "\"1\"", .contentEncoding: "gzip"])
    _ = try await archive.load(script)
    script.answers("no", status: .rangeNotSatisfiable, [.cacheControl: "max-age=1000"])
    _ = try await archive.load(script) { $0.setValue("bytes=100-", forHTTPHeaderField: "Range") }
    #expect(try await archive.load(script).text == "whole")
  }
}
