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
  public let additionalFields: [String: String]
  /// The cache policy for requests with `useProtocolCachePolicy`, which have none of their own.
  public let cachePolicy: URLRequest.CachePolicy
  /// Seconds without progress after which a load times out. A request's own `timeoutInterval` takes precedence unless
  /// it is the default of 60 s.
  public let requestTimeout: TimeInterval
  /// Seconds after which a load times out, regardless of progress.
  public let resourceTimeout: TimeInterval
  /// The limits for stored cookies, and for the message heads that the installation's own transport accepts.
  public let limits: MessageLimits

  /// Makes the context of a session with the given configuration.
  public init(_ configuration: URLSessionConfiguration, limits: MessageLimits = MessageLimits()) {
    self.limits = limits
    cookieStorage = configuration.httpCookieStorage
    sendsCookies = configuration.httpShouldSetCookies
    cookieAcceptPolicy = configuration.httpCookieAcceptPolicy
    credentialStorage = configuration.urlCredentialStorage
    additionalFields = Dictionary(
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
    additionalFields = [:]
    cachePolicy = .useProtocolCachePolicy
    requestTimeout = Self.defaultRequestTimeout
    resourceTimeout = 7 * 24 * 60 * 60
  }

  /// Whether both contexts have the same settings.
  func hasSameSettings(as other: LoadContext) -> Bool {
    cookieStorage === other.cookieStorage && sendsCookies == other.sendsCookies
      && cookieAcceptPolicy == other.cookieAcceptPolicy
      && credentialStorage === other.credentialStorage && additionalFields == other.additionalFields
      && cachePolicy == other.cachePolicy && requestTimeout == other.requestTimeout
      && resourceTimeout == other.resourceTimeout
  }

  /// The default of `URLRequest.timeoutInterval`, in seconds.
  static let defaultRequestTimeout: TimeInterval = 60

  /// Returns a field's name in the letter case of the session's configuration, which the loading system changes.
  func spelling(of name: String, with value: String) -> String {
    guard !additionalFields.isEmpty, additionalFields[name] == nil else { return name }
    let lowercased = name.lowercased()
    return additionalFields.first { $0.value == value && $0.key.lowercased() == lowercased }?.key ?? name
  }
}

/// Limits for the heads, trailers and cookies of a message: a server decides what it sends, and the limits decide what
/// is accepted.
///
/// ```swift
/// var limits = MessageLimits()
/// limits.fieldCount = 200
/// let registry = InterceptorRegistry(limits: limits) { AddLanguage() }
/// ```
///
/// A response over a limit fails its load, and a response whose trailers are over a limit fails its body: with a
/// ``TransportError`` of the code `dataLengthExceedsMaximum`, and beneath it a ``WaylayError`` of the code
/// `WaylayError.limitExceeded` that names the limit. A request over a limit is not sent, and fails with
/// `WaylayError.limitExceeded`. Cookies over their limits are not stored, as RFC 6265, section 6.1, allows; a
/// line at `.warning` reports it.
///
/// A registry passes its limits to the transports that it makes; your own transport takes them in its options. libcurl
/// has further limits that cannot be raised: 100 KiB for one field and, since 8.3, 300 KiB for a head. Exceeding them
/// fails a load in the same way.
public struct MessageLimits: Sendable, Hashable {
  /// The maximum number of field lines in one head, or in the trailers of one body. A folded field counts once for each
  /// line. Default: 2 000. Clamped to 1…65 534, the most that `HTTPFields` holds.
  public var fieldCount = 2_000 {
    didSet { fieldCount = min(max(fieldCount, 1), Self.mostFields) }
  }

  /// The maximum number of bytes in one head, including the status line, or in the trailers of one body. Default: 256
  /// KiB. At least 1.
  public var fieldBytes = 256 * 1024 {
    didSet { fieldBytes = max(fieldBytes, 1) }
  }

  /// The maximum number of interim responses (1xx; RFC 9110, section 15.2) before the final one; together they may have
  /// as many bytes as one head. Default: 50. At least 0.
  public var interimResponseCount = 50 {
    didSet { interimResponseCount = max(interimResponseCount, 0) }
  }

  /// The maximum number of cookies that one response may set, and that are stored for one host; further ones are
  /// ignored. Default: 180, as in browsers. At least 0.
  public var cookieCount = 180 {
    didSet { cookieCount = max(cookieCount, 0) }
  }

  /// The maximum number of bytes of a cookie's name and value together; larger cookies are ignored. Default: 4 096, the
  /// minimum that RFC 6265, section 6.1, requires. At least 0.
  public var cookieBytes = 4096 {
    didSet { cookieBytes = max(cookieBytes, 0) }
  }

  /// Makes the default limits.
  public init() {}

  /// The maximum that `HTTPFields` holds; one more field traps.
  package static let mostFields = Int(UInt16.max) - 1
}

extension MessageLimits {
  /// One of the limits, with how an error names it.
  enum Limit: String {
    case fieldCount
    case fieldBytes
    case interimResponseCount
  }

  /// Returns the error for a response that exceeds a limit.
  ///
  /// - Parameter what: The limited part of the message, with which the text of the error begins.
  func excess(_ limit: Limit, of what: String) -> TransportError {
    let error = WaylayError(.limitExceeded, text(limit, of: what))
    return TransportError(.dataLengthExceedsMaximum, phase: .receiving, message: error.message, underlying: error)
  }

  /// The text of that error.
  func text(_ limit: Limit, of what: String) -> String {
    let most =
      switch limit {
      case .fieldCount: "\(fieldCount) field lines"
      case .fieldBytes: "\(fieldBytes) bytes"
      case .interimResponseCount: "\(interimResponseCount) interim responses"
      }
    return
      "\(what) has more than the \(most) that MessageLimits.\(limit.rawValue) allows: send less, or raise the limit."
  }

  /// Throws if the number or the size of a message's fields exceeds its limit.
  package func check(count: Int, bytes: Int, of what: @autoclosure () -> String) throws(TransportError) {
    guard count <= fieldCount else { throw excess(.fieldCount, of: what()) }
    guard bytes <= fieldBytes else { throw excess(.fieldBytes, of: what()) }
  }
}
