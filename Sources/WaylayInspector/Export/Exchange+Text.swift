import Foundation

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

  /// Without what a terminal would act on.
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
