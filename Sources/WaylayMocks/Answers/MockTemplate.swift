import Foundation

/// A text with placeholders for parts of a request.
struct MockTemplate: Sendable {
  private enum Piece: Sendable {
    case text(String)
    case placeholder(Placeholder)
  }

  private struct Placeholder: Sendable {
    let written: String
    let source: Source
    let fallback: String?
  }

  private enum Source: Sendable {
    case method, url, host, path, call, body
    case parameter(String)
    case query(String)
    case header(String)
    case json(JSONPath)
  }

  private let pieces: [Piece]
  /// Whether texts are escaped as they stand in JSON strings.
  private let isJSON: Bool

  init(_ text: String, isJSON: Bool) throws(MockError) {
    self.isJSON = isJSON
    var pieces: [Piece] = []
    var literal = ""
    var rest = text[...]
    while let start = rest.range(of: "{{") {
      let before = rest[..<start.lowerBound]
      if before.hasSuffix("\\") {
        literal += before.dropLast() + "{{"
        rest = rest[start.upperBound...]
        continue
      }
      guard let end = rest[start.upperBound...].range(of: "}}") else {
        throw Self.invalid(
          "the placeholder that begins \"\(rest[start.lowerBound...].prefix(20))\" is not closed with }}")
      }
      pieces += [.text(literal + before), .placeholder(try Self.placeholder(rest[start.upperBound..<end.lowerBound]))]
      literal = ""
      rest = rest[end.upperBound...]
    }
    self.pieces = pieces + [.text(literal + rest)]
  }

  /// Whether it looks at the request's body.
  var needsBody: Bool {
    pieces.contains { piece in
      guard case .placeholder(let placeholder) = piece else { return false }
      switch placeholder.source {
      case .body, .json: return true
      default: return false
      }
    }
  }

  private static func invalid(_ reason: String) -> MockError {
    let known =
      "{{method}}, {{url}}, {{host}}, {{path}}, {{path.NAME}}, {{query.NAME}}, {{header.NAME}}, {{body}}, "
      + "{{body.JSON.PATH}}"
    return MockError(
      .invalidTemplate,
      "\(reason). Use \(known) or {{call}}, each with an optional default, as in {{query.page|1}}; write \\{{ for {{.")
  }

  private static func placeholder(_ text: Substring) throws(MockError) -> Placeholder {
    let parts = text.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
    let name = (parts.first ?? "").trimmed
    let end = name.firstIndex { $0 == "." || $0 == "[" } ?? name.endIndex
    let (root, tail) = (name[..<end], name[end...])
    let detail = String(tail.dropFirst())
    let source: Source? =
      switch root {
      case "method" where tail.isEmpty: .method
      case "url" where tail.isEmpty: .url
      case "host" where tail.isEmpty: .host
      case "path": tail.isEmpty ? .path : tail.first == "." && !detail.isEmpty ? .parameter(detail) : nil
      case "query" where tail.first == "." && !detail.isEmpty: .query(detail)
      case "header" where tail.first == "." && !detail.isEmpty: .header(detail)
      case "call" where tail.isEmpty: .call
      case "body": tail.isEmpty ? .body : .json(try JSONPath("$" + tail))
      default: nil
      }
    guard let source else { throw invalid("{{\(name)}} is not a placeholder") }
    return Placeholder(
      written: String(name), source: source, fallback: parts.count > 1 ? String(parts[1].trimmed) : nil)
  }

  /// The text with the request's values in it.
  func filled(from request: MockRequest) throws -> String {
    var result = ""
    var json: JSONNode?
    for piece in pieces {
      switch piece {
      case .text(let text): result += text
      case .placeholder(let placeholder): result += try value(of: placeholder, in: request, &json)
      }
    }
    return result
  }

  private func value(of placeholder: Placeholder, in request: MockRequest, _ json: inout JSONNode?) throws -> String {
    if case .json(let path) = placeholder.source, let value = try Self.value(at: path, of: request, &json),
      value.string == nil
    {
      return value.text
    }
    if let text = try text(of: placeholder.source, in: request, &json) ?? placeholder.fallback {
      return isJSON ? JSONNode.escaped(text) : text
    }
    throw MockError(
      .invalidTemplate,
      "the request has no value for {{\(placeholder.written)}}\(hint(placeholder, request)): give the placeholder a "
        + "default, as in {{\(placeholder.written)|none}}."
    )
  }

  private func text(of source: Source, in request: MockRequest, _ json: inout JSONNode?) throws -> String? {
    let url = request.url
    return switch source {
    case .method: request.method
    case .url: url.absoluteString
    case .host: url.host
    case .path: url.path(percentEncoded: true).isEmpty ? "/" : url.path(percentEncoded: true)
    case .call: String(request.call)
    case .parameter(let name): request.parameters[name]
    case .query(let name): Self.query(name, of: url)
    case .header(let name): request.request.headerValue(name)
    case .body: String(decoding: request.body, as: UTF8.self)
    case .json(let path): try Self.value(at: path, of: request, &json)?.string
    }
  }

  private func hint(_ placeholder: Placeholder, _ request: MockRequest) -> String {
    guard case .parameter = placeholder.source else { return "" }
    let names = request.parameters.keys.sorted().joined(separator: ", ")
    return names.isEmpty ? "; the stub's URL pattern has no names" : "; the stub's URL pattern has \(names)"
  }

  private static func query(_ name: String, of url: URL) -> String? {
    QueryItems(url.query(percentEncoded: true) ?? "").items.first { $0.name == name }.map { $0.value ?? "" }
  }

  private static func value(at path: JSONPath, of request: MockRequest, _ json: inout JSONNode?) throws -> JSONNode? {
    do {
      let root = try json ?? JSONNode(parsing: request.body)
      json = root
      return path.values(in: root).first
    } catch {
      throw MockError(
        .invalidTemplate, "a template reads a value from the request's body, which is not JSON: \(error.redacted)",
        underlying: error)
    }
  }
}
