#if InspectorServer
  import Foundation
  import NIOCore
  import NIOHTTP1
  import WaylayCore
  import WaylayHAR
  import WaylayInspector

  /// Responds to the requests of pages.
  struct RequestHandler: Sendable {
    /// The path of the stream that a page listens to.
    static let events = "/events"

    let inspector: Inspector
    let replay: RequestReplay?
    /// The number of pages that may still start to listen.
    let free: Locked<Int>

    init(inspector: Inspector, session: URLSession?, listeners: Int) {
      self.inspector = inspector
      replay = session.map { RequestReplay(session: $0, redaction: inspector.redaction) }
      free = Locked(max(1, listeners))
    }

    func respond(to request: ServerRequest, by responder: Responder) async {
      // Send errors are ignored: the client has disconnected, or was too slow.
      if request.method == .GET, request.path == Self.events {
        try? await listen(responder)
      } else {
        try? await responder.send(await response(to: request).bytes)
      }
    }

    private func response(to request: ServerRequest) async -> Response {
      switch (request.method, request.path) {
      case (.GET, ""):
        var response = Response.text(.permanentRedirect, "")
        response.fields = [("Location", "\(request.head.uri.prefix { $0 != "?" })/")]
        return response
      case (.GET, "/"): return page
      case (.DELETE, "/entries"):
        inspector.clear()
        return .text(.ok, "")
      default:
        let parts = request.path.split(separator: "/")
        guard (2...3).contains(parts.count), parts[0] == "entries", let number = Int(parts[1]) else {
          return .text(.notFound, "There is nothing here.")
        }
        guard let exchange = inspector.exchange(number) else { return .text(.notFound, "It is no longer kept.") }
        return await response(request.method, parts.count == 3 ? String(parts[2]) : "", exchange)
      }
    }

    private func response(_ method: HTTPMethod, _ part: String, _ exchange: Inspector.Exchange) async -> Response {
      switch (method, part) {
      case (.GET, ""):
        let entry = inspector.shown(exchange).entry
        return Response(type: "application/json", body: ByteBuffer(bytes: entry.data()))
      case (.GET, "stub"):
        guard let source = inspector.shown(exchange).swiftStub(replacement: inspector.redaction.replacement) else {
          return .text(.conflict, "It has no response to make a stub of.")
        }
        return .text(.ok, source)
      case (.POST, "repeat"):
        guard let replay else { return .text(.conflict, "The server was created without a session to send it.") }
        do { return .text(.ok, "Sent again: \(try await replay.send(exchange))") } catch {
          return .text(.conflict, error.reason)
        }
      default: return .text(.notFound, "There is nothing here.")
      }
    }

    private var page: Response {
      var page = InspectorPage(title: "Inspector")
      page.isLive = true
      let policy = InspectorPage.policy(isLive: true) + "; frame-ancestors 'none'"
      return Response(
        type: "text/html; charset=utf-8", fields: [("Content-Security-Policy", policy)],
        body: ByteBuffer(bytes: page.html(showing: HAR())))
    }

    private func listen(_ responder: Responder) async throws {
      try await responder.send(Response(type: "text/event-stream").bytes)
      defer { free.withLock { $0 += 1 } }
      let isFree = free.withLock { free in
        free -= 1
        return free >= 0
      }
      guard isFree else { return try await responder.send(EventText.event("full", "\"Too many pages are open\"")) }
      let stream = EventStream(inspector: inspector, features: replay == nil ? ["stub"] : ["stub", "repeat"])
      try? await stream.run { try await responder.send($0) }
      try await responder.send(EventText.event("end", "1"))
    }
  }
#endif
