import Foundation
import HTTPTypes
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("QUERY (RFC 10008)", .timeLimit(.minutes(5)))
struct QueryMethodTests {
  private static let query = HTTPRequest.Method("QUERY")!
  private let echo = ScriptedNext { request in
    let body = try await request.body.collect(upTo: 1 << 20)
    return InterceptedResponse(
      to: request, status: .ok, fields: [.cacheControl: "max-age=1000"],
      body: .text("\(request.method) \(String(decoding: body, as: UTF8.self))"), source: .network)
  }

  private func ask(
    _ archive: ArchiveCache, _ body: MessageBody, _ fields: HTTPFields = [.contentType: "text/x"],
    _ method: HTTPRequest.Method = QueryMethodTests.query
  ) async throws -> String {
    let request = InterceptedRequest(
      method, try #require(URL(string: "http://example.com/q")), fields: fields, body: body)
    let response = try await archive.startLoading(request, next: echo.next)
    return String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self)
  }

  @Test("is cached with its content in the key, without a rule (section 2.7)")
  func content() async throws {
    let archive = ArchiveCache()
    for word in ["cats", "dogs", "cats", "", "dogs", ""] {
      #expect(try await ask(archive, .text(word)) == "QUERY " + word)
    }
    #expect(echo.asked.count == 3)
  }

  @Test(
    "and with what the content means (section 2.7)",
    arguments: ["Content-Type", "Content-Encoding", "Content-Language", "Content-Location"])
  func metadata(_ name: String) async throws {
    let archive = ArchiveCache()
    let name = try #require(HTTPField.Name(name))
    for value in ["a", "b", "a", "b"] { _ = try await ask(archive, .text("x"), [name: value]) }
    #expect(echo.asked.count == 2)
  }

  @Test("a GET of the URL is another thing, and so is a POST with the same content")
  func others() async throws {
    let archive = ArchiveCache { $0.keys = [.byBody(for: .http)] }
    #expect(try await ask(archive, .text("x")) == "QUERY x")
    #expect(try await ask(archive, .text("x"), [.contentType: "text/x"], .post) == "POST x")
    #expect(try await ask(archive, .empty, [:], .get) == "GET ")
    #expect(try await ask(archive, .text("x")) == "QUERY x")
    #expect(echo.asked.count == 3)
  }

  @Test("is safe: it invalidates nothing (section 2.1)")
  func safe() async throws {
    let archive = ArchiveCache()
    _ = try await ask(archive, .empty, [:], .get)
    _ = try await ask(archive, .text("x"))
    _ = try await ask(archive, .empty, [:], .get)
    #expect(echo.asked.count == 2)
  }

  @Test(
    "what an unsafe request changes is asked again (RFC 9111, section 4.4)",
    arguments: [HTTPRequest.Method.put, .post, .delete])
  func invalidated(_ method: HTTPRequest.Method) async throws {
    let archive = ArchiveCache()
    _ = try await ask(archive, .text("x"))
    _ = try await ask(archive, .text("change"), [:], method)
    _ = try await ask(archive, .text("x"))
    #expect(echo.asked.map(\.method) == [Self.query, method, Self.query])
  }

  @Test("a content that is read once, or is too long, is sent on and not stored")
  func notKeyed() async throws {
    let archive = ArchiveCache { $0.maximumKeyedBody = 10 }
    for _ in 0..<2 {
      _ = try await ask(
        archive,
        .stream(
          AsyncStream {
            $0.yield(Data("x".utf8)); $0.finish()
          }))
      _ = try await ask(archive, .text("longer than ten"))
    }
    #expect(echo.asked.count == 4)
    #expect(try await archive.usage.count == 0)
  }

  @Test("is answered offline, and is validated like a GET")
  func offlineAndStale() async throws {
    let wall = Wall()
    let archive = ArchiveCache { $0.now = { wall.now } }
    echo.answers("old", [.cacheControl: "max-age=10", .eTag: "\"1\""])
    _ = try await ask(archive, .text("x"))
    wall.advance(by: 20)
    archive.mode = .offline
    #expect(try await ask(archive, .text("x")) == "old")
    archive.mode = .online
    echo.answers("", status: .notModified, [.eTag: "\"1\""])
    #expect(try await ask(archive, .text("x")) == "old")
    #expect(echo.asked.last?.fields[.ifNoneMatch] == "\"1\"")
    #expect(try await echo.asked.last?.body.collect(upTo: 10) == Data("x".utf8))
  }
}
