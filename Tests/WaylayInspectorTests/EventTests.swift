import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore
import WaylayInspector

@Suite("The events of an inspector", .timeLimit(.minutes(5)))
struct EventTests {
  private func registry(_ inspector: Inspector) -> InterceptorRegistry {
    InterceptorRegistry(logger: .recording()) { inspector }
  }

  @Test("show a stream while it is open, and its end")
  func stream() async throws {
    try await withOrigin { origin in
      let inspector = Inspector()
      let registry = registry(inspector)
      let events = inspector.events()
      let load = Task {
        let response = try await registry.load(URLRequest(url: origin.url("/gate/live")))
        return try await response.body.collect(upTo: 1000)
      }
      defer { load.cancel() }
      var seen: [String] = []
      for await case .exchange(let exchange) in events {
        let text = exchange.response?.body.text ?? "nothing"
        guard seen.last != text || exchange.state != .open else { continue }
        seen.append(text)
        // What comes next is sent only when what was there has been seen: while the stream is open.
        switch text {
        case "one ": origin.release("two", gate: "live")
        case "one two" where exchange.state == .open: origin.release(nil, gate: "live")
        // Of what came before the first look only the newest is seen: no head, or one already.
        default: if seen.count == 1 { origin.release("one ", gate: "live") }
        }
        if exchange.state != .open {
          #expect(exchange.state == .finished)
          break
        }
      }
      #expect(seen.filter { !["", "nothing"].contains($0) } == ["one ", "one two", "one two"])
      let body = try await load.value
      #expect(body == Data("one two".utf8))
    }
  }

  @Test("a slow reader loses old ones, is told how many, and gets what is new")
  func slow() async throws {
    let inspector = Inspector()
    let registry = InterceptorRegistry(logger: .recording()) {
      inspector
      Answer()
    }
    let events = inspector.events(bufferingNewest: 3)
    for number in 1...10 { _ = try await registry.data(for: URLRequest(url: URL(string: "https://a.test/\(number)")!)) }
    var reader = events.makeAsyncIterator()
    #expect(await reader.next() == .lost(7))
    for number in 8...10 {
      guard case .exchange(let exchange)? = await reader.next() else { return #expect(Bool(false), "no exchange") }
      #expect(exchange.request.url == "https://a.test/\(number)" && exchange.state == .finished)
    }
    inspector.clear()
    #expect(await reader.next() == .cleared)
  }

  @Test("end with the inspector, and with the reader's task")
  func ends() async throws {
    var inspector: Inspector? = Inspector()
    let events = try #require(inspector?.events())
    let reader = Task { await events.first { _ in true } }
    inspector = nil
    #expect(await reader.value == nil)
    let other = Inspector()
    let more = other.events()
    let waiting = Task { await more.first { _ in true } }
    waiting.cancel()
    #expect(await waiting.value == nil)
  }
}

/// Answers at once.
struct Answer: RequestInterceptor {
  var body = MessageBody.text("answer")

  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    InterceptedResponse(to: request, fields: [.contentType: "text/plain"], body: body)
  }
}
