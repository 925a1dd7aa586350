import Foundation

extension Inspector.Exchange {
  /// A command for `curl` that sends the request again; see `HAR.Request.curlCommand(isMultiline:)`. Where only the
  /// beginning of its body is known, the first line is a remark that says so.
  ///
  /// - Parameter isMultiline: Whether each option has a line of its own.
  public func curlCommand(isMultiline: Bool = true) -> String {
    Self.remark(request.body, "# ") + request.curlCommand(isMultiline: isMultiline)
  }

  /// A stub for `WaylayMocks` that gives the same answer to such a request, as Swift source; `nil` where nothing was
  /// answered.
  ///
  /// ```swift
  /// print(exchange.swiftStub() ?? "")
  /// // Stub(.get, URL(string: "https://api.example.com/users/7")!) {
  /// //   .json(text: "{\"name\": \"Ada\"}")
  /// // }
  /// ```
  ///
  /// Redacted values of the URL are left open. Where only the beginning of the answer's body is known, or where it has
  /// more than 64 KiB and is left out, a comment says so.
  ///
  /// - Parameter replacement: What stands in place of secrets.
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
