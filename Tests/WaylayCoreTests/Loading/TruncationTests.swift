import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("A chunked body that breaks off", .timeLimit(.minutes(5)))
struct TruncationTests {
  /// Where the message ends too soon.
  static let endings = [
    "", "5\r\nhel", "5\r\nhello", "5\r\nhello\r\n", "5\r\nhello\r\n5\r\nwo", "5\r\nhello\r\n0\r\n",
    "5\r\nhello\r\n0\r\nX-Trailer: a\r\n",
  ]

  private func origin(_ ending: String, _ body: (TestOrigin, URL) async throws -> Void) async throws {
    try await withOrigin { origin in
      origin.reply(to: "/cut") { _ in
        Reply.raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + ending).with { $0.hangsUp = true }
      }
      try await body(origin, origin.url("/cut"))
    }
  }

  @Test("is an error for a delegate, a handler, async code, a download and a direct load", arguments: endings)
  func everywhere(ending: String) async throws {
    try await origin(ending) { _, url in
      let registry = InterceptorRegistry { Link.pass() }
      let recorder = Recorder()
      let session = URLSession.intercepted(by: registry, delegate: recorder)
      session.dataTask(with: url).resume()
      await recorder.finished.wait()
      #expect(recorder.entries.last == .completed(.networkConnectionLost), "delegate: \(recorder.entries)")
      #expect(await failureCode { try await session.data(from: url) } == .networkConnectionLost)
      #expect(await failureCode { try await session.download(from: url) } == .networkConnectionLost)
      #expect(await failureCode { try await registry.data(for: URLRequest(url: url)) } == .networkConnectionLost)
      let handled = await handed { hand in session.dataTask(with: url) { hand(($2 as? URLError)?.code) }.resume() }
      #expect(handled == URLError.Code.networkConnectionLost)
    }
  }

  @Test("is an error with an inner session as the transport", arguments: endings)
  func innerSession(ending: String) async throws {
    try await origin(ending) { _, url in
      let registry = InterceptorRegistry(transport: URLSessionTransport(configuration: .ephemeral)) { Link.pass() }
      let recorder = Recorder()
      URLSession.intercepted(by: registry, delegate: recorder).dataTask(with: url).resume()
      await recorder.finished.wait()
      #expect(recorder.entries.last != .completed(nil), "\(recorder.entries)")
      #expect(await failureCode { try await registry.data(for: URLRequest(url: url)) } != nil)
    }
  }
}
