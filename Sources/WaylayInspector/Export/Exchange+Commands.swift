import Foundation

extension Inspector.Exchange {
  /// Returns a `curl` command that sends the request again; see `HAR.Request.curlCommand(isMultiline:)`. If only the
  /// beginning of the body is known, the first line is a comment that says so.
  ///
  /// - Parameter isMultiline: Whether to write each option on its own line.
  public func curlCommand(isMultiline: Bool = true) -> String {
    Self.remark(request.body, "# ") + request.curlCommand(isMultiline: isMultiline)
  }

  /// Returns Swift source of a `WaylayMocks` stub that gives the same response to such a request; `nil` if there was no
  /// response.
  ///
  /// ```swift
  /// print(exchange.swiftStub() ?? "")
  /// // Stub(.get, URL(string: "https://api.example.com/users/7")!) {
  /// //   .json(text: "{\"name\": \"Ada\"}")
  /// // }
  /// ```
  ///
  /// Redacted values in the URL match any value. If only the beginning of the response's body is known, or if it has
  /// more than 64 KiB and is omitted, a comment says so.
  ///
  /// - Parameter replacement: The text that replaces secrets.
  public func swiftStub(replacement: String = Redaction.standard.replacement) -> String? {
    guard let response else { return nil }
    let answer = SwiftSource.answer(response, isHead: request.method == "HEAD").map { "  " + $0 }
    let head = "Stub(\(SwiftSource.method(request.method)), \(Self.url(request.url, replacement))) {"
    return ([head] + answer + ["}"]).joined(separator: "\n")
  }

  private static func remark(_ body: HAR.Body?, _ mark: String) -> String {
    guard let body, body.isTruncated else { return "" }
    return "\(mark)Only the first \(body.data.count) of \(body.size) bytes of the body are known.\n"
  }

  /// The URL as it is; as a pattern, where a part of it was a secret.
  private static func url(_ url: String, _ replacement: String) -> String {
    guard !replacement.isEmpty, url.contains(replacement) else { return "URL(string: \(SwiftSource.literal(url)))!" }
    // What has a meaning in patterns is written with percent signs.
    let start =
      url.range(of: "://").map { url[$0.upperBound...].firstIndex { "/?".contains($0) } ?? url.endIndex }
      ?? url.startIndex
    var path = String(url[start...])
    for (character, escaped) in [("*", "%2A"), ("(", "%28"), ("/:", "/%3A")] {
      path = path.replacing(character, with: escaped)
    }
    return SwiftSource.literal((url[..<start] + path).replacing(replacement, with: "*"))
  }
}
