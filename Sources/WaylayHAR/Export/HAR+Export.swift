extension HAR.Request {
  /// Returns a `curl` command that sends this request again, byte for byte as far as `curl` can, and safe to paste into
  /// any POSIX shell, such as `bash`, `dash` or `zsh`.
  ///
  /// ```swift
  /// print(Redaction.standard.redacted(entry).request.curlCommand())
  /// ```
  ///
  /// The shell never executes any part of the request: every word is quoted, and control characters that a terminal
  /// would interpret are escaped. `curl` adds no field that the request does not have. A body that is not text, or that
  /// begins with `@`, which `curl` takes for a file, comes through a pipe.
  ///
  /// Redact the request first: commands are meant to be shared.
  ///
  /// - Parameter isMultiline: Whether to write each option on its own line.
  public func curlCommand(isMultiline: Bool = true) -> String {
    // Disable URL globbing, keep dot segments, and pass the URL as an option value in case it begins with a dash.
    var words = ["curl", "--globoff", "--path-as-is", "--url " + Shell.quoted(url)]
    switch method {
    case "HEAD": words.append("--head")
    case "GET" where body == nil: break
    default: words.append("--request " + Shell.quoted(method))
    }
    if httpVersion.lowercased().hasPrefix("http/1.0") { words.append("--http1.0") }
    let names = Set(headers.map { $0.name.lowercased() })
    for field in headers where !isLeftOut(field) {
      // A semicolon sends a field without a value; a colon would remove the field.
      let text = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
      words.append("--header " + Shell.quoted(text))
    }
    // Fields that curl would add by itself.
    for name in ["User-Agent", "Accept"] where !names.contains(name.lowercased()) {
      words.append("--header '\(name):'")
    }
    guard let body else { return join(words, isMultiline) }
    for name in ["Content-Type", "Expect"] where !names.contains(name.lowercased()) {
      words.append("--header '\(name):'")
    }
    if let text = body.text, text.unicodeScalars.first != "@" {
      words.append("--data-binary " + Shell.quoted(text))
      return join(words, isMultiline)
    }
    words.append("--data-binary @-")
    return "printf '%b' \(Shell.octal(body.data)) | " + join(words, isMultiline)
  }

  /// Whether `curl` sets the field itself with the same value, or would read its name as a file name (`@`).
  private func isLeftOut(_ field: HAR.Field) -> Bool {
    guard field.name.unicodeScalars.first != "@", !field.name.isEmpty else { return true }
    return switch field.name.lowercased() {
    case "content-length": true
    case "host": field.value.lowercased() == authority?.lowercased()
    default: field.name.hasPrefix(":")
    }
  }

  /// The host of the URL with its port.
  private var authority: String? {
    guard let start = url.range(of: "://")?.upperBound else { return nil }
    let authority = url[start...].prefix { !"/?#".contains($0) }
    return authority.split(separator: "@").last.map(String.init)
  }

  private func join(_ words: [String], _ isMultiline: Bool) -> String {
    words.joined(separator: isMultiline ? " \\\n  " : " ")
  }
}

/// Quoting of shell words.
enum Shell {
  /// A word in single quotes, which disable every expansion. `printf` makes the control characters, because not every
  /// shell supports `$'…'`.
  static func quoted(_ text: String) -> String {
    var (word, octal) = ("'", "")
    func made() -> String { octal.isEmpty ? "" : "'\"$(printf '\(octal)')\"'" }
    for scalar in text.unicodeScalars {
      // Command substitution strips trailing line breaks. In single quotes they are harmless.
      if scalar != "\n", scalar.isControl {
        // Three octal digits per UTF-8 byte, so that a following digit is not read as part of the escape.
        for byte in String(scalar).utf8 { octal += "\\" + digits(byte) }
        continue
      }
      word += made()
      octal = ""
      // Iterate over scalars: a quote with a combining mark is a different character, but still ends the word.
      if scalar == "'" { word += "'\\''" } else { word.unicodeScalars.append(scalar) }
    }
    return word + made() + "'"
  }

  /// Encodes bytes for the format `%b` of `printf`.
  static func octal(_ data: Data) -> String { "'" + data.map { "\\0" + digits($0) }.joined() + "'" }

  private static func digits(_ byte: UInt8) -> String { String(String(0o1000 + Int(byte), radix: 8).dropFirst()) }
}

extension Unicode.Scalar {
  /// Whether a terminal or an editor may interpret or hide the character.
  fileprivate var isControl: Bool {
    [.control, .format, .lineSeparator, .paragraphSeparator].contains(properties.generalCategory)
  }
}

/// Swift source of stubs, for pasting into tests.
package enum SwiftSource {
  /// The maximum size of a body in source.
  package static let bodyLimit = 64 << 10

  /// Fields about the transfer, or derived from the body.
  package static let wire: Set<String> = [
    "age", "alt-svc", "connection", "content-encoding", "content-length", "content-type", "date", "keep-alive",
    "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "via",
  ]

  /// A string literal. Invisible characters and characters that change the text direction are escaped.
  package static func literal(_ text: String) -> String {
    var result = "\""
    // Iterate over scalars: a quote with a combining mark is a different character, but still ends the literal.
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case "\0": result += "\\0"
      case _ where scalar.isControl: result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// A method as an argument of `Stub`.
  package static func method(_ method: String) -> String {
    let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"]
    return known.contains(method) ? "." + method.lowercased() : ".named(\(literal(method)))"
  }

  /// Swift source of a `MockResponse`, line by line.
  ///
  /// - Parameters:
  ///   - response: The response to write.
  ///   - isHead: Whether the request's method is `HEAD`: then the body is omitted.
  ///   - hides: Whether to omit a field of the given name.
  package static func response(
    _ response: HAR.Response, isHead: Bool, hides: (String) -> Bool = { _ in false }
  ) -> [String] {
    let type = response.headers.first { $0.name.lowercased() == "content-type" }?.value ?? response.body.mediaType
    var lines = body(response, type: type, isHead: isHead)
    for field in response.headers where !wire.contains(field.name.lowercased()) && field.name.isToken {
      guard !hides(field.name) else { continue }
      // Some programs write several cookies into one field, separated by line breaks.
      for value in field.value.split(whereSeparator: \.isNewline) {
        lines.append("  .addingField(\(literal(field.name)), \(literal(String(value))))")
      }
    }
    return lines
  }

  /// Swift source of a stub, line by line.
  ///
  /// - Parameters:
  ///   - url: The URL as Swift source.
  ///   - response: The response as Swift source, line by line.
  package static func stub(_ method: String, _ url: String, _ response: [String]) -> [String] {
    if response.count == 1 { return ["Stub(\(self.method(method)), \(url), \(response[0]))"] }
    var lines = ["Stub(", "  \(self.method(method)), \(url),"] + response.map { "  " + $0 }
    lines[lines.count - 1] += ")"
    return lines
  }

  private static func body(_ response: HAR.Response, type: String, isHead: Bool) -> [String] {
    let (data, status) = (response.body.data, response.status)
    let plain = [".status(\(status))"] + (type.isEmpty ? [] : ["  .field(\"Content-Type\", \(literal(type)))"])
    guard !data.isEmpty else {
      let isLeftOut = response.body.isTruncated && !isHead
      return (isLeftOut ? ["// The body of \(response.body.size) bytes is not in the archive."] : []) + plain
    }
    guard data.count <= bodyLimit else {
      return ["// The body of \(data.count) bytes is left out: put it into a file."] + plain
    }
    let cut = response.body.isTruncated ? ["// The first \(data.count) of \(response.body.size) bytes."] : []
    let end = status == 200 ? ")" : ", status: \(status))"
    let name = type.isEmpty ? "" : ", type: \(literal(type))"
    guard let text = String(data: data, encoding: .utf8) else {
      return cut + [".data(Data(base64Encoded: \(literal(data.base64EncodedString()))) ?? Data()\(name)\(end)"]
    }
    if type.lowercased().hasPrefix("application/json"), (try? JSONValue(reading: data)) != nil {
      let other = type.lowercased() == "application/json" ? [] : ["  .field(\"Content-Type\", \(literal(type)))"]
      return cut + [".json(text: \(literal(text))\(end)"] + other
    }
    return cut + [".data(Data(\(literal(text)).utf8)\(name)\(end)"]
  }
}
