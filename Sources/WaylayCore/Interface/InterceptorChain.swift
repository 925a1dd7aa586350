import Foundation

/// A named, ordered list of interceptors for the requests that a scope covers.
///
/// Interceptors nest like layers: array order on the way out, reverse order on the way back.
///
/// ```swift
/// registry.register(
///   InterceptorChain("api", for: .host("api.example.com", "*.staging.example.com")) {
///     AddLanguage()
///     SignRequest(key: key)   // covers the language too, because it comes later
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
  /// The problems that keep requests from the chain or from some of its interceptors, each phrased to follow its name.
  var problems: [String] {
    var problems = scope.problems.map { "has an invalid scope: \($0.message)" }
    if scope.problems.isEmpty, let reason = scope.emptiness { problems.append("covers nothing: \(reason)") }
    if interceptors.isEmpty { problems.append("has no interceptors, and so owns no request") }
    if let last = interceptors.dropLast().first(where: { ($0 as? any GuardingInterceptor)?.isFinal == true }) {
      problems.append("has interceptors after \(last.name), which never calls next: put it last")
    }
    for case let interceptor as any ChainValidating in interceptors {
      problems += interceptor.problems(in: self).map { "has \(interceptor.name), which \($0)" }
    }
    return problems
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

extension InterceptorChain {
  /// The requests a chain applies to, by scheme, host and path.
  ///
  /// ```swift
  /// let scope = InterceptorChain.Scope.host("api.example.com", "*.cdn.example.com:8443")
  ///   .path("/v1/**", "/users/*/avatar")
  ///   .excludingPath("/v1/health")
  /// ```
  ///
  /// | rule | pattern | covers |
  /// |---|---|---|
  /// | host | a ``HostPattern``: `example.com` | that host on any port, case-insensitive |
  /// | | `example.com:8080` | that host on that port (URLs without a port use 80 and 443) |
  /// | | `*.example.com` | every host below it, but not the host itself |
  /// | path | `/a/*/c` | `*` is exactly one segment |
  /// | | `/a/**` | `/a` and everything below it |
  ///
  /// A pattern that is not valid matches nothing, appears in ``problems``, and is reported when the chain is registered:
  /// to the registry's logger, or without one to standard error.
  ///
  /// WebSocket requests (`ws`, `wss`) are never covered. For rules based on header fields or the method, use
  /// ``RequestInterceptor/canInit(with:)``.
  public struct Scope: Sendable, Changeable {
    var schemes: Set<String>?
    /// `nil` for all hosts.
    var hosts: [HostPattern]?
    /// `nil` for all paths.
    var paths: [PathRule]?
    var excludedHosts: [HostPattern] = []
    var excludedPaths: [PathRule] = []
    /// Errors for the host and path patterns that could not be parsed.
    public private(set) var problems: [WaylayError] = []

    /// Every `http` and `https` request.
    public static let http = Scope(schemes: ["http", "https"])
    /// Every `https` request.
    public static let https = Scope(schemes: ["https"])
    /// Every request of any scheme except WebSocket.
    public static let any = Scope(schemes: nil)

    /// Every request with the given schemes, such as `"app"`.
    public static func scheme(_ schemes: String...) -> Scope {
      Scope(schemes: Set(schemes.map { $0.lowercased() }))
    }

    /// `http` and `https` requests to the given hosts.
    public static func host(_ patterns: String...) -> Scope {
      Scope.http.narrowed(to: patterns)
    }

    /// `http` and `https` requests with the given paths on any host.
    public static func path(_ patterns: String...) -> Scope {
      Scope.http.narrowed(toPaths: patterns)
    }

    /// The same scope, narrowed to the given hosts.
    public func host(_ patterns: String...) -> Scope {
      narrowed(to: patterns)
    }

    /// The same scope, narrowed to the given paths.
    public func path(_ patterns: String...) -> Scope {
      narrowed(toPaths: patterns)
    }

    /// The same scope without the given hosts.
    public func excludingHost(_ patterns: String...) -> Scope {
      with { $0.excludedHosts += $0.parsed(patterns, by: HostPattern.init) }
    }

    /// The same scope without the given paths.
    public func excludingPath(_ patterns: String...) -> Scope {
      with { $0.excludedPaths += $0.parsed(patterns, by: PathRule.init) }
    }

    /// Whether the scope covers a request for `url`.
    public func covers(_ url: URL) -> Bool {
      var target = Target(url)
      return covers(&target)
    }

    /// Whether the scope lists the host of a URL, rather than cover every host.
    func names(_ url: URL) -> Bool { hosts?.contains { $0.name != nil && $0.matches(url) } ?? false }

    private func narrowed(to patterns: [String]) -> Scope {
      with { $0.hosts = ($0.hosts ?? []) + $0.parsed(patterns, by: HostPattern.init) }
    }

    private func narrowed(toPaths patterns: [String]) -> Scope {
      with { $0.paths = ($0.paths ?? []) + $0.parsed(patterns, by: PathRule.init) }
    }

    /// Parses patterns, and records the errors of invalid ones in ``problems``.
    private mutating func parsed<Pattern>(
      _ texts: [String], by parse: (String) throws(WaylayError) -> Pattern
    ) -> [Pattern] {
      texts.compactMap { text in
        do throws(WaylayError) {
          return try parse(text)
        } catch {
          problems.append(error)
          return nil
        }
      }
    }

    /// Whether the scope restricts only the scheme.
    var isPlainHTTP: Bool {
      schemes == ["http", "https"] && hosts == nil && paths == nil && excludedHosts.isEmpty && excludedPaths.isEmpty
    }

    /// The reason why the scope covers no request at all; `nil` if it covers some.
    var emptiness: String? {
      if let schemes, schemes.isSubset(of: ["ws", "wss"]) {
        return schemes.isEmpty ? "it has no scheme" : "WebSocket requests bypass chains"
      }
      if let schemes, let wrong = schemes.first(where: { !$0.utf8.allSatisfy(\.isScheme) }) {
        return "\"\(wrong)\" is not a scheme: write \"app\", not \"app://\""
      }
      if hosts?.isEmpty ?? false { return "it has no host" }
      if paths?.isEmpty ?? false { return "it has no path" }
      if let hosts, hosts.allSatisfy(excludedHosts.contains) { return "all its hosts are excluded" }
      return nil
    }

    func covers(_ target: inout Target) -> Bool {
      guard !target.isWebSocket, schemes?.contains(target.scheme) ?? true else { return false }
      if let hosts, !target.matches(hosts) { return false }
      if let paths, !paths.contains(where: { $0.covers(&target) }) { return false }
      return !target.matches(excludedHosts) && !excludedPaths.contains { $0.covers(&target) }
    }
  }
}

extension InterceptorChain.Scope {
  /// The parts of a URL that scopes compare, parsed once for all chains and only as far as needed.
  struct Target {
    let url: URL
    let scheme: String
    private var cachedHost: String?
    private var cachedPath: [Substring]?

    init(_ url: URL) {
      self.url = url
      let scheme = url.scheme ?? ""
      self.scheme = scheme == "http" || scheme == "https" ? scheme : scheme.lowercased()
    }

    var isHTTP: Bool { scheme == "http" || scheme == "https" }

    var isWebSocket: Bool { scheme == "ws" || scheme == "wss" }

    var port: Int? { url.port ?? URL.defaultPort(of: scheme) }

    var host: String {
      mutating get {
        if let cachedHost { return cachedHost }
        let host = HostName.comparable(url.host ?? "")
        cachedHost = host
        return host
      }
    }

    mutating func matches(_ patterns: [HostPattern]) -> Bool {
      guard !patterns.isEmpty, !host.isEmpty else { return false }
      let (host, port) = (host, port)
      return patterns.contains { $0.matches(comparable: host, port: port) }
    }

    var segments: [Substring] {
      mutating get {
        if let cachedPath { return cachedPath }
        let segments = PathRule.segments(url.path)
        cachedPath = segments
        return segments
      }
    }
  }

  /// One path pattern.
  struct PathRule: Sendable {
    private let segments: [Substring]

    init(_ pattern: String) throws(WaylayError) {
      let segments = Self.segments(pattern)
      if pattern.contains("://") || pattern.contains("?") {
        throw WaylayError(
          .invalidPath, "\"\(pattern.withRedactedURLs)\" is not a path: leave out the scheme, host and query.")
      }
      if let segment = segments.first(where: { $0.contains("*") && $0 != "*" && $0 != "**" }) {
        throw WaylayError(
          .invalidPath,
          """
          "\(segment)" in the path "\(pattern)" is not a segment: "*" matches one whole segment, and "**" any number \
          of them; to match parts of segments, implement canInit(with:).
          """)
      }
      if let decoded = pattern.removingPercentEncoding, decoded != pattern {
        throw WaylayError(
          .invalidPath, "\"\(pattern)\" is percent-encoded: paths are compared decoded, so write \"\(decoded)\".")
      }
      self.segments = segments
    }

    static func segments(_ path: String) -> [Substring] {
      path.split(separator: "/", omittingEmptySubsequences: true)
    }

    func covers(_ target: inout Target) -> Bool {
      Self.matches(segments[...], target.segments[...])
    }

    private static func matches(_ pattern: ArraySlice<Substring>, _ path: ArraySlice<Substring>) -> Bool {
      var pattern = pattern
      var path = path
      while let rule = pattern.popFirst() {
        if rule == "**" {
          if pattern.isEmpty { return true }
          return (path.startIndex...path.endIndex).contains { matches(pattern, path[$0...]) }
        }
        guard let segment = path.popFirst(), rule == "*" || rule == segment else { return false }
      }
      return path.isEmpty
    }
  }
}
