import Foundation
import TestSupport
import Testing

@Suite(
  "The script of the page",
  .enabled(
    if: FileManager.default.isExecutableFile(atPath: "/usr/bin/node"), "node runs the script (apt-get install nodejs)"),
  .timeLimit(.minutes(5)))
struct PageScriptTests {
  /// Runs parts of the page's script, and then an expression; returns its value as JSON.
  private func value(_ expression: String) async throws -> String {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Sources/WaylayInspector/Page/Readable")
    let parts = try ["2-model.js", "5-bodies.js"].map {
      try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)
    }
    let script = parts.joined(separator: "\n") + "\nconsole.log(JSON.stringify(\(expression)))"
    let (code, output) = try await Program(path: "/usr/bin/node").run(["-e", script])
    #expect(code == 0, "\(output)")
    return output.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  @Test(
    "a GraphQL request is listed by the name of its operation",
    arguments: [
      (#"{"operationName":"A","query":"query B { x }"}"#, "", "A"),
      (##"{"query":"# query C {\nquery Named($a: String = \"query X {\") { a }"}"##, "", "Named"),
      (#"{"query":"{ a }"}"#, "", ""), (#"{"query":"shoes"}"#, "", ""), (#"{"operationName":"a tooth"}"#, "", ""),
      (#"{"operationName":"P","extensions":{"persistedQuery":{}}}"#, "", "P"),
      (#"{"operationName":"Cut","query":"query Cut { a "#, "", "Cut"), ("", "?query=query%20Q%7Ba%7D", "Q"),
      ("no JSON", "", ""), (#"{"query":5,"operationName":{}}"#, "", ""),
    ])
  func operations(_ body: String, _ query: String, _ name: String) async throws {
    let text = String(decoding: try JSONEncoder().encode(body), as: UTF8.self)
    let row = "new Row({request: {url: 'https://a.test/g\(query)', postData: {text: \(text)}}}, 1)"
    #expect(try await value("\(row).operation") == "\"\(name)\"")
  }

  @Test(
    "server-sent events are shown one by one, with names, ids and readable data",
    arguments: [
      ("data: a\n\n", "message\na"),
      ("event: tick\nid: 4\ndata: b\ndata: c\n\ndata: d\n\n", "tick, id 4\nb\nc\n\nmessage, id 4\nd"),
      ("data: {\"a\":1}\r\n\r\n", "message\n{\n  \"a\": 1\n}"), (": comment\rretry: 5\r\rdata\r\r", "message\n"),
      ("data:x\n\ndata: y", "message\nx\n\nmessage, not complete\ny"),
      ("\u{FEFF}data: a\n\nevent: none\n\n", "message\na"),
      ("no event", ""),
    ])
  func events(_ stream: String, _ shown: String) async throws {
    let text = String(decoding: try JSONEncoder().encode(stream), as: UTF8.self)
    let value = try await value("eventLines(\(text))")
    #expect(try JSONDecoder().decode(String.self, from: Data(value.utf8)) == shown)
  }
}
