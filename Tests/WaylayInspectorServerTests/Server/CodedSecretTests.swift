#if InspectorServer
  import Foundation
  import TestSupport
  import Testing
  import WaylayHAR
  import WaylayInspector

  @testable import WaylayInspectorServer

  @Suite("Secrets that are coded, in all that an inspector and its server give out", .timeLimit(.minutes(5)))
  struct CodedSecretTests {
    private struct Answering: RequestInterceptor {
      func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse
      {
        let json = Data("{\"session\":{\"access_token\":\"\(Recording.mark)-answer\"},\"n\":1}".utf8)
        let body =
          request.url.path == "/whole" ? json.base64EncodedString() : "{\"b\":\"\(json.base64EncodedString())\"}"
        return InterceptedResponse(
          to: request, fields: [.contentType: "application/json", .setCookie: "sid=\(Recording.mark)-answer"],
          body: .text(body))
      }
    }

    @Test("are in none of them: HAR, cURL, stubs, text, report, journal, and what the page is sent")
    func nowhere() async throws {
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-coded-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: file) }
      let inspector = Inspector(journal: try Inspector.Journal(file))
      let registry = InterceptorRegistry(logger: .recording()) {
        inspector
        Answering()
      }
      for path in ["whole", "member"] {
        var request = URLRequest(url: try #require(URL(string: "https://a.test/\(path)")))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue("Bearer \(Recording.mark)-request", forHTTPHeaderField: "Authorization")
        let json = Data("{\"user\":\"ada\",\"password\":\"\(Recording.mark)-request\"}".utf8).base64EncodedString()
        request.httpBody = Data((path == "whole" ? json : "{\"payload\":\"\(json)\"}").utf8)
        _ = try await registry.data(for: request)
      }
      await inspector.flush()
      var outputs = [
        ("HAR", inspector.har().data()), ("text", Data(inspector.text().utf8)), ("report", inspector.report()),
        ("journal", try Data(contentsOf: file)),
      ]
      for exchange in inspector.exchanges {
        outputs.append(("cURL", Data(exchange.curlCommand().utf8)))
        outputs.append(("stub", Data((exchange.swiftStub() ?? "").utf8)))
        outputs.append(("event", Data(EventText.entry(exchange))))
      }
      for (name, bytes) in outputs {
        #expect(bytes.count > 50, "\(name)")
        var texts = [String(decoding: bytes, as: UTF8.self)]
        Recording.note(texts[0])
        // All that is base64 in it, by whatever byte it begins.
        for word in texts[0].split(whereSeparator: { !$0.isLetter && !$0.isNumber && !"+/".contains($0) }) {
          for skipped in 0..<4 {
            let digits = word.dropFirst(skipped)
            let whole = String(digits.prefix(digits.count / 4 * 4))
            if let data = Data(base64Encoded: whole) { texts.append(String(decoding: data, as: UTF8.self)) }
          }
        }
        for text in texts { #expect(!text.contains(Recording.mark), "\(name): \(text.prefix(500))") }
        #expect(texts.contains { $0.contains("REDACTED") }, "\(name)")
      }
    }
  }
#endif
