import Foundation

/// Whose load a request belongs to: the storages, header fields and timeouts of the session it came from.
///
/// On Linux the loading system hides these from a protocol (platform facts P10, P15, P19), so they are taken from the
/// configuration that was intercepted. Shared by all loads of one session.
public final class LoadContext: Sendable {
  /// Where cookies are read and stored; `nil` for none.
  public let cookieStorage: HTTPCookieStorage?
  /// Whether stored cookies are sent.
  public let sendsCookies: Bool
  /// Which cookies are stored; `.never` for none.
  public let cookieAcceptPolicy: HTTPCookie.AcceptPolicy
  /// Where credentials are looked up; `nil` for none.
  public let credentialStorage: URLCredentialStorage?
  /// Header fields that every request gets which does not set them itself.
  public let additionalHeaders: [String: String]
  /// The cache policy of requests that have none of their own, which are those with `useProtocolCachePolicy`.
  public let cachePolicy: URLRequest.CachePolicy
  /// Seconds without progress after which a load times out. A request's own `timeoutInterval` goes first, unless it is
  /// the 60 s that nobody has set.
  public let requestTimeout: TimeInterval
  /// Seconds after which a load times out, whatever its progress.
  public let resourceTimeout: TimeInterval
  /// How many cookies are stored, and how large the heads may be that the installation's own transport takes.
  public let limits: MessageLimits

  /// Makes the context of a session with the given configuration.
  public init(_ configuration: URLSessionConfiguration, limits: MessageLimits = MessageLimits()) {
    self.limits = limits
    cookieStorage = configuration.httpCookieStorage
    sendsCookies = configuration.httpShouldSetCookies
    cookieAcceptPolicy = configuration.httpCookieAcceptPolicy
    credentialStorage = configuration.urlCredentialStorage
    additionalHeaders = Dictionary(
      (configuration.httpAdditionalHeaders ?? [:]).compactMap { name, value in
        (name.base as? String).map { ($0, String(describing: value)) }
      },
      uniquingKeysWith: { first, _ in first })
    cachePolicy = configuration.requestCachePolicy
    requestTimeout = configuration.timeoutIntervalForRequest
    resourceTimeout = configuration.timeoutIntervalForResource
  }

  /// Makes a context without storages and header fields, and with the timeouts of a fresh session: what unit tests
  /// want.
  public init() {
    limits = MessageLimits()
    cookieStorage = nil
    sendsCookies = false
    cookieAcceptPolicy = .never
    credentialStorage = nil
    additionalHeaders = [:]
    cachePolicy = .useProtocolCachePolicy
    requestTimeout = Self.defaultRequestTimeout
    resourceTimeout = 7 * 24 * 60 * 60
  }

  /// Whether a load would be the same in either.
  func hasSameSettings(as other: LoadContext) -> Bool {
    cookieStorage === other.cookieStorage && sendsCookies == other.sendsCookies
      && cookieAcceptPolicy == other.cookieAcceptPolicy
      && credentialStorage === other.credentialStorage && additionalHeaders == other.additionalHeaders
      && cachePolicy == other.cachePolicy && requestTimeout == other.requestTimeout
      && resourceTimeout == other.resourceTimeout
  }

  /// What `URLRequest.timeoutInterval` is when nobody set it, in seconds.
  static let defaultRequestTimeout: TimeInterval = 60

  /// A field's name as the session's configuration spells it, which the loading system's requests do not keep.
  func spelling(of name: String, with value: String) -> String {
    guard !additionalHeaders.isEmpty, additionalHeaders[name] == nil else { return name }
    let lowercased = name.lowercased()
    return additionalHeaders.first { $0.value == value && $0.key.lowercased() == lowercased }?.key ?? name
  }
}
