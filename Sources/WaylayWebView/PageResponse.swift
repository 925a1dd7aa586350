import Foundation
import WaylayCore

/// What a registry answers for a web view, as a web view takes it.
package enum PageResponse {
  /// The most that is kept of a main document, which a web view takes whole.
  package static let limit = 64 << 20

  /// The URL that a registry is asked for: that of a scheme of one's own, with `https` in its place.
  package static func url(for url: URL, scheme: String) -> URL? {
    guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true), parts.scheme?.lowercased() == scheme,
      let host = parts.host, !host.isEmpty
    else { return nil }
    parts.scheme = "https"
    return parts.url
  }

  /// The head for the view's own URL. Its fields are the response's, without those of a coding that is undone already.
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
