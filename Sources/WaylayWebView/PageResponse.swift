import Foundation
import WaylayCore

/// Converts a registry's response to the form for a web view.
package enum PageResponse {
  /// The maximum size of a main document, which a web view takes as a whole.
  package static let limit = 64 << 20

  /// The URL to request from the registry: the view's URL, with `https` in place of the custom scheme.
  package static func url(for url: URL, scheme: String) -> URL? {
    guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true), parts.scheme?.lowercased() == scheme,
      let host = parts.host, !host.isEmpty
    else { return nil }
    parts.scheme = "https"
    return parts.url
  }

  /// The head for the view's own URL. It has the response's fields, except those of a content coding that was already
  /// decoded.
  package static func head(_ response: InterceptedResponse, for url: URL) -> HTTPURLResponse? {
    var fields: [String: String] = [:]
    for field in response.fields where ![.contentEncoding, .transferEncoding].contains(field.name) {
      let name = field.name.rawName
      fields[name] = fields[name].map { "\($0), \(field.value)" } ?? field.value
    }
    return HTTPURLResponse(
      url: url, statusCode: response.status.code, httpVersion: "HTTP/1.1", headerFields: fields)
  }
}
