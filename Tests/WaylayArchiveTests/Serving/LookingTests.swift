import Foundation
import HTTPTypes
import StoreFaults
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("What an app asks its archive, and gives it", .timeLimit(.minutes(5)))
struct LookingTests {
  private let url = URL(string: "http://example.com/a")!

  @Test("response(for:) and state(for:) say what is stored, without the network and without an event")
  func looking() async throws {
    let wall = Wall()
    let archive = ArchiveCache { $0.now = { wall.now } }
    let request = URLRequest(url: url)
    #expect(try await archive.response(for: request) == nil)
    #expect(try await archive.state(for: request) == .none)
    let script = ScriptedNext()
    script.answers("old", [.cacheControl: "max-age=10", .vary: "Accept-Language"])
    _ = try await archive.load(script)
    let before = archive.counters
    #expect(try await archive.state(for: request) == .fresh)
    wall.advance(by: 20)
    #expect(try await archive.state(for: request) == .stale)
    let stored = try #require(try await archive.response(for: request))
    #expect(try await stored.body().collect(upTo: 100) == Data("old".utf8))
    var other = request
    other.setValue("de", forHTTPHeaderField: "Accept-Language")
    #expect(try await archive.state(for: other) == .none)
    other.httpMethod = "POST"
    #expect(try await archive.response(for: other) == nil)
    #expect(archive.counters == before)
    await archive.close()
    let error = await #expect(throws: ArchiveError.self) { try await archive.state(for: request) }
    #expect(error?.code == .closed)
  }

  @Test("explain says what cannot be read now, and that a closed archive is not open")
  func explained() async throws {
    let directory = TemporaryDirectory()
    let isFailing = Locked(false)
    var options = DiskStore.Options(memory: 0, logger: .silent)
    options.disk = FailingSystem { call in
      [.open, .sharedMemory].contains(call) && isFailing.withLock { $0 } ? .error(EMFILE) : nil
    }
    let archive = ArchiveCache(.disk(at: directory.url, options: options))
    let script = ScriptedNext()
    script.answers("a", [.cacheControl: "max-age=1000"])
    _ = try await archive.load(script)
    try await archive.flush()
    isFailing.withLock { $0 = true }
    let request = URLRequest(url: url)
    #expect(await archive.explain(request).rows.contains { $0.name == "unreadable" })
    isFailing.withLock { $0 = false }
    #expect(await archive.explain(request).variants.count == 1)
    await archive.close()
    #expect(await archive.explain(request).description.contains("not open"))
  }

  @Test("what no load gets without asking the origin is stale")
  func neverFresh() async throws {
    let archive = ArchiveCache()
    let script = ScriptedNext()
    script.answers("a", [.cacheControl: "max-age=1000", .vary: "*"])
    _ = try await archive.load(script)
    #expect(try await archive.state(for: URLRequest(url: url)) != .fresh)
    _ = try await archive.load(script)
    #expect(script.asked.count == 2)
  }

  @Test("they say nothing of the beginning of a body that broke off, which answers nobody offline")
  func partial() async throws {
    let archive = ArchiveCache()
    let script = ScriptedNext { request in
      let body = AsyncThrowingStream<Data, any Error> { chunks in
        chunks.yield(Data("begin".utf8))
        chunks.finish(throwing: URLError(.networkConnectionLost))
      }
      return InterceptedResponse(
        to: request, status: .ok, fields: [.cacheControl: "max-age=1000", .eTag: "\"1\"", .contentLength: "10"],
        body: .stream(body, length: 10), source: .network)
    }
    let error = await failure { try await archive.load(script) }
    #expect(error is URLError)
    #expect(try await archive.entries().map(\.isWhole) == [false])
    var request = URLRequest(url: url)
    #expect(try await archive.response(for: request) == nil)
    #expect(try await archive.state(for: request) == .none)
    request.setValue("bytes=1-3", forHTTPHeaderField: "Range")
    #expect(try await archive.state(for: request) == .fresh)
  }

  @Test("a GET with a body that no rule covers has nothing to remove, and is not stored")
  func uncoveredBody() async throws {
    let archive = ArchiveCache()
    let script = ScriptedNext()
    script.answers("old", [.cacheControl: "max-age=1000"])
    _ = try await archive.load(script)
    var request = URLRequest(url: url)
    request.httpMethod = "GET"
    request.httpBody = Data("cats".utf8)
    #expect(try await archive.remove(for: request) == 0)
    #expect(try await archive.response(for: request) == nil)
    let response = try #require(
      HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: ["Cache-Control": "max-age=9"]))
    let error = await #expect(throws: ArchiveError.self) {
      try await archive.store(response, body: Data("new".utf8), for: request)
    }
    #expect(error?.message.contains("a body that no rule covers") == true)
    #expect(try await archive.load(ScriptedNext()).text == "old")
  }

  @Test("store(_:body:for:) stores what came by another way, or says why not")
  func storing() async throws {
    let archive = ArchiveCache {
      $0.willStore = { if $0.fields[.contentType] == "video/mp4" { $0.refuse("no films") } }
    }
    func give(_ status: Int = 200, _ fields: [String: String], _ method: String = "GET") async throws {
      var request = URLRequest(url: url)
      request.httpMethod = method
      let response = try #require(
        HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields))
      try await archive.store(response, body: Data("given".utf8), for: request)
    }
    let refused: [(Int, [String: String], String)] = [
      (200, ["Cache-Control": "no-store"], "GET"), (200, ["Cache-Control": "max-age=9"], "PUT"), (304, [:], "GET"),
      (200, ["Cache-Control": "max-age=9", "Content-Type": "video/mp4"], "GET"),
      (200, ["Cache-Control": "max-age=9", "Content-Length": "77"], "GET"),
    ]
    for (status, fields, method) in refused {
      let error = await #expect(throws: ArchiveError.self) { try await give(status, fields, method) }
      #expect(error?.code == .notWritten, "\(fields)")
    }
    #expect(try await archive.usage.count == 0)
    try await give(200, ["Cache-Control": "max-age=1000"])
    try await give(200, ["Cache-Control": "max-age=1000"])
    #expect(try await archive.entries().count == 1)
    #expect(try await archive.load(ScriptedNext()).text == "given")
    #expect(try await archive.removeAll() == 1)
    #expect(try await archive.usage.count == 0)
  }

  @Test("staleIfError of the client stands in where neither side says so; must-revalidate goes first")
  func staleIfError() async throws {
    for (control, expected) in [("max-age=10", "old"), ("max-age=10, must-revalidate", "down")] {
      let wall = Wall()
      let archive = ArchiveCache {
        $0.now = { wall.now }
        $0.staleIfError = .seconds(60)
      }
      let script = ScriptedNext()
      script.answers("old", [.cacheControl: control])
      _ = try await archive.load(script)
      script.answers("down", status: .serviceUnavailable)
      wall.advance(by: 69)
      #expect(try await archive.load(script).text == expected)
      wall.advance(by: 10)
      #expect(try await archive.load(script).text == "down")
    }
  }

  @Test("a limit for a part removes the oldest of it, and nothing else")
  func parts() async throws {
    let archive = ArchiveCache {
      $0.quotas = [.tag("images", bytes: 20_000), .host("CDN.example.com", bytes: 1000)]
      $0.willStore = { if $0.request.url?.path.hasSuffix(".png") == true { $0.tags = ["images"] } }
    }
    let script = ScriptedNext()
    let events = archive.events(bufferingNewest: 1000)
    script.answers(String(repeating: "x", count: 5000), [.cacheControl: "max-age=100000"])
    for number in 0..<10 {
      _ = try await archive.load("http://example.com/\(number).html", script)
      _ = try await archive.load("http://example.com/\(number).png", script)
    }
    // Whoever stores goes on; the part becomes small enough behind him.
    var evicted = 0
    for await event in events where event.kind == .evicted {
      evicted += 1
      if evicted == 7 { break }
    }
    let left = try await archive.entries(.tag("images"))
    #expect(left.count <= 3)
    #expect(try await archive.entries().count == 10 + left.count)
  }
}
