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
    let conditions = conditions(facts).map(swift)
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
    let pattern = RequestPattern(.named(facts.method), URLPattern(Self.pattern(facts.url)))
    return Stub(pattern, responses: [answer], at: MockSourceLocation(place: "an archive")).where(
      conditions(facts))
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

  /// The conditions on fields and body.
  private static func conditions(_ facts: RequestFacts) -> [RequestMatcher] {
    let fields = facts.request.fields.sorted { $0.name.canonicalName < $1.name.canonicalName }
    let conditions = fields.filter { !noise.contains($0.name.canonicalName) }.map { field -> RequestMatcher in
      let (name, value) = (field.name.rawName, field.value)
      return Redaction.field(name, value) == value ? .field(name, value) : .field(name)
    }
    return facts.body.isEmpty ? conditions : conditions + [.body(body(facts))]
  }

  private static func body(_ facts: RequestFacts) -> BodyMatcher {
    guard !facts.isLong else { return .present }
    if let json = facts.json {
      guard let shown = Redaction.masked(json, by: nil) else { return .present }
      return shown == json ? .json(json) : .jsonSubset(shown)
    }
    if facts.statesForm {
      let items = facts.form.items
      let open = items.filter { item in
        !Redaction.hides(item.name) && item.value.map { Redaction.scrubbed($0) == $0 } ?? false
      }
      let pattern = QueryPattern(
        open.map { ($0.name, .exactly($0.value ?? "")) }, isExact: open.count == items.count)
      return BodyMatcher(.form(pattern))
    }
    if let parts = facts.multipart { return BodyMatcher(.multipart(PartsPattern(parts.map(part), isExact: true))) }
    return facts.text.flatMap { Redaction.scrubbed($0) == $0 ? .text($0) : nil } ?? .present
  }

  private static func part(_ part: MultipartForm.Part) -> PartPattern {
    let isShort = part.filename == nil && part.body.count <= 200 && !Redaction.hides(part.name)
    guard isShort, let text = String(data: part.body, encoding: .utf8), !text.isEmpty, Redaction.scrubbed(text) == text
    else { return PartPattern(name: part.name, body: part.body.isEmpty ? .empty : .present) }
    return PartPattern(name: part.name, body: .text(text))
  }

  private static func swift(_ condition: RequestMatcher) -> String {
    switch condition.kind {
    case .field(let name, .exactly(let value)): ".field(\(swift(name)), \(swift(value)))"
    case .field(let name, _): ".field(\(swift(name)))"
    case .body(let body): ".body(\(swift(body)))"
    default: "/* \(condition) */"
    }
  }

  /// The source of a condition on a body; of a long one, only that there is a body.
  private static func swift(_ body: BodyMatcher) -> String {
    let source: String
    switch body.kind {
    case .empty: source = ".empty"
    case .text(let text): source = ".text(\(swift(text)))"
    case .json(let comparison):
      let json = comparison.expected
      // A number too long for a Swift literal is written as JSON text.
      if !json.hasLongNumber {
        source = "\(comparison.ignoresExtras ? ".jsonSubset" : ".json")(\(swift(json)))"
      } else {
        source = comparison.ignoresExtras ? ".present" : ".json(parsing: \(swift(json.description)))"
      }
    case .form(let pattern):
      let items = pattern.expectations.flatMap { item in item.values.map { (item.name, $0) } }.map { name, value in
        if case .exactly(let text) = value { "\(swift(name)): \(swift(text ?? ""))" } else { swift(name) }
      }
      source = ".form([\(list(items))]" + (pattern.isExact ? ")" : ", exactly: false)")
    case .multipart(let pattern):
      source = ".multipart([\(list(pattern.parts.map { "\(swift($0.name)): \(swift($0.body))" }))])"
    default: source = ".present"
    }
    return source.count <= 1_000 ? source : ".present"
  }

  /// The elements of a dictionary literal.
  private static func list(_ elements: [String]) -> String {
    elements.isEmpty ? ":" : elements.joined(separator: ", ")
  }

  private static func swift(_ node: JSONValue) -> String {
    switch node.kind {
    case .null: "nil"
    case .string(let text): swift(text)
    case .array(let values): "[" + values.map(swift).joined(separator: ", ") + "]"
    case .object(let members): "[\(list(members.map { "\(swift($0.name)): \(swift($0.value))" }))]"
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
