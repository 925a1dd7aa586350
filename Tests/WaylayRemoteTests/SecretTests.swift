#if InspectorServer && DEBUG && (os(Linux) || os(macOS))
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore
  import WaylayHAR
  import WaylayInspector

  @testable import WaylayRemote
  @testable import WaylayRemoteControl

  @Suite("Secrets in all shapes of the corpus", .heavy, .timeLimit(.minutes(10)))
  struct SecretTests {
    /// The names under which they stand, in each shape: one of them in a check.
    private static let names: [String] = {
      let names = ["access_token", "userPassword", "api-key", "client_secret", "X-Auth-Token", "pin"]
      return Sizes.isWhole ? names : [names.randomElement() ?? ""]
    }()

    /// Exchanges with a secret each, which no other one names: one that is missed is hidden by none.
    private static func entries(_ name: String, _ mark: String) -> [HAR.Entry] {
      let whole = Plantings.each(name) { "\(mark)\($0)-\(Plantings.secret)" }.map(\.entry)
      let places = Secrets.shapes(name, "").indices
      return whole
        + places.map { place in
          let (type, body) = Secrets.shapes(name, "\(mark)\(place)x\(Plantings.mark)S3cret")[place]
          return Plantings.entry(Data(body.utf8), type)
        }
    }

    private static func isClean(_ text: String) -> Bool {
      Recording.note(text)
      return !Plantings.isSeen(in: Data(text.utf8))
    }

    @Test("are in no response of the door", arguments: names)
    func door(name: String) async throws {
      let app = try await OpenDoor()
      // The nearest stub is compared with the fields, the query and the body of each request.
      let near =
        #"{"method":"POST","url":"/**","query":{"q":"1"},"fields":{"X-A":"1"},"body":{"jsonSubset":{"b":1}}}"#
      _ = try app.calls.perform(#"{"call":"addStubs","stubs":[\#(near)]}"#)
      for entry in Self.entries(name, "a") { app.inspector.add(entry) }
      var urls: [String] = []
      for entry in Self.entries(name, "b") {
        guard let url = URL(string: entry.request.url) else { continue }
        urls.append(entry.request.url)
        var request = URLRequest(url: url)
        request.httpMethod = entry.request.method
        for field in entry.request.headers { request.addValue(field.value, forHTTPHeaderField: field.name) }
        if let body = entry.request.body { request.setValue(body.mediaType, forHTTPHeaderField: "Content-Type") }
        _ = try await app.registry.load(request, body: entry.request.body.map { .data($0.data) })
      }
      await app.inspector.flush()
      var messages = ["exchanges", "har", "requests"].map { #"{"call":"\#($0)","limit":1000}"# }
      messages.append(#"{"call":"issues"}"#)
      for id in app.inspector.exchanges.map(\.id) {
        messages += ["exchange", "explain"].map { #"{"call":"\#($0)","id":\#(id)}"# }
      }
      #expect(messages.count > 4 * urls.count)
      for url in Set(urls) { messages.append(#"{"call":"explain","url":\#(JSONValue(url))}"#) }
      for message in messages {
        let text = try app.calls.perform(message)
        #expect(text.utf8.count > 50 && Self.isClean(text), "\(message): \(text.prefix(5_000))")
      }
      app.registry.invalidate()
    }

    #if CommandLineTool
      @Test("are in no message of waylay mcp", arguments: names)
      func agent(name: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-mcp-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let entries = Self.entries(name, "a")
        try HAR(entries: entries).write(to: folder.appendingPathComponent("a.har"))
        let old = Self.entries(name, "b").map { entry in
          var entry = entry
          entry.response.body = HAR.Body(Data(#"{"n":"1","access_token":0}"#.utf8), mediaType: "application/json")
          return entry
        }
        try HAR(entries: old).write(to: folder.appendingPathComponent("old.har"))
        var calls = [
          ("search_requests", #"{"limit":1000}"#), ("export_har", #"{"limit":1000}"#),
          ("compare", #"{"file":\#(JSONValue(folder.path + "/old.har"))}"#),
        ]
        for id in 1...entries.count {
          for tool in ["get_request", "explain"] { calls.append((tool, #"{"id":\#(id)}"#)) }
        }
        let lines = calls.map { tool, arguments in
          #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\#(tool)","arguments":\#(arguments)}}"#
        }
        let input = folder.appendingPathComponent("in")
        try Data(lines.joined(separator: "\n").utf8).write(to: input)
        let (code, output) = try await Program(path: "/bin/bash")
          .run(["-c", #""$0" mcp "$1/a.har" < "$1/in""#, Program("waylay").path, folder.path])
        let responses = output.split(separator: "\n")
        #expect(code == 0 && responses.count == calls.count)
        for (call, response) in zip(calls, responses) {
          let result = try JSONValue(parsing: String(response))["result"]
          #expect(result?["isError"] == false && Self.isClean(String(response)), "\(call): \(response.prefix(5_000))")
        }
      }
    #endif
  }
#endif
