import Foundation
import TestSupport
import Testing
import WaylayHAR
import WaylayInspector

@Suite("An inspector that is given what others have seen", .timeLimit(.minutes(5)))
struct AddingTests {
  private func entry(_ path: String, body: String = "answer", more: [String: JSONValue] = [:]) -> HAR.Entry {
    var entry = HAR.Entry(
      started: Date(timeIntervalSince1970: 1_700_000_000),
      request: HAR.Request(method: "GET", url: "https://a.test/\(path)?token=hunter2-4711"),
      response: HAR.Response(
        status: 200, headers: [HAR.Field("Content-Type", "text/plain")],
        body: HAR.Body(Data(body.utf8), mediaType: "text/plain")),
      timings: HAR.Timings(wait: 5, receive: 1))
    entry.extensions = more
    return entry
  }

  @Test("numbers them, takes their secrets out, cuts their bodies, and tells those that listen")
  func adding() async throws {
    let inspector = Inspector(limits: Inspector.Limits(exchanges: 3, bodyBytes: 4))
    let events = inspector.events()
    let first = inspector.add(entry("one", more: ["_id": 77]))
    #expect(first == 1)
    var iterator = events.makeAsyncIterator()
    guard case .exchange(let told)? = await iterator.next() else { Issue.record("nothing was told"); return }
    #expect(told.id == first && told.state == .finished)
    #expect(told.request.url == "https://a.test/one?token=REDACTED")
    #expect(told.response?.body.data == Data("answ".utf8) && told.response?.body.size == 6)
    for path in ["two", "three", "four"] { inspector.add(entry(path)) }
    #expect(inspector.exchanges.map(\.id) == [2, 3, 4] && inspector.dropped == 1)
    #expect(inspector.exchanges { $0.request.url.contains("/four") && $0.state == .finished }.count == 1)
    inspector.clear()
    #expect(inspector.count == 0 && inspector.bytes == 0)
  }

  @Test("keeps texts of any characters, trailers and bodies of any bytes as they were")
  func anything() {
    let inspector = Inspector()
    var strange = entry("a\u{0}b", body: "")
    strange.request.headers = [
      HAR.Field("X-\u{0}-Name", "\u{0}"), HAR.Field("X-Empty", ""), HAR.Field("", "é\u{FFFF}"),
    ]
    strange.response.headers += [HAR.Field("X-After", "\u{0}\u{0}")]
    strange.response.extensions["_trailers"] = [["name": "X-Check", "value": "4\u{0}2"]]
    strange.request.body = HAR.Body(Data(0...255), mediaType: "")
    strange.response.body = HAR.Body(Data((0...255).reversed()), mediaType: "text/plain")
    strange.comment = "\u{0}"
    inspector.add(strange)
    let kept = inspector.exchanges[0].entry
    #expect(kept.request.headers == strange.request.headers && kept.response.headers == strange.response.headers)
    #expect(kept.response.extensions == strange.response.extensions && kept.comment == "\u{0}")
    #expect(kept.request.body?.data == strange.request.body?.data)
    #expect(kept.response.body.data == strange.response.body.data)
  }

  @Test("one that is open may be followed by its end, once")
  func updating() async throws {
    try await withDirectory { directory in
      let file = directory.appendingPathComponent("journal")
      let inspector = Inspector(
        limits: Inspector.Limits(exchanges: 2), journal: try Inspector.Journal(file))
      let id = inspector.add(entry("tunnel", body: "", more: ["_state": "open", "_source": "tunnel"]))
      #expect(inspector.exchange(id)?.state == .open)
      // It stays while it is open, whatever else comes.
      for number in 1...5 { inspector.add(entry("\(number)")) }
      #expect(inspector.exchanges.map(\.id) == [1, 6])
      #expect(inspector.update(id, to: entry("tunnel", body: "end", more: ["_source": "tunnel"])))
      #expect(inspector.exchange(id)?.state == .finished && inspector.exchange(id)?.source?.description == "tunnel")
      #expect(inspector.exchange(id)?.response?.body.text == "end")
      #expect(!inspector.update(id, to: entry("tunnel")))
      #expect(!inspector.update(3, to: entry("gone")))
      inspector.add(entry("last"))
      #expect(inspector.exchanges.map(\.id) == [6, 7])
      #expect(try Inspector.Journal.read(file).exchanges.map(\.id) == [2, 3, 4, 5, 6, 1, 7])
    }
  }
}
