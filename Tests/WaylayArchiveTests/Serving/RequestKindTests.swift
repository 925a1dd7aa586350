import Foundation
import HTTPTypes
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("What kind of request may be answered", .timeLimit(.minutes(5)))
struct RequestKindTests {
  private func search(_ body: MessageBody, _ method: HTTPRequest.Method = .get) throws -> InterceptedRequest {
    InterceptedRequest(method, try #require(URL(string: "http://example.com/_search")), body: body)
  }

  /// Answers each request with the text of its body.
  private let echo = ScriptedNext { request in
    let body = try await request.body.collect(upTo: 1 << 20)
    return InterceptedResponse(
      to: request, status: .ok, fields: [.cacheControl: "max-age=1000", .eTag: "\"1\""],
      body: .text("found " + String(decoding: body, as: UTF8.self)), source: .network)
  }

  private func text(_ archive: ArchiveCache, _ request: InterceptedRequest, _ next: ScriptedNext) async throws -> String
  {
    let response = try await archive.startLoading(request, next: next.next)
    return String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self)
  }

  @Test("a GET with a body gets nothing that another body stored, and stores nothing", arguments: [true, false])
  func getWithBody(_ isStream: Bool) async throws {
    let archive = ArchiveCache()
    for word in ["cats", "dogs", "", "cats"] {
      let body: MessageBody =
        isStream && !word.isEmpty
        ? .stream(
          AsyncStream {
            $0.yield(Data(word.utf8)); $0.finish()
          }) : .text(word)
      #expect(try await text(archive, try search(body), echo) == "found " + word)
    }
    // The one without a body is stored.
    #expect(try await archive.usage.count == 1)
    #expect(try await text(archive, try search(.empty), echo) == "found ")
    #expect(echo.asked.count == 4)
    archive.mode = .offline
    let error = await failure { try await text(archive, try search(.text("cats")), echo) }
    #expect(cause(error)?.code == .notStored)
  }

  @Test("a rule that covers the body makes it answerable")
  func getByBody() async throws {
    let archive = ArchiveCache { $0.keys = [.byBody(methods: ["GET"], for: .http)] }
    for word in ["cats", "dogs", "cats", "dogs", ""] {
      #expect(try await text(archive, try search(.text(word)), echo) == "found " + word)
    }
    #expect(echo.asked.count == 3)
  }

  /// Tries again as long as the answer is an error.
  private struct Retry: RequestInterceptor {
    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      var response = try await next(request)
      for _ in 0..<3 where response.status.code >= 500 { response = try await next(request) }
      return response
    }
  }

  @Test("a retry is not answered with the error that it retries", arguments: [ArchiveMode.online, .preferArchive])
  func retry(_ mode: ArchiveMode) async throws {
    try await withSite { (site: Site) async throws in
      site.archive.mode = mode
      let registry = InterceptorRegistry(configuration: .ephemeral) {
        Retry()
        site.archive
      }
      let count = Locked(0)
      site.origin.reply(to: "/a") { _ in
        let number = count.withLock { count -> Int in
          count += 1
          return count
        }
        return .text("\(number)", status: number < 3 ? 503 : 200, fields: [("Cache-Control", "max-age=5")])
      }
      #expect(try await registry.data(for: site.request("/a")).0 == Data("3".utf8))
      #expect(site.seen("/a").count == 3)
      // What came of it is stored, and reused.
      #expect(try await registry.data(for: site.request("/a")).0 == Data("3".utf8))
      #expect(site.seen("/a").count == 3)
      registry.invalidate()
    }
  }

  @Test("… nor when the origin cannot be reached, or fails in the same way")
  func retryInVain() async throws {
    let archive = ArchiveCache { $0.staleIfError = .seconds(60) }
    let script = ScriptedNext()
    script.answers("stored", status: .serviceUnavailable, [.cacheControl: "max-age=0"])
    _ = try await archive.load(script)
    script.answers("second", status: .serviceUnavailable, [.cacheControl: "no-store"])
    let retry = InterceptorRegistry(configuration: .ephemeral) {
      Retry()
      archive
      Intercept { request, _ in try await script.next(request) }
    }
    let url = try #require(URL(string: "http://example.com/a"))
    #expect(try await retry.data(for: URLRequest(url: url)).0 == Data("second".utf8))
    script.answers { request in
      if request.attempt == 1 { return InterceptedResponse(to: request, status: .badGateway, source: .network) }
      throw TransportError(.cannotConnectToHost, phase: .connecting, message: "nobody listens.")
    }
    let error = await failure { try await retry.data(for: URLRequest(url: url)) }
    #expect((error as? URLError)?.code == .cannotConnectToHost)
    retry.invalidate()
  }
}
