import Foundation
import TestSupport
import Testing
import WaylayCore
import WaylayHAR
import WaylayInspector

@Suite("Secrets that pass an inspector", .timeLimit(.minutes(5)))
struct SecretTests {
  private static let secret = "\(Recording.mark)-s3cr3t/value"
  private static let escaped = secret.replacing("/", with: "%2F")

  /// Loads in which a secret is wherever one can be.
  private func planted(_ inspector: Inspector) async throws {
    let secret = Self.secret
    let registry = InterceptorRegistry(logger: .recording()) {
      inspector
      Answering { request in
        guard request.url.path != "/failing" else {
          throw URLError(.badServerResponse, userInfo: [NSURLErrorFailingURLErrorKey: request.url])
        }
        var fields: HTTPFields = [
          .contentType: "application/json", .location: "https://b.test/?access_token=\(Self.escaped)",
        ]
        fields.append(HTTPField(name: .setCookie, value: "session=\(secret); Path=/"))
        fields.append(HTTPField(name: .init("X-Api-Key")!, value: secret))
        let base64 = Data(secret.utf8).base64EncodedString()
        let body = "{\"user\": {\"api_key\": \"\(secret)\", \"echo\": \"you said \(secret)\"}, \"blob\": \"\(base64)\"}"
        let isStream = request.url.path == "/stream"
        return InterceptedResponse(
          to: request, fields: fields, body: isStream ? .stream(Self.pieces(body)) : .text(body))
      }
      inspector.attempts
    }
    for (path, type, body) in [
      ("/json", "application/json", "{\"login\": {\"password\": \"\(secret)\"}}"),
      ("/form", "application/x-www-form-urlencoded", "user=ada&password=\(Self.escaped)"),
      ("/stream", "text/plain", "token=\(secret)"),
      (
        "/failing", "multipart/form-data; boundary=x",
        "--x\r\nContent-Disposition: form-data; name=\"pin\"\r\n\r\n\(secret)\r\n--x--\r\n"
      ),
    ] {
      var request = URLRequest(
        url: url("https://ada:\(Self.escaped)@a.test\(path)?access_token=\(Self.escaped)&page=2"))
      request.httpMethod = "POST"
      request.httpBody = Data(body.utf8)
      request.setValue(type, forHTTPHeaderField: "Content-Type")
      request.setValue("Bearer \(secret)", forHTTPHeaderField: "Authorization")
      request.setValue("sid=\(secret)", forHTTPHeaderField: "Cookie")
      _ = try? await registry.data(for: request)
    }
  }

  private static func pieces(_ text: String) -> AsyncStream<Data> {
    let bytes = Array(text.utf8)
    return AsyncStream { continuation in
      for start in stride(from: 0, to: bytes.count, by: 7) {
        continuation.yield(Data(bytes[start..<min(start + 7, bytes.count)]))
      }
      continuation.finish()
    }
  }

  @Test("go from all exchanges once one of them names them, from those before it in files")
  func together() throws {
    let secret = "\(Recording.mark)-t0ken-1"
    func entry(_ path: String, _ body: String = "") -> HAR.Entry {
      HAR.Entry(
        started: Date(timeIntervalSince1970: 0), request: .init(method: "GET", url: "https://a.test/\(path)"),
        response: .init(status: 200, body: HAR.Body(Data(body.utf8), mediaType: "application/json")))
    }
    let inspector = Inspector()
    inspector.add(entry("before/\(secret)"))
    inspector.add(entry("login", #"{"access_token":"\#(secret)","pin":4711}"#))
    let later = inspector.add(entry("after/\(secret)", #"{"echo":"\#(secret)"}"#))
    #expect(inspector.exchange(later)?.request.url == "https://a.test/after/REDACTED")
    for text in [inspector.text(), String(decoding: inspector.har().data(), as: UTF8.self)] {
      #expect(!text.contains(secret) && text.contains("before/REDACTED"), "\(text)")
    }
  }

  @Test("are in none of its outputs, in whatever spelling")
  func nowhere() async throws {
    try await withDirectory { directory in
      let file = directory.appendingPathComponent("traffic.journal")
      let inspector = Inspector(journal: try Inspector.Journal(file))
      let events = inspector.events()
      try await planted(inspector)
      await inspector.flush()
      let archive = directory.appendingPathComponent("all.har")
      try inspector.writeHAR(to: archive)
      var texts = [
        inspector.text(), String(decoding: inspector.har().data(), as: UTF8.self),
        try String(contentsOf: archive, encoding: .utf8),
        try String(contentsOf: file, encoding: .utf8), "\(inspector.statistics())",
      ]
      for exchange in inspector.exchanges {
        texts += [
          "\(exchange)", exchange.text(), exchange.curlCommand(), exchange.swiftStub() ?? "",
          String(reflecting: exchange),
        ]
        texts.append(String(decoding: exchange.response?.body.data ?? Data(), as: UTF8.self))
      }
      var reader = events.makeAsyncIterator()
      for _ in 0..<4 { texts.append("\(String(describing: await reader.next()))") }
      let spellings = [Self.secret, Self.escaped, Recording.mark, Data(Self.secret.utf8).base64EncodedString()]
      for text in texts {
        #expect(!text.isEmpty || text == "")
        Recording.note(text)
        for spelling in spellings { #expect(!text.contains(spelling), "\(spelling) is in \(text.prefix(3000))") }
      }
      #expect(texts[1].contains("REDACTED") && texts[3].contains("REDACTED") && inspector.count == 4)
      // Nothing is found by a secret either.
      let found = inspector.exchanges { String(decoding: $0.entry.data(), as: UTF8.self).contains(Recording.mark) }
      #expect(found.isEmpty)
    }
  }

  @Test("are not shown while a stream is open, at whatever byte it stands")
  func openStream() async throws {
    let inspector = Inspector()
    let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
    let registry = inspected(inspector) {
      InterceptedResponse(to: $0, fields: [.contentType: "application/json"], body: .stream(stream))
    }
    let response = try await registry.load(URLRequest(url: url("https://a.test/")))
    var reader = response.body.makeAsyncIterator()
    for byte in "{\"token\": \"\(Recording.mark)-\(Recording.mark)\", \"a\": 1}".utf8 {
      continuation.yield(Data([byte]))
      #expect(try await reader.next() == Data([byte]))
      let shown = try #require(inspector.exchanges.first?.response?.body.text)
      #expect(!shown.contains(Recording.mark.prefix(3)), "\(shown)")
    }
    continuation.finish()
    #expect(try await reader.next() == nil)
    #expect(inspector.exchanges.first?.response?.body.text == "{\"token\": \"REDACTED\", \"a\": 1}")
  }
}
