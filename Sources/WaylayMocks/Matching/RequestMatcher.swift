/// A condition on a request, which can be combined with further conditions.
///
/// ```swift
/// let beta: RequestMatcher = .field("X-Beta") && (.query("page") || !.body(.empty))
/// Stub(.get, "/search", .json([])).where(beta)
/// ```
///
/// For custom code, use ``predicate(_:_:)``: it runs only for requests that match everything else of the stub.
public struct RequestMatcher: Sendable {
  indirect enum Kind: Sendable {
    case method(String)
    case url(URLPattern)
    case query(QueryPattern)
    case field(String, FieldValue)
    case body(BodyMatcher)
    case graphQL(String)
    case predicate(String, @Sendable (MockRequest) -> Bool)
    case and([RequestMatcher])
    case or([RequestMatcher])
    case not(RequestMatcher)
  }

  enum FieldValue: Sendable {
    case any
    case exactly(String)
    case regex(TextRegex)
  }

  let kind: Kind

  /// Requests with that method.
  public static func method(_ method: HTTPRequest.Method) -> RequestMatcher {
    RequestMatcher(kind: .method(method.rawValue.uppercased()))
  }

  /// Requests for that URL.
  public static func url(_ url: some URLPatternConvertible) -> RequestMatcher {
    RequestMatcher(kind: .url(url.urlPattern))
  }

  /// Requests with that query item; further items are allowed. `nil` is an item without `=`.
  public static func query(_ name: String, _ value: String?) -> RequestMatcher {
    RequestMatcher(kind: .query(QueryPattern([(name, .exactly(value))], isExact: false)))
  }

  /// Requests with a query item of that name.
  public static func query(_ name: String) -> RequestMatcher {
    RequestMatcher(kind: .query(QueryPattern([(name, .any)], isExact: false)))
  }

  /// Requests with these query items in any order; the values of a repeated name in the given order.
  public static func query(_ items: KeyValuePairs<String, String?>, exactly: Bool = false) -> RequestMatcher {
    RequestMatcher(kind: .query(QueryPattern(items.map { ($0.key, .exactly($0.value)) }, isExact: exactly)))
  }

  /// Requests with that header field. The name is case-insensitive, the value case-sensitive.
  public static func field(_ name: String, _ value: String) -> RequestMatcher {
    RequestMatcher(kind: .field(name, .exactly(value)))
  }

  /// Requests with a header field of that name.
  public static func field(_ name: String) -> RequestMatcher { RequestMatcher(kind: .field(name, .any)) }

  /// Requests with a header field in whose value the regular expression (ICU syntax) finds a match.
  public static func field(_ name: String, regex pattern: String) -> RequestMatcher {
    RequestMatcher(kind: .field(name, .regex(TextRegex(pattern))))
  }

  /// Requests with that body.
  public static func body(_ body: BodyMatcher) -> RequestMatcher { RequestMatcher(kind: .body(body)) }

  /// Requests of that GraphQL operation: by `operationName`, in a JSON body or in the query, or else by the name in the
  /// document. A batch is a request of each of its operations. The document may also be the body (`application/graphql`),
  /// and the JSON the part `operations` of a multipart form, as in uploads.
  ///
  /// ```swift
  /// Stub(.post, "/graphql", .json(["data": ["orders": []]])).where(.graphQL("Orders"))
  /// ```
  public static func graphQL(_ operation: String) -> RequestMatcher { RequestMatcher(kind: .graphQL(operation)) }

  /// Requests that the closure accepts. It may run on any thread, and for requests that another stub finally answers.
  ///
  /// - Parameters:
  ///   - name: The condition's name in reports, such as "an even page".
  ///   - predicate: Returns whether it accepts a request.
  public static func predicate(_ name: String, _ predicate: @escaping @Sendable (MockRequest) -> Bool) -> RequestMatcher
  {
    RequestMatcher(kind: .predicate(name, predicate))
  }

  /// Requests that satisfy both conditions.
  public static func && (one: RequestMatcher, other: RequestMatcher) -> RequestMatcher {
    RequestMatcher(kind: .and([one, other]))
  }

  /// Requests that satisfy at least one of the two conditions.
  public static func || (one: RequestMatcher, other: RequestMatcher) -> RequestMatcher {
    RequestMatcher(kind: .or([one, other]))
  }

  /// Requests that do not satisfy the condition.
  public static prefix func ! (matcher: RequestMatcher) -> RequestMatcher { RequestMatcher(kind: .not(matcher)) }
}

extension RequestMatcher {
  func compare(_ facts: RequestFacts, _ parameters: [String: String], _ result: inout Comparison) {
    switch kind {
    case .method(let method):
      result.check(method == facts.method, Mismatch("method", expected: method, actual: facts.method, distance: 1))
    case .url(let pattern):
      var ignored: [String: String] = [:]
      pattern.compare(facts.url, &ignored, &result)
      if !result.isDone { pattern.query?.compare(facts.query, "query", &result) }
    case .query(let pattern): pattern.compare(facts.query, "query", &result)
    case .field(let name, let value):
      result.check(
        value.accepts(facts.field(name)),
        Mismatch(
          "header \(name)", expected: value.shown(of: name),
          actual: facts.field(name).map { Redaction.field(name, $0) } ?? "no such field", distance: 0.3))
    case .body(let body): body.compare(facts, &result)
    case .graphQL(let name):
      if result.leavesOut(self, facts, .graphQL) { return }
      let names = facts.graphQL.compactMap { $0?.name }
      result.check(
        names.contains(name),
        Mismatch(
          "GraphQL operation", expected: name,
          actual: names.isEmpty ? "none" : Redaction.scrubbed(names.joined(separator: ", ")), distance: 0.4))
    case .predicate(_, let predicate):
      // A report does not run it.
      guard !result.explains else { return }
      result.check(predicate(MockRequest(facts.request, body: facts.body, parameters: parameters)), .unshown)
    case .and(let matchers):
      for matcher in Self.closuresLast(matchers) where !result.isDone { matcher.compare(facts, parameters, &result) }
    case .or(let matchers):
      var nearest: Comparison?
      for matcher in Self.closuresLast(matchers) {
        let one = matcher.comparison(with: facts, parameters, explains: result.explains)
        guard one.differs else { return }
        if one.found.distance < nearest?.found.distance ?? .infinity { nearest = one }
      }
      if let nearest, nearest.isPartial { return result.leaveOut(self.description, nearest.found[0].texts.actual) }
      result.add(
        Mismatch(
          "one of", expected: matchers.map(\.description).joined(separator: " or "),
          actual: nearest?.found.first?.texts.actual ?? "none of them",
          distance: nearest?.found.distance ?? 0.5))
    case .not(let matcher):
      let one = matcher.comparison(with: facts, parameters, explains: result.explains)
      if one.isPartial { return result.leaveOut(self.description, one.found[0].texts.actual) }
      result.check(
        one.differs, Mismatch("condition", expected: "not \(matcher)", actual: "\(matcher)", distance: 0.5))
    }
  }

  private static func closuresLast(_ matchers: [RequestMatcher]) -> [RequestMatcher] {
    guard let first = matchers.firstIndex(where: \.runsForeignCode),
      matchers[first...].contains(where: { !$0.runsForeignCode })
    else { return matchers }
    return matchers.filter { !$0.runsForeignCode } + matchers.filter(\.runsForeignCode)
  }

  private func comparison(
    with facts: RequestFacts, _ parameters: [String: String], explains: Bool
  ) -> Comparison {
    var result = Comparison(explains: explains)
    compare(facts, parameters, &result)
    return result
  }

  /// Mistakes in the condition.
  var problems: [MockError] {
    switch kind {
    case .url(let pattern): [pattern.problem].compactMap { $0 }
    case .field(_, .regex(let regex)): [regex.problem].compactMap { $0 }
    case .body(let body): [body.problem].compactMap { $0 }
    case .and(let matchers), .or(let matchers): matchers.flatMap(\.problems)
    case .not(let matcher): matcher.problems
    case .method, .query, .field, .graphQL, .predicate: []
    }
  }

  /// Whether the condition runs a predicate of the stub's author.
  var runsForeignCode: Bool {
    switch kind {
    case .predicate: true
    case .and(let matchers), .or(let matchers): matchers.contains(where: \.runsForeignCode)
    case .not(let matcher): matcher.runsForeignCode
    case .method, .url, .query, .field, .body, .graphQL: false
    }
  }
}

extension RequestMatcher.FieldValue {
  fileprivate func accepts(_ actual: String?) -> Bool {
    guard let actual else { return false }
    return switch self {
    case .any: true
    case .exactly(let value): actual == value
    case .regex(let regex): regex.matches(actual)
    }
  }

  fileprivate func shown(of name: String) -> String {
    switch self {
    case .any: "any value"
    case .exactly(let value): Redaction.field(name, value)
    case .regex(let regex): "a match of \(Redaction.field(name, "\(regex)"))"
    }
  }
}

extension RequestMatcher {
  /// The same text for equal conditions. Secrets are included, since they distinguish conditions.
  var identity: String { Redaction.$hidesNothing.withValue(true) { description } }
}

extension RequestMatcher: CustomStringConvertible {
  /// The condition in words.
  public var description: String {
    switch kind {
    case .method(let method): "method \(method)"
    case .url(let pattern): "URL \(pattern.shown)"
    case .query(let pattern): "query \(pattern.isExact ? "exactly " : "")\(pattern)"
    case .field(let name, .any): "header \(name)"
    case .field(let name, .exactly(let value)): "header \(name): \(Redaction.field(name, value))"
    case .field(let name, .regex(let regex)): "header \(name) matching \(Redaction.field(name, "\(regex)"))"
    case .body(let body): body.description
    case .graphQL(let name): "GraphQL operation \(name)"
    case .predicate(let name, _): name
    case .and(let matchers): "(" + matchers.map(\.description).joined(separator: " and ") + ")"
    case .or(let matchers): "(" + matchers.map(\.description).joined(separator: " or ") + ")"
    case .not(let matcher): "not \(matcher)"
    }
  }
}
