/// A pattern for requests: method, URL and any number of conditions.
///
/// ```swift
/// let orders = RequestPattern(.post, "/orders").header("X-Tenant", "acme")
/// #expect(mock.calls(to: orders).count == 1)
/// ```
public struct RequestPattern: Sendable {
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

  /// Adds a condition. Those that run code of whoever wrote them come last: they are asked when everything else fits.
  mutating func add(_ condition: RequestMatcher) {
    let position =
      condition.runsForeignCode
      ? conditions.endIndex : conditions.firstIndex(where: \.runsForeignCode) ?? conditions.endIndex
    conditions.insert(condition, at: position)
  }

  /// What is wrong with the pattern.
  var problems: [MockError] { [url.problem].compactMap { $0 } + conditions.flatMap(\.problems) }

  /// Whether it runs code of whoever wrote it.
  var runsForeignCode: Bool { conditions.contains(where: \.runsForeignCode) }

  /// Whether a request matches; fills in the values of the URL's names.
  func matches(_ facts: RequestFacts, _ parameters: inout [String: String]) -> Bool {
    guard method == nil || method == facts.method, url.matches(facts.url, &parameters) else { return false }
    return conditions.isEmpty || conditions.allSatisfy { $0.matches(facts, parameters) }
  }

  func matches(_ facts: RequestFacts) -> Bool {
    var parameters: [String: String] = [:]
    return problems.isEmpty && matches(facts, &parameters)
  }
}

extension RequestPattern: CustomStringConvertible {
  /// Method, URL pattern and conditions, without the values of names that indicate a secret.
  public var description: String {
    let head = "\(method ?? "ANY") \(url.shown)"
    return conditions.isEmpty ? head : head + " where " + conditions.map(\.description).joined(separator: " and ")
  }
}
