#if InspectorServer
  import Foundation
  import WaylayCore
  import WaylayHAR
  import WaylayInspector

  /// Sends a request again, as it was recorded: without what was taken out of it.
  ///
  /// A header field whose value was taken out, in whole or in part, is left out: the app's chain adds its own, as it did
  /// the first time. A URL or a body that holds a place where something was taken out is not the one that was sent, and
  /// neither is a body of which only the beginning was kept: such a request is refused, and the reason is said.
  struct RequestReplay: Sendable {
    let session: URLSession
    let redaction: Redaction

    struct Refusal: Error, Equatable {
      let reason: String
    }

    /// Returns the status of the response.
    func send(_ exchange: Inspector.Exchange) async throws(Refusal) -> Int {
      let request = try Self.request(exchange, redaction)
      // What failed is in the list. The page needs no more than that, and an error may hold anything.
      guard let (_, response) = try? await session.data(for: request) else {
        throw Refusal(reason: "It was sent again and failed.")
      }
      return (response as? HTTPURLResponse)?.statusCode ?? 0
    }

    static func request(_ exchange: Inspector.Exchange, _ redaction: Redaction) throws(Refusal) -> URLRequest {
      let (recorded, takenOut) = (exchange.request, TakenOut(by: redaction))
      guard exchange.state != .unseen else {
        throw Refusal(reason: "A WebSocket task cannot be sent again.")
      }
      guard recorded.method != "CONNECT" else { throw Refusal(reason: "A tunnel cannot be sent again.") }
      guard !takenOut.isMissing(in: recorded.url) else {
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
        guard !takenOut.isMissing(in: body, recorded.headers) else {
          throw Refusal(reason: "Its body held a secret, which was not kept: it cannot be sent again.")
        }
        request.httpBody = body.data
      }
      // What belongs to a connection, or follows from the URL and the body.
      let own: Set<String> = ["host", "content-length", "connection", "transfer-encoding", "accept-encoding", "expect"]
      for field in recorded.headers
      where !own.contains(field.name.lowercased()) && !takenOut.isMissing(in: field.value) {
        request.addValue(field.value, forHTTPHeaderField: field.name)
      }
      return request
    }
  }
#endif
