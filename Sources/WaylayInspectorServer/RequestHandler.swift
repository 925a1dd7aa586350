#if InspectorServer
  import FlyingFox
  import Foundation
  import WaylayCore
  import WaylayHAR
  import WaylayInspector

  /// Responds to the requests of pages.
  final class RequestHandler: Sendable {
    let inspector: Inspector
    let replay: RequestReplay?
    let permits: ListenerPermits
    private let access = Locked<AccessCheck?>(nil)

    init(inspector: Inspector, session: URLSession?, listeners: Int) {
      self.inspector = inspector
      replay = session.map { RequestReplay(session: $0, redaction: inspector.redaction) }
      permits = ListenerPermits(listeners)
    }

    /// Generates a token, and accepts requests with it from now on.
    ///
    /// - Returns: The URL of the page.
    func open(port: UInt16) -> URL {
      let access = AccessCheck(port: port)
      self.access.withLock { $0 = access }
      guard let url = URL(string: "http://127.0.0.1:\(port)/\(access.token)/") else {
        preconditionFailure("a port and hexadecimal digits make a URL")
      }
      return url
    }

    func respond(to request: FlyingFox.HTTPRequest) async -> FlyingFox.HTTPResponse {
      let facts = AccessCheck.Request(
        method: request.method.rawValue, path: request.target.path(), field: { request.headers[HTTPHeader($0)] })
      guard let access = access.withLock({ $0 }), case .allowed(let path) = access.check(facts) else {
        return text(.forbidden, "Access is denied.")
      }
      switch (request.method, path) {
      case (.GET, ""):
        var response = text(.permanentRedirect, "")
        response.headers[.location] = "/\(access.token)/"
        return response
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
        guard let exchange = inspector.exchange(number) else {
          return text(.notFound, "It is no longer kept.")
        }
        return await respond(request.method, parts.count == 3 ? String(parts[2]) : "", exchange)
      }
    }

    private func respond(
      _ method: HTTPMethod, _ part: String, _ exchange: Inspector.Exchange
    ) async -> FlyingFox.HTTPResponse {
      switch (method, part) {
      case (.GET, ""): return response(.ok, "application/json", exchange.entry.data())
      case (.GET, "stub"):
        guard let source = exchange.swiftStub(replacement: inspector.redaction.replacement) else {
          return text(.conflict, "It has no response to make a stub of.")
        }
        return text(.ok, source)
      case (.POST, "repeat"):
        guard let replay else { return text(.conflict, "The server was created without a session to send it.") }
        switch await replay.send(exchange) {
        case .success(let status): return text(.ok, "Sent again: \(status)")
        case .failure(let refusal): return text(.conflict, refusal.reason)
        }
      default: return text(.notFound, "There is nothing here.")
      }
    }

    private var page: FlyingFox.HTTPResponse {
      var page = InspectorPage(title: "Inspector")
      page.isLive = true
      var response = response(.ok, "text/html; charset=utf-8", page.html(showing: HAR()))
      response.headers[HTTPHeader("Content-Security-Policy")] =
        InspectorPage.policy(isLive: true) + "; frame-ancestors 'none'"
      return response
    }

    private var events: FlyingFox.HTTPResponse {
      var features = ["stub"]
      if replay != nil { features.append("repeat") }
      let feed = EventStream(inspector: inspector, features: features, permit: permits.take())
      return FlyingFox.HTTPResponse(
        statusCode: .ok, headers: Self.fields("text/event-stream"),
        body: HTTPBodySequence(from: feed, suggestedBufferSize: 1 << 16))
    }

    private func text(_ status: HTTPStatusCode, _ text: String) -> FlyingFox.HTTPResponse {
      response(status, "text/plain; charset=utf-8", Data(text.utf8))
    }

    private func response(_ status: HTTPStatusCode, _ type: String, _ body: Data) -> FlyingFox.HTTPResponse {
      FlyingFox.HTTPResponse(statusCode: status, headers: Self.fields(type), body: body)
    }

    /// The fields of every response: no caching, no sniffing, no framing, no referrer.
    private static func fields(_ type: String) -> HTTPHeaders {
      [
        .contentType: type, HTTPHeader("Cache-Control"): "no-store", HTTPHeader("X-Content-Type-Options"): "nosniff",
        HTTPHeader("Referrer-Policy"): "no-referrer", HTTPHeader("Cross-Origin-Resource-Policy"): "same-origin",
        HTTPHeader("Cross-Origin-Opener-Policy"): "same-origin", HTTPHeader("X-Frame-Options"): "DENY",
      ]
    }
  }

  /// Permits for pages that listen, of which there are a limited number.
  final class ListenerPermits: Sendable {
    private let free: Locked<Int>

    init(_ count: Int) {
      free = Locked(max(1, count))
    }

    /// A permit, which its release returns; `nil` when all are taken.
    func take() -> Permit? {
      let isTaken = free.withLock { free in
        guard free > 0 else { return false }
        free -= 1
        return true
      }
      return isTaken ? Permit(self) : nil
    }

    final class Permit: Sendable {
      private let permits: ListenerPermits

      fileprivate init(_ permits: ListenerPermits) {
        self.permits = permits
      }

      deinit {
        permits.free.withLock { $0 += 1 }
      }
    }
  }
#endif
