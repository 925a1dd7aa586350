import Foundation

extension Inspector.Exchange {
  /// Returns a `curl` command that sends the request again; see `HAR.Request.curlCommand(isMultiline:)`. If only the
  /// beginning of the body is known, the first line is a comment with that warning.
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
  /// // Stub(.get, URL(string: "https://api.example.com/users/7")!, .json(text: "{\"name\": \"Ada\"}"))
  /// ```
  ///
  /// Redacted values in the URL match any value. If only the beginning of the response's body is known, or if it has
  /// more than 64 KiB and is omitted, a comment says so.
  ///
  /// - Parameter replacement: The text that replaces secrets.
  public func swiftStub(replacement: String = Redaction.standard.replacement) -> String? {
    guard let response else { return nil }
    let source = SwiftSource.response(response, isHead: request.method == "HEAD")
    return SwiftSource.stub(request.method, Self.url(request.url, replacement), source).joined(separator: "\n")
  }

  private static func remark(_ body: HAR.Body?, _ mark: String) -> String {
    guard let body, body.isTruncated else { return "" }
    return "\(mark)Only the first \(body.data.count) of \(body.size) bytes of the body are known.\n"
  }

  /// The URL verbatim; as a pattern if a part of it was redacted.
  private static func url(_ url: String, _ replacement: String) -> String {
    guard !replacement.isEmpty, url.contains(replacement) else { return "URL(string: \(SwiftSource.literal(url)))!" }
    // Characters with a meaning in patterns are percent-encoded.
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

extension Inspector.Exchange {
  /// Returns the exchange as human-readable text: both heads, both bodies if they are text, times and errors.
  public func text() -> String {
    var lines = ["\(self)"]
    if let comment = entry.comment { lines.append("  \(comment)") }
    for attempt in attempts {
      let result = attempt.status.map { "\($0)" } ?? attempt.failure.map { "\($0)" } ?? "open"
      let time = attempt.time.map { ", \(Self.rounded($0)) ms" } ?? ""
      lines.append("  to \(attempt.address ?? "an unknown address"): \(result)\(time)")
    }
    lines.append("> \(request.method) \(request.url) \(request.httpVersion)")
    lines += Self.message(request.headers, request.body, "> ")
    if let response {
      lines.append("< \(response.httpVersion) \(response.status) \(response.statusText)")
      lines += Self.message(response.headers, response.body, "< ")
    }
    return lines.map { Self.plain($0) }.joined(separator: "\n") + "\n"
  }

  private static func message(_ fields: [HAR.Field], _ body: HAR.Body?, _ mark: String) -> [String] {
    var lines = fields.map { "\(mark)\($0.name): \($0.value)" }
    guard let body, body.size > 0 else { return lines }
    lines.append(String(mark.prefix(1)))
    if let text = body.text {
      lines += text.split(separator: "\n", omittingEmptySubsequences: false).map { mark + $0 }
    } else {
      lines.append("\(mark)\(body.data.count) bytes that are not text")
    }
    if body.isTruncated { lines.append("\(mark)… the first \(body.data.count) of \(body.size) bytes") }
    return lines
  }

  private static func rounded(_ time: Double) -> Double { (time * 10).rounded() / 10 }

  /// The line without terminal control characters.
  private static func plain(_ line: String) -> String {
    guard line.unicodeScalars.contains(where: isControl) else { return line }
    var result = ""
    for scalar in line.unicodeScalars {
      if isControl(scalar) {
        result += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control: scalar != "\t"
    case .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}
