import Foundation

/// A rule that decides whether two requests share an entry.
///
/// ```swift
/// configuration.keys = [
///   .ignoringQueryItems(["utm_*", "signature", "expires"]),
///   .ignoringHeaders(["User-Agent"], for: .host("api.example.com")),
///   .byBody(for: .host("api.example.com").path("/graphql")),
/// ]
/// ```
///
/// All rules whose scope covers a request apply together. For custom keys, see ``ArchiveCache/Configuration/keyFor``.
public struct KeyRule: Sendable {
  let scope: InterceptorChain.Scope
  var queryItems: [String] = []
  var headers: [String] = []
  var bodyMethods: Set<String> = []
  var sortsQuery = false

  /// Ignores query items, such as random numbers, signatures and campaign names. A trailing `*` matches any suffix.
  ///
  /// The entry for such a key holds the response to the first request. Use this rule only for items that do not change
  /// the response.
  public static func ignoringQueryItems(_ names: [String], for scope: InterceptorChain.Scope = .http) -> KeyRule {
    KeyRule(scope: scope, queryItems: names)
  }

  /// Ignores the order of query items.
  public static func sortingQuery(for scope: InterceptorChain.Scope = .http) -> KeyRule {
    KeyRule(scope: scope, sortsQuery: true)
  }

  /// Ignores request fields even if a response's `Vary` names them.
  public static func ignoringHeaders(_ names: [String], for scope: InterceptorChain.Scope = .http) -> KeyRule {
    KeyRule(scope: scope, headers: names.map { $0.lowercased() })
  }

  /// Makes requests with a body answerable from the archive like a `GET`, keyed by their body: for GraphQL and other
  /// read-only `POST`s.
  ///
  /// Opt in for endpoints that only read. Such requests no longer invalidate what is stored under their URL. Requests
  /// with one-shot bodies, or bodies over ``ArchiveCache/Configuration/maximumKeyedBody``, are sent on as usual. The
  /// response is stored if its header fields give it a lifetime (RFC 9110, section 9.3.3), or a ``LifetimeRule`` does.
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
