/// A pattern for requests: method, URL and any number of conditions.
///
/// ```swift
/// let orders = RequestPattern(.post, "/orders").where(.field("X-Tenant", "acme"))
/// #expect(mock.requests(orders).count == 1)
/// ```
public struct RequestPattern: Sendable, Changeable {
  /// The method; `nil` for any.
  let method: String?
  let url: URLPattern
  var conditions: [RequestMatcher] = []

  /// Makes a pattern.
  ///
  /// - Parameters:
  ///   - method: The method; `nil` for any.
  ///   - url: A `String` is a pattern (see ``URLPattern``), a `URL` is taken literally; `.regex("…")` and `.any` are
  ///     also available.
  public init(_ method: HTTPRequest.Method?, _ url: some URLPatternConvertible) {
    self.method = method?.rawValue.uppercased()
    self.url = url.urlPattern
  }

  /// Makes a pattern for any method.
  public init(_ url: some URLPatternConvertible) {
    self.init(nil, url)
  }

  /// The same pattern, restricted to requests that fulfil all of these conditions as well.
  public func `where`(_ conditions: RequestMatcher...) -> RequestPattern {
    with { pattern in for condition in conditions { pattern.add(condition) } }
  }

  /// Adds a condition. Predicates come last: they run only if all other conditions match.
  mutating func add(_ condition: RequestMatcher) {
    let position =
      condition.runsForeignCode
      ? conditions.endIndex : conditions.firstIndex(where: \.runsForeignCode) ?? conditions.endIndex
    conditions.insert(condition, at: position)
  }

  /// Mistakes in the pattern.
  var problems: [MockError] { [url.problem].compactMap { $0 } + conditions.flatMap(\.problems) }

  /// Whether a condition runs a predicate of the stub's author.
  var runsForeignCode: Bool { conditions.contains(where: \.runsForeignCode) }

  /// Whether a request matches; adds the values of the URL's named parameters.
  func matches(_ facts: RequestFacts, _ parameters: inout [String: String]) -> Bool {
    var result = Comparison()
    compareTarget(facts, &parameters, &result)
    url.query?.compare(facts.query, "query", &result)
    for condition in conditions where !result.isDone { condition.compare(facts, parameters, &result) }
    return !result.differs
  }

  func matches(_ facts: RequestFacts) -> Bool {
    var parameters: [String: String] = [:]
    return problems.isEmpty && matches(facts, &parameters)
  }

  /// The differences between a request and the pattern.
  func mismatches(_ facts: RequestFacts) -> [Mismatch] {
    var (result, parameters) = (Comparison(explains: true), [String: String]())
    compareTarget(facts, &parameters, &result)
    url.query?.compare(facts.query, "query", &result)
    let closures = conditions.filter(\.runsForeignCode)
    for condition in conditions where !condition.runsForeignCode { condition.compare(facts, parameters, &result) }
    // Predicates are not run again for a report: with no other mismatch, they returned `false` during matching.
    if !result.differs, !closures.isEmpty {
      result.add(
        Mismatch(
          "condition", expected: closures.map(\.description).joined(separator: " and "),
          actual: "the closure returned false", distance: 0.5))
    }
    return result.found
  }

  /// A lower bound of the distance, from method and URL without the query: at most the sum of ``mismatches(_:)``.
  func leastDistance(to facts: RequestFacts) -> Double {
    var (result, parameters) = (Comparison(explains: true), [String: String]())
    compareTarget(facts, &parameters, &result)
    return result.found.distance
  }

  private func compareTarget(
    _ facts: RequestFacts, _ parameters: inout [String: String], _ result: inout Comparison
  ) {
    result.check(
      method == nil || method == facts.method,
      Mismatch("method", expected: method ?? "ANY", actual: facts.method, distance: 1))
    url.compare(facts.url, &parameters, &result)
  }
}

extension RequestPattern: CustomStringConvertible {
  /// Method, URL pattern and conditions, without the values of names that indicate a secret.
  public var description: String {
    let head = "\(method ?? "ANY") \(url.shown)"
    return conditions.isEmpty ? head : head + " where " + conditions.map(\.description).joined(separator: " and ")
  }
}

/// A pattern for the URLs that a stub matches.
///
/// | part | pattern | matches |
/// |---|---|---|
/// | scheme | `https://…` | that scheme; `*://…` any scheme; without scheme and host, any origin |
/// | host | `api.example.com` | a `HostPattern` without port: letter case, `xn--` form and percent-encoding make no difference |
/// | | `*.example.com` | every host below it, but not the host itself |
/// | | `*` , `api-*.example.com` | any host; any text within a label |
/// | port | none | the scheme's default; `:8080` that port, `:*` any port |
/// | path | `/users/42` | these segments, with or without percent-encoding |
/// | | `:id`, `:id(\d+)` | one segment, which becomes a parameter; optionally with a regular expression |
/// | | `*`, `img-*.png` | one segment; any text within one |
/// | | `**` | any number of segments, including none |
/// | query | none | any query |
/// | | `?page=2&sort` | exactly these items in any order, repeated names in the given order; `a=*` any value |
///
/// `*` alone matches every URL. `%2A` and `%3A` are a literal star and colon. A pattern that cannot be parsed matches
/// nothing and is reported at the line of the stub. To match more than the URL, add conditions to the stub:
/// ``RequestMatcher``.
public struct URLPattern: Sendable, CustomStringConvertible, ExpressibleByStringInterpolation {
  /// The pattern as written.
  public let description: String
  var scheme: String?
  var host = StubHost.any
  var port = Port.any
  /// `nil` for any path.
  var path: PathPattern?
  /// `nil` for any query.
  var query: QueryPattern?
  /// Whether this is a literal URL rather than a pattern.
  var isLiteral = false
  var regex: TextRegex?
  /// Why the pattern could not be parsed.
  package internal(set) var problem: MockError?

  enum Port: Sendable, Hashable {
    case any
    case schemeDefault
    case number(Int)
  }
}

extension URLPattern {
  /// Parses a pattern.
  public init(_ text: String) {
    self.init(description: text)
    do throws(MockError) { try parse(text) } catch { problem = error }
  }

  /// Parses a literal.
  public init(stringLiteral value: String) {
    self.init(value)
  }

  /// Compares a URL, except for its query.
  func compare(_ url: ParsedURL, _ parameters: inout [String: String], _ result: inout Comparison) {
    guard !result.isDone, problem == nil else { return result.add(.unshown) }
    if let regex {
      return result.check(
        regex.matches(url.url.absoluteString, &parameters),
        Mismatch("URL", expected: "a match of \(regex)", actual: Redaction.shown(url.url), distance: 2))
    }
    let hasScheme = matchesScheme(url)
    result.check(
      hasScheme, Mismatch("scheme", expected: self.scheme ?? "*", actual: url.scheme, distance: 0.5))
    result.check(
      host.matches(url.host),
      Mismatch(
        "host", expected: self.host.description, actual: url.host,
        distance: 1 + TextDistance.between(host.description, url.host)))
    result.check(
      !hasScheme || matchesPort(url),
      Mismatch("port", expected: self.shownPort(of: url.scheme), actual: "\(url.port)", distance: 0.7))
    guard let path else { return }
    result.check(
      path.matches(url.segments, &parameters),
      Mismatch(
        "path", expected: path.description, actual: Redaction.scrubbed(url.path),
        distance: 2 * path.distance(to: url.segments)))
  }

  private func shownPort(of scheme: String) -> String {
    switch port {
    case .any: "*"
    case .schemeDefault: "\(ParsedURL.defaultPort(of: scheme)) (none is written)"
    case .number(let number): "\(number)"
    }
  }

  /// The differences between a URL and the pattern, without the query.
  func mismatches(_ url: ParsedURL) -> [Mismatch] {
    var (result, parameters) = (Comparison(explains: true), [String: String]())
    compare(url, &parameters, &result)
    return result.found
  }

  private func matchesScheme(_ url: ParsedURL) -> Bool { scheme == nil || scheme == url.scheme }

  private func matchesPort(_ url: ParsedURL) -> Bool {
    switch port {
    case .any: true
    case .schemeDefault: url.port == ParsedURL.defaultPort(of: url.scheme)
    case .number(let number): url.port == number
    }
  }
}

extension URLPattern {
  /// The pattern as shown in reports: without user, password and the secrets of its query.
  var shown: String {
    guard regex == nil else { return description }
    var text = description
    if let mark = PathExpressions.first("?", in: text[...]) {
      let query = text[text.index(after: mark)...]
      text = text[...mark] + Redaction.shownQuery(query)
    }
    if let start = text.range(of: "://")?.upperBound {
      let authority = text[start...].prefix { $0 != "/" && $0 != "?" }
      if let at = authority.lastIndex(of: "@") { text.removeSubrange(start...at) }
    }
    return text
  }
}

extension ParsedURL {
  /// The query's items. Not cached: only patterns with query items need them.
  var items: QueryItems { QueryItems(query ?? "") }
}

/// A type that can be written as a stub's URL: a `String` is parsed as a ``URLPattern``, a `URL` is taken literally, a
/// ``URLPattern`` is used unchanged.
///
/// ```swift
/// Stub(.get, "/users/:id", .text("a pattern"))
/// Stub(.get, url, .text("this URL alone"))
/// Stub(.get, .regex(#"/v\d+/users$"#), .text("an expression"))
/// ```
public protocol URLPatternConvertible {
  /// The corresponding pattern.
  var urlPattern: URLPattern { get }
}

extension String: URLPatternConvertible {
  /// The pattern parsed from this text.
  public var urlPattern: URLPattern { URLPattern(self) }
}

extension URL: URLPatternConvertible {
  /// A pattern for this URL and those equal to it: scheme, host, port, path, and exactly these query items in any
  /// order.
  public var urlPattern: URLPattern {
    let parsed = ParsedURL(absoluteURL)
    return URLPattern(
      description: absoluteString, scheme: parsed.scheme.isEmpty ? nil : parsed.scheme,
      host: parsed.host.isEmpty ? .any : .literal(parsed.host), port: parsed.host.isEmpty ? .any : .number(parsed.port),
      path: PathPattern(literally: parsed.segments),
      query: QueryPattern(parsed.items.items.map { ($0.name, .exactly($0.value)) }, isExact: true), isLiteral: true)
  }
}

extension URLPattern: URLPatternConvertible {
  /// The pattern itself.
  public var urlPattern: URLPattern { self }
}

extension URLPatternConvertible where Self == URLPattern {
  /// Every URL.
  public static var any: URLPattern { URLPattern(description: "any URL") }

  /// URLs in whose text the regular expression (ICU syntax) finds a match, with `^` and `$` for the ends; named groups
  /// become ``MockRequest/parameters``. An expression that takes too long, such as `(a+)+$`, finds none.
  public static func regex(_ pattern: String) -> URLPattern {
    let regex = TextRegex(pattern)
    return URLPattern(description: regex.description, regex: regex, problem: regex.problem)
  }
}

extension URLPattern {
  private mutating func parse(_ text: String) throws(MockError) {
    if text == "*" || text == "**" { return }
    var rest = Substring(text)
    if let fragment = rest.firstIndex(of: "#") { rest = rest[..<fragment] }
    if let mark = PathExpressions.first("?", in: rest) {
      query = try QueryPattern(pattern: rest[rest.index(after: mark)...], of: text)
      rest = rest[..<mark]
    }
    var hasScheme = false
    if let separator = rest.range(of: "://") {
      let scheme = rest[..<separator.lowerBound].lowercased()
      guard scheme == "*" || ParsedURL.isScheme(scheme.utf8) else {
        throw Self.invalid(text, "\"\(scheme)\" is not a valid scheme: write https:// or *://.")
      }
      self.scheme = scheme == "*" ? nil : scheme
      hasScheme = true
      rest = rest[separator.upperBound...]
    }
    let slash = rest.firstIndex(of: "/") ?? rest.endIndex
    let authority = rest[..<slash]
    if authority.isEmpty {
      guard !hasScheme else { throw Self.invalid(text, "there is no host after the scheme: write \"*\" for any host.") }
    } else {
      try parseAuthority(authority, of: text, hasScheme: hasScheme)
    }
    let written = rest[slash...]
    if authority.isEmpty, written.isEmpty, query == nil {
      throw Self.invalid(text, "it is empty: write a path such as \"/users/:id\", a URL, or .any.")
    }
    // An origin without a path matches the root; a query without a path matches any path.
    if !authority.isEmpty || !written.isEmpty { path = try PathPattern(pattern: written, of: text) }
  }

  private mutating func parseAuthority(_ authority: Substring, of text: String, hasScheme: Bool) throws(MockError) {
    var name = authority
    if let at = name.lastIndex(of: "@") { name = name[name.index(after: at)...] }
    port = .schemeDefault
    if let colon = name.lastIndex(of: ":"), !name[colon...].contains("]") {
      let digits = name[name.index(after: colon)...]
      if digits == "*" {
        port = .any
      } else if let number = Int(digits), (1...65535).contains(number) {
        port = .number(number)
      } else if !digits.isEmpty {
        throw Self.invalid(text, "\"\(digits)\" is not a valid port: write a number from 1 to 65535, or \"*\" for any.")
      }
      name = name[..<colon]
    }
    // Otherwise `users/:id` would be a host named "users".
    guard
      hasScheme || name == "localhost" || name.contains(".") || name.contains("*") || name.hasPrefix("[")
        || port != .schemeDefault
    else {
      throw Self.invalid(
        text, "\"\(name)\" is not a host: begin a path with a slash, \"/\(authority)…\", and a host with its scheme.")
    }
    guard !name.isEmpty else { throw Self.invalid(text, "there is no host before the port.") }
    host = try StubHost(name, of: text)
    if name == "*", port == .schemeDefault { port = .any }
  }

  static func invalid(_ text: String, _ reason: String) -> MockError {
    MockError(.invalidPattern, "the URL pattern \"\(text)\" cannot be parsed: \(reason)")
  }
}

/// The host part of a stub's URL pattern: a `HostPattern`, or one of the extensions for stubs.
enum StubHost: Sendable {
  case pattern(HostPattern)
  /// The host of a URL, normalized for comparison.
  case literal(String)
  /// A label with stars, each of which matches any text within the label.
  case glob(TextRegex, String)

  /// Parses the host of a pattern, without its port.
  init(_ text: Substring, of pattern: String) throws(MockError) {
    let stars = text.count { $0 == "*" }
    guard stars == 0 || text == "*" || text == "**" || stars == 1 && text.hasPrefix("*.") else {
      let labels = try text.split(separator: ".", omittingEmptySubsequences: false).map { label throws(MockError) in
        guard label.contains("*") else { return HostName.comparable(String(label)) }
        guard label.utf8.allSatisfy({ $0 < 0x80 }) else {
          throw URLPattern.invalid(
            pattern, "\"\(label)\" has a wildcard in a non-ASCII label: write \"*\" for the whole label.")
        }
        return label.lowercased()
      }
      let parts = labels.joined(separator: ".").split(separator: "*", omittingEmptySubsequences: false)
      let regex = TextRegex(
        "^" + parts.map { NSRegularExpression.escapedPattern(for: String($0)) }.joined(separator: "[^.]*") + "$")
      if let problem = regex.problem { throw problem }
      self = .glob(regex, String(text))
      return
    }
    do throws(WaylayError) {
      // Decode percent-encoded octets, as in a URL. An encoded star is a literal star, which matches no host.
      let host = text == "**" ? "*" : PercentCoding.decoded(String(text))
      self = .pattern(try HostPattern(stars == 0 && host.contains("*") ? String(text) : host))
    } catch {
      throw URLPattern.invalid(pattern, "the host is invalid: \(error.message)")
    }
  }

  /// Any host.
  static let any: StubHost = {
    guard let pattern = try? HostPattern("*") else { preconditionFailure("every host is a pattern") }
    return .pattern(pattern)
  }()

  /// The host if the pattern matches exactly one; otherwise `nil`.
  var exactHost: String? {
    switch self {
    case .pattern(let pattern): pattern.exactHost
    case .literal(let host): host
    case .glob: nil
    }
  }

  /// Whether the pattern matches a host, normalized for comparison.
  func matches(_ host: String) -> Bool {
    switch self {
    case .pattern(let pattern): pattern.matches(comparable: host, port: nil)
    case .literal(let name): name == host
    case .glob(let regex, _): regex.matches(host)
    }
  }
}

extension StubHost: CustomStringConvertible {
  var description: String {
    switch self {
    case .pattern(let pattern): pattern.description
    case .literal(let name): name
    case .glob(_, let text): text
    }
  }
}
