import Foundation
import TestSupport
import Testing
import WaylayCore
import WaylayInterceptors

@Suite("RequestSigner", .timeLimit(.minutes(5)))
struct SignerTests {
  private let signer = RequestSigner(for: .host("api.example.com")) { request in
    let body = try await request.body.collect(upTo: 100)
    request.fields[.authorization] = "\(request.method) \(request.url.path) \(String(decoding: body, as: UTF8.self))"
  }

  private static func request(_ body: MessageBody) -> InterceptedRequest {
    InterceptedRequest(.post, "http://api.example.com/a", body: body)
  }

  @Test("a request has the signature of what is sent, and its whole body")
  func signed() async throws {
    let chunks = ["he", "llo"].map { Data($0.utf8) }
    let stream = MessageBody.stream(replaying: {
      AsyncStream<Data> { stream in
        for chunk in chunks { stream.yield(chunk) }
        stream.finish()
      }
    })
    for body in [.text("hello"), stream] {
      let script = Script(.ok)
      _ = try await signer.load(Self.request(body), script)
      let sent = try #require(script.requests.all.first)
      #expect(sent.fields[.authorization] == "POST /a hello")
      #expect(try await sent.body.collect(upTo: 100) == Data("hello".utf8))
    }
  }

  @Test("nothing is signed for other hosts, and a body that can be read once is refused")
  func unsigned() async throws {
    let script = Script(.ok)
    _ = try await signer.load(InterceptedRequest(.get, "http://other.example/"), script)
    #expect(script.requests.all.last?.fields[.authorization] == nil)
    let oneShot = Self.request(.stream(AsyncStream<Data> { $0.finish() }))
    let error = await failure { try await signer.load(oneShot, script) }
    #expect((error as? WaylayError)?.code == .bodyConsumed && script.requests.all.count == 1)
  }
}
