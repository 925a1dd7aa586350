import FlyingFox
import Foundation
import WaylayCore
import WaylayHAR
import WaylayInspector

/// Answers the requests of pages.
final class Desk: Sendable {
  let inspector: Inspector
  let repeater: Repeater?
  let seats: Seats
  private let gate = Locked<Gate?>(nil)

  init(inspector: Inspector, session: URLSession?, listeners: Int) {
    self.inspector = inspector
    repeater = session.map { Repeater(session: $0, redaction: inspector.redaction) }
    seats = Seats(listeners)
  }

  /// Lets visitors in from now on.
  ///
  /// - Returns: Where.
  func open(port: UInt16) -> URL {
    let gate = Gate(port: port)
    self.gate.withLock { $0 = gate }
    guard let url = URL(string: "http://127.0.0.1:\(port)/\(gate.token)/") else {
      preconditionFailure("a port and hexadecimal digits make a URL")
    }
    return url
  }

  func answer(_ request: FlyingFox.HTTPRequest) async -> FlyingFox.HTTPResponse {
    let visitor = Gate.Visitor(
      method: request.method.rawValue, path: request.target.path(), field: { request.headers[HTTPHeader($0)] })
    guard let gate = gate.withLock({ $0 }), case .letIn(let path) = gate.judge(visitor) else {
      return text(.forbidden, "Access is denied.")
    }
    switch (request.method, path) {
    case (.GET, ""):
      var answer = text(.permanentRedirect, "")
      answer.headers[.location] = "/\(gate.token)/"
      return answer
    case (.GET, "/"): return page
    case (.GET, "/events"): return events
    case (.DELETE, "/entries"):
      inspector.clear()
      return text(.ok, "")
    default:
      let parts = path.split(separator: "/")
      guard (2...3).contains(parts.count), parts[0] == "entries", let number = Int(parts[1]) else {
        return text(.notFound, "There is nothing here.")
      }
      guard let exchange = inspector.exchange(Inspector.Exchange.ID(number)) else {
        return text(.notFound, "It is no longer kept.")
      }
      return await answer(request.method, parts.count == 3 ? String(parts[2]) : "", exchange)
    }
  }

  private func answer(
    _ method: HTTPMethod, _ part: String, _ exchange: Inspector.Exchange
  ) async -> FlyingFox.HTTPResponse {
    switch (method, part) {
    case (.GET, ""): return answer(.ok, "application/json", exchange.entry.data())
    case (.GET, "stub"):
      guard let source = exchange.swiftStub(replacement: inspector.redaction.replacement) else {
        return text(.conflict, "It has no response to make a stub of.")
      }
      return text(.ok, source)
    case (.POST, "repeat"):
      guard let repeater else { return text(.conflict, "The server was created without a session to send it.") }
      switch await repeater.send(exchange) {
      case .success(let status): return text(.ok, "Sent again: \(status)")
      case .failure(let refusal): return text(.conflict, refusal.reason)
      }
    default: return text(.notFound, "There is nothing here.")
    }
  }

  private var page: FlyingFox.HTTPResponse {
    var page = InspectorPage(title: "Inspector")
    page.isLive = true
    var answer = answer(.ok, "text/html; charset=utf-8", page.html(showing: HAR()))
    answer.headers[HTTPHeader("Content-Security-Policy")] =
      InspectorPage.policy(isLive: true) + "; frame-ancestors 'none'"
    return answer
  }

  private var events: FlyingFox.HTTPResponse {
    var features = ["stub"]
    if repeater != nil { features.append("repeat") }
    let feed = Feed(inspector: inspector, features: features, seat: seats.take())
    return FlyingFox.HTTPResponse(
      statusCode: .ok, headers: Self.fields("text/event-stream"),
      body: HTTPBodySequence(from: feed, suggestedBufferSize: 1 << 16))
  }

  private func text(_ status: HTTPStatusCode, _ text: String) -> FlyingFox.HTTPResponse {
    answer(status, "text/plain; charset=utf-8", Data(text.utf8))
  }

  private func answer(_ status: HTTPStatusCode, _ type: String, _ body: Data) -> FlyingFox.HTTPResponse {
    FlyingFox.HTTPResponse(statusCode: status, headers: Self.fields(type), body: body)
  }

  /// What every answer says: it is not kept, not guessed at, not shown by others, and its URL is not passed on.
  private static func fields(_ type: String) -> HTTPHeaders {
    [
      .contentType: type, HTTPHeader("Cache-Control"): "no-store", HTTPHeader("X-Content-Type-Options"): "nosniff",
      HTTPHeader("Referrer-Policy"): "no-referrer", HTTPHeader("Cross-Origin-Resource-Policy"): "same-origin",
      HTTPHeader("Cross-Origin-Opener-Policy"): "same-origin", HTTPHeader("X-Frame-Options"): "DENY",
    ]
  }
}
