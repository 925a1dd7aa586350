import Foundation

/// A named, ordered list of interceptors for the requests that a scope covers.
///
/// Interceptors nest like layers: array order on the way out, reverse order on the way back.
///
/// ```swift
/// registry.register(
///   InterceptorChain("api", for: .host("api.example.com", "*.staging.example.com")) {
///     RetryOnUnavailable()
///     SignRequest(key: key)   // signs each retry anew, because it stands after the retry
///   })
/// ```
///
/// A registry asks its chains newest first. A request belongs to the first chain whose scope covers it and that has an
/// interceptor whose `canInit` returns `true`.
public struct InterceptorChain: Sendable {
  /// The chain's name, unique in its registry.
  public let name: Name
  /// The requests the chain applies to.
  public let scope: Scope
  /// The interceptors; the first one sees a request first.
  public let interceptors: [any RequestInterceptor]

  /// Makes a chain.
  ///
  /// - Parameters:
  ///   - name: The name. Registering another chain with the same name replaces this one in place.
  ///   - scope: The requests the chain applies to; every `http` and `https` request by default.
  ///   - interceptors: The interceptors in order.
  public init(
    _ name: Name, for scope: Scope = .http, @InterceptorBuilder _ interceptors: () -> [any RequestInterceptor]
  ) {
    self.name = name
    self.scope = scope
    self.interceptors = interceptors()
  }
}

extension InterceptorChain {
  /// A chain's name. You can write it as a string literal, with or without interpolation.
  public struct Name: Hashable, Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
    /// The name as text.
    public let rawValue: String

    /// Makes a name from the given text.
    public init(_ rawValue: String) {
      self.rawValue = rawValue
    }

    /// Makes a name from a literal.
    public init(stringLiteral value: String) {
      rawValue = value
    }

    /// The name as text.
    public var description: String { rawValue }

    /// The name of the chain made by `InterceptorRegistry { … }`.
    public static let `default`: Name = "default"
  }
}
