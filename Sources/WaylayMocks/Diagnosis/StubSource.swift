public import WaylayHAR

extension Stub {
  /// Returns Swift source of a stub that reproduces an exchange of an HTTP archive, ready to paste into a test.
  ///
  /// ```swift
  /// print(Stub.source(for: Redaction.standard.redacted(entry)) ?? "// was not answered")
  /// ```
  ///
  /// The request is written as in reports on unmatched requests: fields and form items with names that indicate a
  /// secret match any value. The response is written unchanged: redact the entry first. A body of more than 64 KiB is
  /// omitted, with a comment that says so.
  ///
  /// - Parameters:
  ///   - entry: The exchange.
  ///   - showsSecrets: Whether to write values of secret names too.
  /// - Returns: `nil` for an exchange without a response, or whose request is not HTTP.
  public static func source(for entry: HAR.Entry, showsSecrets: Bool = false) -> String? {
    guard 200...999 ~= entry.response.status, let facts = RequestFacts(entry.request) else { return nil }
    return Redaction.$hidesNothing.withValue(showsSecrets) {
      let source = SwiftSource.response(entry.response, isHead: facts.method == "HEAD") { Redaction.hides($0) }
      return facts.reporting { StubSource.text(for: facts, response: source) }
    }
  }

  /// The stub of ``source(for:showsSecrets:)`` in JSON.
  package static func json(for entry: HAR.Entry, showsSecrets: Bool = false) -> JSONValue? {
    guard 200...999 ~= entry.response.status, let facts = RequestFacts(entry.request) else { return nil }
    return Redaction.$hidesNothing.withValue(showsSecrets) {
      facts.reporting { try? StubSource.stub(for: facts, entry.response).json() }
    }
  }
}

extension RequestFacts {
  /// The facts of a recorded request; `nil` if it is not HTTP.
  convenience init?(_ recorded: HAR.Request) {
    guard let method = HTTPRequest.Method(recorded.method), let url = URL(string: recorded.url), url.host != nil
    else { return nil }
    var fields = HTTPFields()
    for field in recorded.headers {
      if let name = HTTPField.Name(field.name) { fields.append(HTTPField(name: name, value: field.value)) }
    }
    let body = recorded.body?.data ?? Data()
    let request = InterceptedRequest(method, url, fields: fields, body: body.isEmpty ? .empty : .data(body))
    self.init(request, body: body)
  }
}

/// Swift source of a stub for a request, without secrets.
enum StubSource {
  /// Fields set by the loading system, or that do not identify the request.
  private static let noise: Set<String> = [
    "accept-encoding", "accept-language", "connection", "content-length", "host", "user-agent", "content-type",
    "accept",
  ]

  /// - Parameters:
  ///   - facts: The request.
  ///   - response: The response as Swift source, line by line.
  static func text(for facts: RequestFacts, response: [String] = [".status(200)"]) -> String {
    var lines = SwiftSource.stub(facts.method, swift(pattern(facts.url)), response)
    let fields = facts.request.fields.sorted { $0.name.canonicalName < $1.name.canonicalName }
    var conditions = fields.filter { !noise.contains($0.name.canonicalName) }.map { field in
      let (name, value) = (field.name.rawName, field.value)
      return ".field(\(swift(name))" + (Redaction.field(name, value) == value ? ", \(swift(value)))" : ")")
    }
    if let body = body(facts) { conditions.append(".body(\(body))") }
    switch conditions.count {
    case 0: break
    case 1: lines.append("  .where(\(conditions[0]))")
    default: lines += ["  .where(", "    " + conditions.joined(separator: ",\n    ") + ")"]
    }
    return lines.joined(separator: "\n")
  }

  /// The stub; a value of a secret name matches any.
  static func stub(for facts: RequestFacts, _ response: HAR.Response) -> Stub {
    let type = response.body.mediaType
    var answer = MockResponse.data(response.body.data, type: type.isEmpty ? nil : type, status: response.status)
    for field in response.headers
    where field.name.isToken && !SwiftSource.wire.contains(field.name.lowercased()) && !Redaction.hides(field.name) {
      answer = answer.addingField(field.name, field.value)
    }
    var conditions = facts.request.fields.filter { !noise.contains($0.name.canonicalName) }.map { field in
      let (name, value) = (field.name.rawName, field.value)
      return Redaction.field(name, value) == value ? RequestMatcher.field(name, value) : .field(name)
    }
    if let json = facts.json {
      let shown = Redaction.masked(json, by: nil)
      conditions.append(.body(shown == json ? .json(json) : shown.map { .jsonSubset($0) } ?? .present))
    } else if !facts.body.isEmpty {
      let text = facts.text.flatMap { Redaction.scrubbed($0) == $0 && !facts.statesForm ? $0 : nil }
      conditions.append(.body(text.map { .text($0) } ?? .present))
    }
    let pattern = RequestPattern(.named(facts.method), URLPattern(Self.pattern(facts.url)))
    return Stub(pattern, responses: [answer], at: MockSourceLocation(place: "an archive")).where(conditions)
  }

  /// A URL pattern that matches this URL; values of secrets match anything.
  private static func pattern(_ url: ParsedURL) -> String {
    let path = url.segments.map { segment in
      guard Redaction.scrubbed(segment) == segment else { return "*" }
      let text =
        segment.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed.subtracting(["*", "/", "("])) ?? segment
      return text.hasPrefix(":") ? "%3A" + text.dropFirst() : text
    }
    let query = url.query.map { query in
      "?"
        + query.split(separator: "&", omittingEmptySubsequences: true)
        .compactMap { item -> String? in
          guard let equals = item.firstIndex(of: "=") else { return Redaction.isSecret(item) ? nil : String(item) }
          let name = item[..<equals]
          let value = item[item.index(after: equals)...]
          if Redaction.hides(PercentCoding.decoded(name)) || Redaction.isSecret(value) { return name + "=*" }
          return value == "*" ? name + "=%2A" : String(item)
        }
        .joined(separator: "&")
    }
    let host = url.host.contains(":") && !url.host.hasPrefix("[") ? "[\(url.host)]" : url.host
    let port = url.port == ParsedURL.defaultPort(of: url.scheme) ? "" : ":\(url.port)"
    return "\(url.scheme)://\(host)\(port)/" + path.joined(separator: "/") + (query ?? "")
  }

  private static func body(_ facts: RequestFacts) -> String? {
    guard !facts.body.isEmpty else { return nil }
    guard !facts.isLong else { return ".present" }
    if let json = facts.json {
      guard let shown = Redaction.masked(json, by: nil) else { return ".present" }
      let source = swift(shown)
      guard source.count <= 1000 else { return ".present" }
      // A number too long for a Swift literal is written as JSON text.
      if shown == json, json.hasLongNumber { return ".json(parsing: \(swift(json.description)))" }
      guard !shown.hasLongNumber else { return ".present" }
      return shown == json ? ".json(\(source))" : ".jsonSubset(\(source))"
    }
    if facts.statesForm {
      let items = facts.form.items
      let open = items.filter { item in
        !Redaction.hides(item.name) && item.value.map { Redaction.scrubbed($0) == $0 } ?? false
      }
      let source =
        open.isEmpty ? ":" : open.map { "\(swift($0.name)): \(swift($0.value ?? ""))" }.joined(separator: ", ")
      return ".form([\(source)]" + (open.count == items.count ? ")" : ", exactly: false)")
    }
    if let parts = facts.multipart {
      return ".multipart(" + (parts.isEmpty ? "[:]" : "[\(parts.map(part).joined(separator: ", "))]") + ")"
    }
    guard let text = facts.text, text.utf8.count <= 1000, Redaction.scrubbed(text) == text else { return ".present" }
    return ".text(\(swift(text)))"
  }

  private static func part(_ part: MultipartForm.Part) -> String {
    let isShort = part.filename == nil && part.body.count <= 200 && !Redaction.hides(part.name)
    guard isShort, let text = String(data: part.body, encoding: .utf8), !text.isEmpty, Redaction.scrubbed(text) == text
    else {
      return "\(swift(part.name)): \(part.body.isEmpty ? ".empty" : ".present")"
    }
    return "\(swift(part.name)): .text(\(swift(text)))"
  }

  private static func swift(_ node: JSONValue) -> String {
    switch node.kind {
    case .null: "nil"
    case .string(let text): swift(text)
    case .array(let values): "[" + values.map(swift).joined(separator: ", ") + "]"
    case .object(let members):
      members.isEmpty
        ? "[:]" : "[" + members.map { "\(swift($0.name)): \(swift($0.value))" }.joined(separator: ", ") + "]"
    case .bool, .number: node.description
    }
  }

  private static func swift(_ text: String) -> String { SwiftSource.literal(text) }
}

extension JSONValue {
  /// Whether a number loses digits as a Swift literal.
  fileprivate var hasLongNumber: Bool {
    switch kind {
    case .number: (int.map(JSONValue.init(_:)) ?? double.map(JSONValue.init(_:))) != self
    case .array(let values): values.contains(where: \.hasLongNumber)
    case .object(let members): members.contains(where: \.value.hasLongNumber)
    case .null, .bool, .string: false
    }
  }
}
