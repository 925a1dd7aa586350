#if InspectorServer
  import Foundation
  import WaylayCore
  import WaylayHAR
  import WaylayInspector

  /// Sends a recorded request again, without its redacted values.
  ///
  /// A header field with a redacted value is omitted: the app's chain adds its own. A URL or body with a redacted part
  /// differs from the original, as does a truncated body: such a request is refused with a reason.
  struct RequestReplay: Sendable {
    let session: URLSession
    let redaction: Redaction

    struct Refusal: Error, Equatable {
      let reason: String
    }

    /// Returns the status of the response.
    func send(_ exchange: Inspector.Exchange) async throws(Refusal) -> Int {
      let request = try Self.request(exchange, redaction)
      // The list shows the failure. The page needs no more, and an error may contain secrets.
      guard let (_, response) = try? await session.data(for: request) else {
        throw Refusal(reason: "It was sent again and failed.")
      }
      return (response as? HTTPURLResponse)?.statusCode ?? 0
    }

    static func request(_ exchange: Inspector.Exchange, _ redaction: Redaction) throws(Refusal) -> URLRequest {
      let recorded = exchange.request
      // Values replaced by another program's redaction are not listed: find them by the replacement text.
      var (redaction, report) = (redaction, RedactionReport())
      let known = KnownSecrets([Array(redaction.replacement.utf8)])
      redaction.replacement = ""
      let places = redaction.redacted(exchange.entry, report: &report) { _ in known }.replaced.keys
      func isMissing(_ part: String) -> Bool { places.contains { $0 == part || $0.hasPrefix(part + ".") } }
      guard exchange.state != .unseen else {
        throw Refusal(reason: "A WebSocket task cannot be sent again.")
      }
      guard recorded.method != "CONNECT" else { throw Refusal(reason: "A tunnel cannot be sent again.") }
      guard !isMissing("request.url") else {
        throw Refusal(reason: "Its URL held a secret, which was not kept: it cannot be sent again.")
      }
      guard let url = URL(string: recorded.url), ["http", "https"].contains(url.scheme?.lowercased() ?? "") else {
        throw Refusal(reason: "Its URL cannot be sent again.")
      }
      var request = URLRequest(url: url)
      request.httpMethod = recorded.method
      if let body = recorded.body, body.size > 0 {
        guard !body.isTruncated else {
          throw Refusal(reason: "Only the beginning of its body was kept: it cannot be sent again.")
        }
        guard !isMissing("request.body") else {
          throw Refusal(reason: "Its body held a secret, which was not kept: it cannot be sent again.")
        }
        request.httpBody = body.data
      }
      // Fields of the connection, and fields that derive from the URL and the body.
      let own: Set<String> = ["host", "content-length", "connection", "transfer-encoding", "accept-encoding", "expect"]
      for field in recorded.headers
      where !own.contains(field.name.lowercased())
        && !isMissing("request.headers.\(field.name.lowercased())")
      {
        request.addValue(field.value, forHTTPHeaderField: field.name)
      }
      return request
    }
  }
#endif
