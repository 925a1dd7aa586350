import Foundation

/// An ordered list of interceptors under a name, for the requests that a scope covers.
///
/// Interceptors run as an onion: array order going out, reverse order coming back.
///
/// ```swift
/// registry.register(
///   InterceptorChain("api", for: .host("api.example.com", "*.staging.example.com")) {
///     RetryOnUnavailable()
///     SignRequest(key: key)   // signs each retry anew, because it stands after the retry
///   })
/// ```
///
/// A registry asks its chains newest first; the first whose scope covers a request and one of whose interceptors says
/// `canInit` owns it.
public struct InterceptorChain: Sendable {
  /// The chain's name, unique in its registry.
  public let name: Name
  /// The requests the chain is for.
  public let scope: Scope
  /// The links, first to see a request first.
  public let interceptors: [any RequestInterceptor]

  /// Makes a chain.
  ///
  /// - Parameters:
  ///   - name: Registering another chain under the same name replaces this one in place.
  ///   - scope: The requests it is for; every `http` and `https` request unless told otherwise.
  ///   - interceptors: The links in order.
  public init(
    _ name: Name, for scope: Scope = .http, @InterceptorBuilder _ interceptors: () -> [any RequestInterceptor]
  ) {
    self.name = name
    self.scope = scope
    self.interceptors = interceptors()
  }
}

extension InterceptorChain {
  /// A chain's name. A string literal will do, with values in it or without.
  public struct Name: Hashable, Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
    /// The name as text.
    public let rawValue: String

    /// Makes a name of the given text.
    public init(_ rawValue: String) {
      self.rawValue = rawValue
    }

    /// Makes a name of a literal.
    public init(stringLiteral value: String) {
      rawValue = value
    }

    /// The name as text.
    public var description: String { rawValue }

    /// The name of the chain that `InterceptorRegistry { … }` makes.
    public static let `default`: Name = "default"
  }
}
