import Foundation
public import HTTPTypes

/// How long an answer stays fresh, in the client's opinion rather than the server's.
///
/// ```swift
/// configuration.lifetimes = [
///   .lifetime(.seconds(3600), for: .host("api.example.com").path("/catalog/**")),           // where the server says nothing
///   .lifetime(.seconds(86_400), type: "image/*", overridingServer: true),                    // whatever it says
/// ]
/// ```
///
/// The first rule that has a lifetime for an answer counts. A rule that overrides the server also makes an answer
/// storable that the server would not have stored; `must-revalidate` and its kin no longer hold then. Rules apply when
/// an answer is stored or freshened, not when it is read.
public struct LifetimeRule: Sendable {
  /// Whether the rule counts for an answer that says itself how long it is fresh.
  public let overridesServer: Bool
  let lifetime: @Sendable (Answer) -> Duration?

  /// What a rule may look at.
  public struct Answer: Sendable {
    /// The request.
    public let request: URLRequest
    /// The answer's status.
    public let status: HTTPResponse.Status
    /// The answer's header fields.
    public let fields: HTTPFields

    /// The media type without its parameters, in lower case; empty where there is none.
    public var mediaType: String {
      let type = fields[.contentType]?.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""
      return type.trimmingCharacters(in: .whitespaces).lowercased()
    }
  }

  /// Makes a rule from a closure.
  ///
  /// - Parameters:
  ///   - overridingServer: Whether it counts for an answer that says itself how long it is fresh.
  ///   - lifetime: The lifetime of an answer, counted from the server's `Date`; `nil` for "no opinion", zero for "never
  ///     fresh".
  public init(overridingServer: Bool = false, _ lifetime: @escaping @Sendable (Answer) -> Duration?) {
    overridesServer = overridingServer
    self.lifetime = lifetime
  }

  /// A lifetime for the answers of some hosts, paths and types.
  ///
  /// - Parameters:
  ///   - lifetime: How long they stay fresh.
  ///   - scope: The requests.
  ///   - type: A media type, such as `image/png` or `image/*`; any when `nil`.
  ///   - overridingServer: Whether it counts in place of what the server says.
  public static func lifetime(
    _ lifetime: Duration, for scope: InterceptorChain.Scope = .http, type: String? = nil, overridingServer: Bool = false
  ) -> LifetimeRule {
    let type = type?.lowercased()
    return LifetimeRule(overridingServer: overridingServer) { answer in
      guard let url = answer.request.url, scope.covers(url) else { return nil }
      guard let type else { return lifetime }
      let isMatch = type.hasSuffix("/*") ? answer.mediaType.hasPrefix(type.dropLast()) : answer.mediaType == type
      return isMatch ? lifetime : nil
    }
  }
}

extension [LifetimeRule] {
  /// The lifetime that the rules give an answer which carries one of its own or does not, in seconds.
  func seconds(for answer: LifetimeRule.Answer, overridingServer: Bool) -> Int64? {
    for rule in self where rule.overridesServer == overridingServer {
      if let lifetime = rule.lifetime(answer) { return lifetime.wholeSeconds }
    }
    return nil
  }
}

extension Duration {
  /// The whole seconds, for a lifetime: none where it is negative, and no more than a cache counts (RFC 9111, section
  /// 1.2.2, times a million), because a duration may have more seconds than an `Int64` can hold.
  var wholeSeconds: Int64 {
    guard self > .zero else { return 0 }
    return self < .seconds(1 << 51) ? components.seconds : 1 << 51
  }
}
