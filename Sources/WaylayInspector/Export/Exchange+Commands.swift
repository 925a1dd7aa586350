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
  /// //   .data(Data("{\"name\": \"Ada\"}".utf8), type: "application/json")
  /// // }
  /// ```
  ///
  /// Redacted values of the URL are left open. Where only the beginning of the answer's body is known, the first line
  /// is a remark that says so.
  ///
  /// - Parameter replacement: What stands in place of secrets.
  public func swiftStub(replacement: String = Redaction.standard.replacement) -> String? {
    guard let response else { return nil }
    let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"]
    let method =
      known.contains(request.method) ? ".\(request.method.lowercased())" : ".named(\(Self.literal(request.method)))"
    let type =
      response.headers.first { $0.name.lowercased() == "content-type" }.map { ", type: \(Self.literal($0.value))" }
      ?? ""
    let status = response.status == 200 ? "" : ", status: \(response.status)"
    var lines = ["Stub(\(method), \(Self.url(request.url, replacement))) {"]
    if response.body.data.isEmpty, type.isEmpty {
      lines.append("  .status(\(response.status))")
    } else {
      let base64 = "Data(base64Encoded: \"\(response.body.data.base64EncodedString())\")!"
      let data = response.body.text.map { "Data(\(Self.literal($0)).utf8)" } ?? base64
      lines.append("  .data(\(data)\(type)\(status))")
    }
    for field in response.headers where !Self.noise.contains(field.name.lowercased()) {
      lines.append("    .addingHeader(\(Self.literal(field.name)), \(Self.literal(field.value)))")
    }
    lines.append("}")
    return Self.remark(response.body, "// ") + lines.joined(separator: "\n")
  }

  private static func remark(_ body: HAR.Body?, _ mark: String) -> String {
    guard let body, body.isTruncated else { return "" }
    return "\(mark)Only the first \(body.data.count) of \(body.size) bytes of the body are known.\n"
  }

  /// Fields that say how an answer came over the wire, or when; the type is said with the body.
  private static let noise: Set<String> = [
    "age", "alt-svc", "connection", "content-encoding", "content-length", "content-type", "date", "keep-alive",
    "transfer-encoding",
  ]

  /// The URL as it is; as a pattern, where a part of it was a secret.
  private static func url(_ url: String, _ replacement: String) -> String {
    guard !replacement.isEmpty, url.contains(replacement) else { return "URL(string: \(literal(url)))!" }
    // What has a meaning in patterns is written with percent signs.
    let start =
      url.range(of: "://").map { url[$0.upperBound...].firstIndex { "/?".contains($0) } ?? url.endIndex }
      ?? url.startIndex
    var path = String(url[start...])
    for (character, escaped) in [("*", "%2A"), ("(", "%28"), ("/:", "/%3A")] {
      path = path.replacing(character, with: escaped)
    }
    return literal((url[..<start] + path).replacing(replacement, with: "*"))
  }

  /// A text as a literal of Swift.
  static func literal(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default:
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: result += "\\u{\(String(scalar.value, radix: 16))}"
        default: result.unicodeScalars.append(scalar)
        }
      }
    }
    return result + "\""
  }
}
