import Foundation

/// The context of a load: the storages, header fields and timeouts of the session its request comes from.
///
/// On Linux the loading system hides these values from a protocol (platform facts P10, P15, P19), so they come from the
/// intercepted configuration. All loads of one session share a context.
public final class LoadContext: Sendable {
  /// The cookie storage to read and write; `nil` for none.
  public let cookieStorage: HTTPCookieStorage?
  /// Whether to send stored cookies.
  public let sendsCookies: Bool
  /// Which cookies to store; `.never` for none.
  public let cookieAcceptPolicy: HTTPCookie.AcceptPolicy
  /// The credential storage; `nil` for none.
  public let credentialStorage: URLCredentialStorage?
  /// Header fields added to every request that does not set them itself.
  public let additionalHeaders: [String: String]
  /// The cache policy for requests with `useProtocolCachePolicy`, which have none of their own.
  public let cachePolicy: URLRequest.CachePolicy
  /// Seconds without progress after which a load times out. A request's own `timeoutInterval` takes precedence unless
  /// it is the default of 60 s.
  public let requestTimeout: TimeInterval
  /// Seconds after which a load times out, regardless of progress.
  public let resourceTimeout: TimeInterval
  /// How many cookies are stored, and how large the heads may be that the installation's own transport accepts.
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

  /// Makes a context without storages and header fields, and with a new session's timeouts, for unit tests.
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
