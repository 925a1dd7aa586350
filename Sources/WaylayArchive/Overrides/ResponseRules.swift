import Foundation
public import HTTPTypes

/// A rule by which the client, rather than the server, decides how long a response stays fresh.
///
/// ```swift
/// configuration.lifetimes = [
///   .lifetime(.seconds(3600), for: .host("api.example.com").path("/catalog/**")),           // where the server says nothing
///   .lifetime(.seconds(86_400), type: "image/*", overridingServer: true),                    // also where it does
/// ]
/// ```
///
/// The first rule that returns a lifetime for a response wins. A rule that overrides the server also makes a response
/// storable that the server rules out, unless by `no-store`; `must-revalidate` and related directives then no longer
/// apply. Rules apply when a response is stored or freshened, not when it is read.
public struct LifetimeRule: Sendable {
  /// Whether the rule also applies to a response that states its own lifetime.
  public let overridesServer: Bool
  let lifetime: @Sendable (StorableResponse) -> Duration?

  /// Makes a rule from a closure.
  ///
  /// - Parameters:
  ///   - overridingServer: Whether the rule also applies to a response that states its own lifetime.
  ///   - lifetime: Returns the lifetime of a response, counted from the server's `Date`; `nil` for "no opinion", zero
  ///     for "never fresh".
  public init(overridingServer: Bool = false, _ lifetime: @escaping @Sendable (StorableResponse) -> Duration?) {
    overridesServer = overridingServer
    self.lifetime = lifetime
  }

  /// Makes a rule with a lifetime for responses of some hosts, paths and types.
  ///
  /// - Parameters:
  ///   - lifetime: How long the responses stay fresh.
  ///   - scope: The requests.
  ///   - type: A media type, such as `image/png` or `image/*`; `nil` for any.
  ///   - overridingServer: Whether the rule overrides the server's lifetime.
  public static func lifetime(
    _ lifetime: Duration, for scope: InterceptorChain.Scope = .http, type: String? = nil, overridingServer: Bool = false
  ) -> LifetimeRule {
    let type = type?.lowercased()
    return LifetimeRule(overridingServer: overridingServer) { response in
      guard let url = response.request.url, scope.covers(url) else { return nil }
      guard let type else { return lifetime }
      let isMatch = type.hasSuffix("/*") ? response.mediaType.hasPrefix(type.dropLast()) : response.mediaType == type
      return isMatch ? lifetime : nil
    }
  }
}

extension [LifetimeRule] {
  /// The lifetime in seconds from the first matching rule, among the rules that override the server or those that do
  /// not.
  func seconds(for response: StorableResponse, overridingServer: Bool) -> Int64? {
    for rule in self where rule.overridesServer == overridingServer {
      if let lifetime = rule.lifetime(response) { return lifetime.wholeSeconds }
    }
    return nil
  }
}

extension Duration {
  /// The whole seconds of a lifetime: 0 for a negative one, and at most 2⁵¹, since a duration may exceed `Int64` (RFC
  /// 9111, section 1.2.2).
  var wholeSeconds: Int64 {
    guard self > .zero else { return 0 }
    return self < .seconds(1 << 51) ? components.seconds : 1 << 51
  }
}

/// A response about to be stored, which ``ArchiveCache/Configuration/willStore`` can edit, tag, pin or reject.
///
/// ```swift
/// configuration.willStore = { response in
///   if response.fields[.contentType] == "text/event-stream" { response.refuse("a stream of events") }
///   response.fields[.setCookie] = nil
///   response.tags.insert("articles")
/// }
/// ```
///
/// Edits change the stored head, and thus the responses to later requests; the response to this request passes
/// unchanged. To change a body, put an interceptor after the archive.
///
/// When the server validates a stored response (`304`), its new head passes through here as well, with the fields that
/// the server changed: removed fields do not come back. Tags and pins keep their earlier values, and rejecting such a
/// head removes the response.
public struct StorableResponse: Sendable {
  /// The request.
  public let request: URLRequest
  /// The response's status.
  public let status: HTTPResponse.Status
  /// The number of body bytes, if known in advance.
  public let length: Int64?
  /// The header fields to store.
  public var fields: HTTPFields
  /// How long the response stays fresh, overriding its header fields; `nil` leaves that to them.
  public var lifetime: Duration?
  /// Tags for finding or removing entries.
  public var tags: Set<String> = []
  /// Whether eviction skips the entry.
  public var isPinned = false
  /// The reason why the response is rejected; `nil` if it is not.
  public private(set) var refusal: String?

  /// The media type in lowercase, without parameters; empty if there is none.
  public var mediaType: String { fields.mediaType }

  /// Keeps the response out of the archive.
  ///
  /// - Parameter reason: The reason, for events and logs.
  public mutating func refuse(_ reason: String) { refusal = reason }

  /// The lifetime as an override of the header fields.
  var override: LifetimeOverride? { lifetime.map { .forced($0.wholeSeconds) } }
}

extension StorableResponse: CustomStringConvertible {
  /// Status and URL on one line, suitable for a log: without fields, and without query values.
  public var description: String { "\(status.code) \(request.url?.redacted ?? "<no URL>")" }
}
