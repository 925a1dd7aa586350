import Foundation

/// What counts for the question whether two requests ask for the same thing.
///
/// ```swift
/// configuration.keys = [
///   .ignoringQueryItems(["utm_*", "signature", "expires"]),
///   .ignoringHeaders(["User-Agent"], for: .host("api.example.com")),
///   .byBody(for: .host("api.example.com").path("/graphql")),
/// ]
/// ```
///
/// All rules whose scope covers a request apply together. For a key of your own making, see
/// ``ArchiveCache/Configuration/keyFor``.
public struct KeyRule: Sendable {
  let scope: InterceptorChain.Scope
  var queryItems: [String] = []
  var headers: [String] = []
  var bodyMethods: Set<String> = []
  var sortsQuery = false

  /// Query items that do not count: random numbers, signatures, campaign names. A `*` at the end stands for any rest.
  ///
  /// What is stored under such a key is what the first request asked for. Use it only for items that do not change the
  /// answer.
  public static func ignoringQueryItems(_ names: [String], for scope: InterceptorChain.Scope = .http) -> KeyRule {
    KeyRule(scope: scope, queryItems: names)
  }

  /// Query items count in whatever order they come.
  public static func sortingQuery(for scope: InterceptorChain.Scope = .http) -> KeyRule {
    KeyRule(scope: scope, sortsQuery: true)
  }

  /// Request fields that do not count where an answer's `Vary` names them.
  public static func ignoringHeaders(_ names: [String], for scope: InterceptorChain.Scope = .http) -> KeyRule {
    KeyRule(scope: scope, headers: names.map { $0.lowercased() })
  }

  /// Requests with a body, keyed by it, are answered from the archive like a `GET`: for GraphQL and other reading
  /// `POST`s.
  ///
  /// Opt in for endpoints that only read. Such requests no longer invalidate what is stored under their URL. Bodies
  /// over ``ArchiveCache/Configuration/maximumKeyedBody``, and bodies that can be read only once, are sent on as ever.
  /// The answer is stored where its headers give it a lifetime (RFC 9110, section 9.3.3), or a ``LifetimeRule`` does.
  ///
  /// - Parameters:
  ///   - methods: The methods.
  ///   - scope: The requests.
  public static func byBody(methods: Set<String> = ["POST"], for scope: InterceptorChain.Scope) -> KeyRule {
    KeyRule(scope: scope, bodyMethods: Set(methods.map { $0.uppercased() }))
  }

  private init(
    scope: InterceptorChain.Scope, queryItems: [String] = [], headers: [String] = [], bodyMethods: Set<String> = [],
    sortsQuery: Bool = false
  ) {
    self.scope = scope
    self.queryItems = queryItems
    self.headers = headers
    self.bodyMethods = bodyMethods
    self.sortsQuery = sortsQuery
  }

  /// Whether a query item of that name is one of those that do not count.
  func ignores(queryItem name: Substring) -> Bool {
    queryItems.contains { pattern in
      pattern.hasSuffix("*") ? name.hasPrefix(pattern.dropLast()) : name == pattern
    }
  }
}
