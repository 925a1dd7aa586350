import Foundation
import HTTPTypes

/// Checks that a transport performs before it writes a request.
extension InterceptedRequest {
  /// Rejects a method or fields that would break out of their line, or would make the server see another end of the
  /// message than the transport: the rest would be parsed as another request (request smuggling; RFC 9112, section
  /// 11.2).
  ///
  /// - Throws: `WaylayError.invalidRequest` and `WaylayError.limitExceeded`, before any byte is sent.
  package func checkFraming(_ limits: MessageLimits) throws(WaylayError) {
    switch parts.defect {
    case .withoutURL: throw refusal("the request has no URL")
    case .method: throw refusal("the method of the request is not a token: use letters only")
    case .fieldName(let name): throw refusal("the name of a header field is not a token: \(Self.legible(name))")
    case .lineBreak(let name):
      throw refusal("the header field \(name) contains a line break, or NUL: take it out, and encode what must keep it")
    case .tooManyFields: throw excess(.fieldCount, limits)
    case nil: break
    }
    // libcurl would use the beginning of the path as the host.
    if url.host?.isEmpty ?? true, URL.defaultPort(of: url.scheme?.lowercased()) != nil {
      throw refusal("the URL has no host: write it as in https://api.example.com/")
    }
    guard fields.count <= limits.fieldCount else { throw excess(.fieldCount, limits) }
    var bytes = 0
    var framing: Set<String> = []
    for field in fields {
      // The field's colon, space and line end.
      bytes += field.name.rawName.utf8.count + field.value.utf8.count + 4
      guard bytes <= limits.fieldBytes else { throw excess(.fieldBytes, limits) }
      guard let kind = Self.framing[field.name.canonicalName] else { continue }
      guard framing.insert(field.name.canonicalName).inserted else {
        throw refusal("the header field \(field.name.rawName) appears twice")
      }
      if let reason = kind.objection(field.value) { throw refusal("the header field \(field.name.rawName) \(reason)") }
    }
  }

  /// Rejects a route that was made for another host or port than the current URL's.
  ///
  /// - Throws: `WaylayError.routeMismatch`, with both hosts.
  func checkRoute() throws(WaylayError) {
    guard let route, let owner = route.owner, owner != Route.Owner(url) else { return }
    throw WaylayError(
      .routeMismatch,
      "the request is for \(Route.Owner(url)), but its route to \(route.address) was made for \(owner): put the "
        + "interceptor that changes the host before the one that sets the route, or let it set the route to nil or to one of "
        + "the new host.",
      url: url, requestID: id)
  }

  /// A field that affects message framing, or applies to one connection.
  private enum Framing {
    case never(String)
    case connection, trailersOnly, host, length, coding

    /// Why a value is not allowed; `nil` if it is.
    func objection(_ value: String) -> String? {
      let tokens = value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
      switch self {
      case .never(let reason): return reason
      case .connection:
        let known: Set<String> = ["close", "keep-alive", "te", ""]
        return tokens.allSatisfy(known.contains) ? nil : "may only contain close, keep-alive and TE: leave it out"
      case .trailersOnly:
        return tokens.allSatisfy { $0 == "trailers" } ? nil : "may only contain trailers: leave it out"
      case .host:
        let isHost = !value.isEmpty && value.utf8.allSatisfy { $0.isToken || "[]:".utf8.contains($0) }
        return isHost ? nil : "is not a host with an optional port"
      case .length: return nil
      case .coding:
        return tokens == ["chunked"]
          ? nil : "is set by the transport: leave it out; a body of unknown length is sent in chunks anyway"
      }
    }
  }

  private static let framing: [String: Framing] = [
    "transfer-encoding": .coding,
    "upgrade": .never("asks to switch protocols, which no transport supports: leave it out"),
    "trailer": .never("announces trailer fields, which no transport sends: leave it out"),
    "connection": .connection, "te": .trailersOnly, "host": .host, "content-length": .length,
  ]

  private func refusal(_ reason: String) -> WaylayError {
    WaylayError(.invalidRequest, "\(reason).", url: url, requestID: id)
  }

  private func excess(_ limit: MessageLimits.Limit, _ limits: MessageLimits) -> WaylayError {
    WaylayError(.limitExceeded, limits.text(limit, of: "the head of the request"), url: url, requestID: id)
  }

  /// The leading token characters of a name; the rest may be arbitrary bytes.
  private static func legible(_ name: String) -> String {
    "\"\(String(decoding: name.utf8.prefix(while: \.isToken).prefix(64), as: UTF8.self))…\""
  }
}
