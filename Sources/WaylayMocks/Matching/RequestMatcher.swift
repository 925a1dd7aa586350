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
    case hasQuery(String)
    case field(String, String?)
    case fieldRegex(String, TextRegex)
    case body(BodyMatcher)
    case graphQL(String)
    case predicate(String, @Sendable (MockRequest) -> Bool)
    case and([RequestMatcher])
    case or([RequestMatcher])
    case not(RequestMatcher)
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
  public static func query(_ name: String) -> RequestMatcher { RequestMatcher(kind: .hasQuery(name)) }

  /// Requests with these query items in any order; the values of a repeated name in the given order.
  public static func query(_ items: KeyValuePairs<String, String?>, exactly: Bool = false) -> RequestMatcher {
    RequestMatcher(kind: .query(QueryPattern(items.map { ($0.key, .exactly($0.value)) }, isExact: exactly)))
  }

  /// Requests with that header field. The name is case-insensitive, the value case-sensitive.
  public static func field(_ name: String, _ value: String) -> RequestMatcher {
    RequestMatcher(kind: .field(name, value))
  }

  /// Requests with a header field of that name.
  public static func field(_ name: String) -> RequestMatcher { RequestMatcher(kind: .field(name, nil)) }

  /// Requests with a header field in whose value the regular expression (ICU syntax) finds a match.
  public static func field(_ name: String, regex pattern: String) -> RequestMatcher {
    RequestMatcher(kind: .fieldRegex(name, TextRegex(pattern)))
  }

  /// Requests with that body.
  public static func body(_ body: BodyMatcher) -> RequestMatcher { RequestMatcher(kind: .body(body)) }

  /// Requests of that GraphQL operation: by `operationName`, in a JSON body or in the query, or else by the name in the
  /// document.
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
  func matches(_ facts: RequestFacts, _ parameters: [String: String]) -> Bool {
    switch kind {
    case .method(let method): return method == facts.method
    case .url(let pattern):
      var ignored: [String: String] = [:]
      return pattern.matches(facts.url, &ignored)
    case .query(let pattern): return pattern.matches(facts.query)
    case .hasQuery(let name): return facts.query.contains(name)
    case .field(let name, let value):
      guard let actual = facts.field(name) else { return false }
      return value == nil || value == actual
    case .fieldRegex(let name, let regex): return facts.field(name).map { regex.matches($0) } ?? false
    case .body(let body): return body.matches(facts)
    case .graphQL(let name): return facts.graphQLOperation == name
    case .predicate(_, let predicate):
      return predicate(MockRequest(facts.request, body: facts.body, parameters: parameters))
    case .and(let matchers): return matchers.allSatisfy { $0.matches(facts, parameters) }
    case .or(let matchers): return matchers.contains { $0.matches(facts, parameters) }
    case .not(let matcher): return !matcher.matches(facts, parameters)
    }
  }

  /// Mistakes in the condition.
  var problems: [MockError] {
    switch kind {
    case .url(let pattern): [pattern.problem].compactMap { $0 }
    case .fieldRegex(_, let regex): [regex.problem].compactMap { $0 }
    case .body(let body): [body.problem].compactMap { $0 }
    case .and(let matchers), .or(let matchers): matchers.flatMap(\.problems)
    case .not(let matcher): matcher.problems
    case .method, .query, .hasQuery, .field, .graphQL, .predicate: []
    }
  }

  /// Whether the condition runs a predicate of the stub's author.
  var runsForeignCode: Bool {
    switch kind {
    case .predicate: true
    case .and(let matchers), .or(let matchers): matchers.contains(where: \.runsForeignCode)
    case .not(let matcher): matcher.runsForeignCode
    case .method, .url, .query, .hasQuery, .field, .fieldRegex, .body, .graphQL: false
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
    case .hasQuery(let name): "query \(name)"
    case .field(let name, let value): value.map { "header \(name): \(Redaction.field(name, $0))" } ?? "header \(name)"
    case .fieldRegex(let name, let regex): "header \(name) matching \(Redaction.field(name, "\(regex)"))"
    case .body(let body): body.description
    case .graphQL(let name): "GraphQL operation \(name)"
    case .predicate(let name, _): name
    case .and(let matchers): "(" + matchers.map(\.description).joined(separator: " and ") + ")"
    case .or(let matchers): "(" + matchers.map(\.description).joined(separator: " or ") + ")"
    case .not(let matcher): "not \(matcher)"
    }
  }
}
