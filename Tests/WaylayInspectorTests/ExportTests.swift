import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore
import WaylayHAR
import WaylayInspector
import WaylayMocks

@Suite("What an inspector gives out", .timeLimit(.minutes(5)))
struct ExportTests {
  @Test("is an archive that a strict reader takes, in memory and as a stream")
  func archive() async throws {
    try await withDirectory { directory in
      let inspector = Inspector()
      let registry = inspected(inspector) { request in
        guard request.url.path != "/7" else { throw URLError(.timedOut) }
        return InterceptedResponse(
          to: request, fields: [.contentType: "text/plain"], body: .text("answer to \(request.url.path)"))
      }
      for number in 1...20 { _ = try? await registry.data(for: URLRequest(url: url("https://a.test/\(number)"))) }
      let file = directory.appendingPathComponent("all.har")
      try inspector.writeHAR(to: file)
      let data = try Data(contentsOf: file)
      #expect(HARFormat.problems(in: data) == [])
      let read = try HAR(data: data)
      #expect(read.entries.count == 20 && read.entries.map(\.request.url) == inspector.har().entries.map(\.request.url))
      #expect(read.entries.map { Inspector.Exchange($0).state } == inspector.exchanges.map(\.state))
      try inspector.writeHAR(to: file, isPretty: true) { $0.state == .failed }
      #expect(try HAR(contentsOf: file).entries.map(\.request.url) == ["https://a.test/7"])
      #expect(throws: HARError.self) { try inspector.writeHAR(to: directory.appendingPathComponent("none/all.har")) }
      #expect(inspector.text { $0.request.url.contains("/20") }.contains("< answer to /20"))
    }
  }

  @Test(
    "is a command that the real curl replays, byte for byte",
    .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/curl")))
  func curl() async throws {
    try await withOrigin { origin in
      let inspector = Inspector()
      let registry = InterceptorRegistry(logger: .recording()) { inspector }
      let body = Data("a='1'&b=\"$(id)\"\n\n`end` \\".utf8)
      var request = URLRequest(url: origin.url("/echo?q='%20$(x)"))
      request.httpMethod = "PUT"
      request.httpBody = body
      request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
      request.setValue("it's `one`", forHTTPHeaderField: "X-Note")
      _ = try await registry.data(for: request)
      let command = try #require(inspector.exchanges.first).curlCommand()
      let (code, output) = try await Program(path: "/bin/bash").run(
        ["-c", command.replacing("curl ", with: "/usr/bin/curl --silent --max-time 30 ")])
      #expect(code == 0)
      struct Echo: Decodable {
        let method: String
        let body: String
      }
      let echo = try JSONDecoder().decode(Echo.self, from: Data(output.utf8))
      #expect(echo.method == "PUT" && echo.body == String(decoding: body, as: UTF8.self))
      let raw = origin.rawBytes.map { $0 }.suffix(1).joined()
      #expect(raw.contains("it's `one`"))
    }
  }

  @Test("is the source of a stub, which answers as the server did")
  func stub() async throws {
    let inspector = Inspector()
    let registry = inspected(inspector) { request in
      InterceptedResponse(
        to: request, status: .created,
        fields: [.contentType: "application/json", .init("X-Note")!: "a \"quote\"", .contentLength: "15"],
        body: .text("{\"name\":\n\"Ada\"}"))
    }
    var request = URLRequest(url: url("https://api.test/users/*?token=abcdefgh&page=2"))
    request.httpMethod = "POST"
    _ = try await registry.data(for: request)
    let source = try #require(inspector.exchanges.first?.swiftStub())
    // The same text, as the compiler sees it:
    let stub =
      Stub(
        .post, "https://api.test/users/%2A?token=*&page=2",
        .json(text: "{\"name\":\n\"Ada\"}", status: 201)
          .addingField("X-Note", "a \"quote\""))
    #expect(
      source == """
        Stub(
          .post, "https://api.test/users/%2A?token=*&page=2",
          .json(text: "{\\"name\\":\\n\\"Ada\\"}", status: 201)
            .addingField("X-Note", "a \\"quote\\""))
        """)
    let mocked = InterceptorRegistry(logger: .recording()) { MockInterceptor { stub } }
    let (data, response) = try await mocked.data(for: request)
    #expect(data == Data("{\"name\":\n\"Ada\"}".utf8) && response.statusCode == 201)
    #expect(response.value(forHTTPHeaderField: "X-Note") == "a \"quote\"")
  }

  @Test("says when only the beginning of a body is known")
  func truncated() async throws {
    let inspector = Inspector(limits: Inspector.Limits(bodyBytes: 4))
    let registry = inspected(inspector) { InterceptedResponse(to: $0, body: .text("0123456789")) }
    var request = URLRequest(url: url("https://a.test/"))
    request.httpMethod = "POST"
    request.httpBody = Data("abcdefgh".utf8)
    _ = try await registry.data(for: request)
    let exchange = try #require(inspector.exchanges.first)
    #expect(exchange.curlCommand().hasPrefix("# Only the first 4 of 8 bytes of the body are known.\ncurl"))
    #expect(exchange.swiftStub()?.contains("  // The first 4 of 10 bytes.\n") == true)
    #expect(exchange.text().contains("… the first 4 of 10 bytes"))
  }
}
