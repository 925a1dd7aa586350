import Foundation

/// Traffic as Swift source, for stubs that are pasted into tests.
package enum SwiftSource {
  /// The most bytes of a body that are written.
  package static let bodyLimit = 64 << 10

  /// Fields that say how an answer came over the wire, or when, or that are made of the body.
  private static let wire: Set<String> = [
    "age", "alt-svc", "connection", "content-encoding", "content-length", "content-type", "date", "keep-alive",
    "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "via",
  ]

  /// A text as a literal. What is not seen, or turns the direction of what follows, is escaped.
  package static func literal(_ text: String) -> String {
    var result = "\""
    // Scalar by scalar: a quote that a combining mark follows is another character, and a quote all the same.
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case "\0": result += "\\0"
      default:
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: result += "\\u{\(String(scalar.value, radix: 16))}"
        default: result.unicodeScalars.append(scalar)
        }
      }
    }
    return result + "\""
  }

  /// A method, as `Stub` takes it.
  package static func method(_ method: String) -> String {
    let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"]
    return known.contains(method) ? "." + method.lowercased() : ".named(\(literal(method)))"
  }

  /// An answer as a `MockResponse`, line by line.
  ///
  /// - Parameters:
  ///   - response: The answer, as it is to be written.
  ///   - isHead: Whether it answers a `HEAD`, and so has no body whatever it says.
  ///   - hides: Whether a field of that name is left out.
  package static func answer(
    _ response: HAR.Response, isHead: Bool, hides: (String) -> Bool = { _ in false }
  ) -> [String] {
    let type = response.headers.first { $0.name.lowercased() == "content-type" }?.value ?? response.body.mediaType
    var lines = body(response, type: type, isHead: isHead)
    for field in response.headers where !wire.contains(field.name.lowercased()) && isToken(field.name) {
      guard !hides(field.name) else { continue }
      // Some programs put several cookies into one field, line by line.
      for value in field.value.split(whereSeparator: \.isNewline) {
        lines.append("  .addingHeader(\(literal(field.name)), \(literal(String(value))))")
      }
    }
    return lines
  }

  private static func body(_ response: HAR.Response, type: String, isHead: Bool) -> [String] {
    let (data, status) = (response.body.data, response.status)
    let plain = [".status(\(status))"] + (type.isEmpty ? [] : ["  .header(\"Content-Type\", \(literal(type)))"])
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
    if type.lowercased().hasPrefix("application/json"), (try? JSONValue(data)) != nil {
      let other = type.lowercased() == "application/json" ? [] : ["  .header(\"Content-Type\", \(literal(type)))"]
      return cut + [".json(text: \(literal(text))\(end)"] + other
    }
    return cut + [".data(Data(\(literal(text)).utf8)\(name)\(end)"]
  }

  /// Whether a name is one of a field (RFC 9110, section 5.6.2).
  private static func isToken(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "a")...UInt8(ascii: "z"):
          true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }
}
