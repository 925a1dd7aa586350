import Foundation
import TestOrigin

/// The site that is read: a front page with links, and articles.
final class Site: Sendable {
  private let origin: TestOrigin

  init(articles: Int, origin: TestOrigin) {
    self.origin = origin
    let links = (1...max(1, articles)).map { "<a href=\"/articles/\($0)\">Article \($0)</a>" }.joined(separator: "\n")
    origin.reply(to: "/") { _ in Self.page("The front page\n" + links) }
    for number in 1...max(1, articles) {
      let text = "Article \(number)\n" + String(repeating: "A sentence of article \(number). ", count: 200)
      origin.reply(to: "/articles/\(number)") { _ in Self.page(text) }
    }
  }

  private static func page(_ text: String) -> Reply {
    .text(text, fields: [("Cache-Control", "max-age=3600"), ("ETag", "\"\(text.utf8.count)\"")])
  }

  /// Requests that reached the server.
  var requests: Int { origin.requests.count }

  /// The URL of a page while the server runs.
  func address(_ path: String) -> URL { Self.address(path, port: origin.port) }

  /// The URL of a page. The port differs in every run, and the archive's keys leave it out.
  static func address(_ path: String, port: Int = 1) -> URL {
    guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { preconditionFailure("not a path: \(path)") }
    return url
  }

  /// The paths that a page links to.
  static func links(in page: String) -> [String] {
    page.components(separatedBy: "href=\"").dropFirst().compactMap { $0.split(separator: "\"").first.map(String.init) }
  }
}
