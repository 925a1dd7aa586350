// MARK: Requests, responses, cookies, credentials (NSURLRequest.h, NSURLResponse.h, NSHTTPCookie.h, NSURLCredential.h, …)

/// https://developer.apple.com/documentation/foundation/urlrequest
public struct URLRequest: Hashable, Sendable, CustomStringConvertible {
  public typealias CachePolicy = NSURLRequest.CachePolicy
  public typealias NetworkServiceType = NSURLRequest.NetworkServiceType
  public typealias Attribution = NSURLRequest.Attribution

  public init(url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60.0) { fatalError() }
  public var url: URL?
  public var cachePolicy: CachePolicy
  public var timeoutInterval: TimeInterval
  public var mainDocumentURL: URL?
  public var networkServiceType: NetworkServiceType
  public var allowsCellularAccess: Bool
  /// macOS 10.15, iOS 13.
  public var allowsExpensiveNetworkAccess: Bool
  public var allowsConstrainedNetworkAccess: Bool
  /// macOS 11.3, iOS 14.5.
  public var assumesHTTP3Capable: Bool
  /// https://developer.apple.com/documentation/foundation/urlrequest/attribution-swift.property: macOS 12.0, iOS 15.0
  public var attribution: Attribution
  /// https://developer.apple.com/documentation/foundation/urlrequest/requiresdnssecvalidation
  @available(macOS 13.1, iOS 16.1, watchOS 9.1, tvOS 16.1, visionOS 1.0, *)
  public var requiresDNSSECValidation: Bool {
    get { fatalError() }
    set { fatalError() }
  }
  /// https://developer.apple.com/documentation/foundation/urlrequest/cookiepartitionidentifier
  @available(macOS 15.2, iOS 18.2, watchOS 11.2, tvOS 18.2, visionOS 2.2, *)
  public var cookiePartitionIdentifier: String? {
    get { fatalError() }
    set { fatalError() }
  }
  public var httpMethod: String?
  public var allHTTPHeaderFields: [String: String]?
  public func value(forHTTPHeaderField field: String) -> String? { fatalError() }
  public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) { fatalError() }
  public mutating func addValue(_ value: String, forHTTPHeaderField field: String) { fatalError() }
  public var httpBody: Data?
  public var httpBodyStream: InputStream? {
    get { fatalError() }
    set { fatalError() }
  }
  public var httpShouldHandleCookies: Bool
  public var httpShouldUsePipelining: Bool
  public var description: String { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/nsurlrequest
open class NSURLRequest: NSObject, NSCopying {
  public enum CachePolicy: UInt, Sendable {
    case useProtocolCachePolicy = 0
    case reloadIgnoringLocalCacheData = 1
    case returnCacheDataElseLoad = 2
    case returnCacheDataDontLoad = 3
    case reloadIgnoringLocalAndRemoteCacheData = 4
    case reloadRevalidatingCacheData = 5
    public static var reloadIgnoringCacheData: CachePolicy { fatalError() }
  }
  public enum NetworkServiceType: UInt, Sendable {
    case `default` = 0, video = 2, background = 3, voice = 4, responsiveData = 6, avStreaming = 8, responsiveAV = 9, callSignaling = 11
  }
  public enum Attribution: UInt, Sendable { case developer, user }
  open func copy(with zone: NSZone?) -> Any { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/nsmutableurlrequest
open class NSMutableURLRequest: NSURLRequest {
  public init(url URL: URL) { fatalError() }
}

// `URLRequest` is bridged to `NSURLRequest`, by `as` both ways. https://developer.apple.com/documentation/foundation/nsurlrequest
extension URLRequest: _ObjectiveCBridgeable {
  public func _bridgeToObjectiveC() -> NSURLRequest { fatalError() }
  public static func _forceBridgeFromObjectiveC(_ source: NSURLRequest, result: inout URLRequest?) { fatalError() }
  public static func _conditionallyBridgeFromObjectiveC(_ source: NSURLRequest, result: inout URLRequest?) -> Bool { fatalError() }
  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSURLRequest?) -> URLRequest { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/urlresponse
open class URLResponse: NSObject, NSCopying, @unchecked Sendable {
  public init(url URL: URL, mimeType MIMEType: String?, expectedContentLength length: Int, textEncodingName name: String?) { fatalError() }
  open var url: URL? { fatalError() }
  open var mimeType: String? { fatalError() }
  open var expectedContentLength: Int64 { fatalError() }
  open var textEncodingName: String? { fatalError() }
  open var suggestedFilename: String? { fatalError() }
  open func copy(with zone: NSZone?) -> Any { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/httpurlresponse
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
  public init?(url: URL, statusCode: Int, httpVersion HTTPVersion: String?, headerFields: [String: String]?) { fatalError() }
  open var statusCode: Int { fatalError() }
  open var allHeaderFields: [AnyHashable: Any] { fatalError() }
  open func value(forHTTPHeaderField field: String) -> String? { fatalError() }
  open class func localizedString(forStatusCode statusCode: Int) -> String { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/cachedurlresponse
open class CachedURLResponse: NSObject, NSCopying {
  public init(response: URLResponse, data: Data) { fatalError() }
  open func copy(with zone: NSZone?) -> Any { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/urlcache
open class URLCache: NSObject, @unchecked Sendable {
  /// https://developer.apple.com/documentation/foundation/urlcache/storagepolicy
  public enum StoragePolicy: UInt, Sendable { case allowed, allowedInMemoryOnly, notAllowed }
  open class var shared: URLCache {
    get { fatalError() }
    set { fatalError() }
  }
}

/// https://developer.apple.com/documentation/foundation/httpcookiepropertykey
public struct HTTPCookiePropertyKey: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { fatalError() }
  public init(_ rawValue: String) { fatalError() }
  public static let name = HTTPCookiePropertyKey("")
  public static let value = HTTPCookiePropertyKey("")
  public static let originURL = HTTPCookiePropertyKey("")
  public static let version = HTTPCookiePropertyKey("")
  public static let domain = HTTPCookiePropertyKey("")
  public static let path = HTTPCookiePropertyKey("")
  public static let secure = HTTPCookiePropertyKey("")
  public static let expires = HTTPCookiePropertyKey("")
  public static let comment = HTTPCookiePropertyKey("")
  public static let commentURL = HTTPCookiePropertyKey("")
  public static let discard = HTTPCookiePropertyKey("")
  public static let maximumAge = HTTPCookiePropertyKey("")
  public static let port = HTTPCookiePropertyKey("")
  public static let sameSitePolicy = HTTPCookiePropertyKey("")
}

/// https://developer.apple.com/documentation/foundation/httpcookie
open class HTTPCookie: NSObject, @unchecked Sendable {
  /// https://developer.apple.com/documentation/foundation/httpcookie/acceptpolicy
  public enum AcceptPolicy: UInt, Sendable { case always, never, onlyFromMainDocumentDomain }
  public init?(properties: [HTTPCookiePropertyKey: Any]) { fatalError() }
  open class func requestHeaderFields(with cookies: [HTTPCookie]) -> [String: String] { fatalError() }
  open class func cookies(withResponseHeaderFields headerFields: [String: String], for URL: URL) -> [HTTPCookie] { fatalError() }
  open var properties: [HTTPCookiePropertyKey: Any]? { fatalError() }
  open var name: String { fatalError() }
  open var value: String { fatalError() }
  open var expiresDate: Date? { fatalError() }
  open var isSessionOnly: Bool { fatalError() }
  open var domain: String { fatalError() }
  open var path: String { fatalError() }
  open var isSecure: Bool { fatalError() }
  open var isHTTPOnly: Bool { fatalError() }
  open var version: Int { fatalError() }
}

/// "thread safe" by its page. https://developer.apple.com/documentation/foundation/httpcookiestorage
open class HTTPCookieStorage: NSObject, @unchecked Sendable {
  open class var shared: HTTPCookieStorage { fatalError() }
  open var cookies: [HTTPCookie]? { fatalError() }
  open func setCookie(_ cookie: HTTPCookie) { fatalError() }
  open func deleteCookie(_ cookie: HTTPCookie) { fatalError() }
  open func cookies(for URL: URL) -> [HTTPCookie]? { fatalError() }
  open func setCookies(_ cookies: [HTTPCookie], for URL: URL?, mainDocumentURL: URL?) { fatalError() }
  open var cookieAcceptPolicy: HTTPCookie.AcceptPolicy {
    get { fatalError() }
    set { fatalError() }
  }
}

/// https://developer.apple.com/documentation/foundation/urlcredential
open class URLCredential: NSObject, NSCopying, @unchecked Sendable {
  /// https://developer.apple.com/documentation/foundation/urlcredential/persistence-swift.enum
  public enum Persistence: UInt, Sendable { case none, forSession, permanent, synchronizable }
  public init(user: String, password: String, persistence: Persistence) { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlcredential/init(identity:certificates:persistence:)
  public convenience init(identity: SecIdentity, certificates certArray: [Any]?, persistence: Persistence) { fatalError() }
  open var persistence: Persistence { fatalError() }
  open var user: String? { fatalError() }
  open var password: String? { fatalError() }
  open var hasPassword: Bool { fatalError() }
  open func copy(with zone: NSZone?) -> Any { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/urlcredentialstorage
open class URLCredentialStorage: NSObject, @unchecked Sendable {
  open class var shared: URLCredentialStorage { fatalError() }
  open func credentials(for space: URLProtectionSpace) -> [String: URLCredential]? { fatalError() }
  open var allCredentials: [URLProtectionSpace: [String: URLCredential]] { fatalError() }
  open func set(_ credential: URLCredential, for space: URLProtectionSpace) { fatalError() }
  open func remove(_ credential: URLCredential, for space: URLProtectionSpace) { fatalError() }
  open func defaultCredential(for space: URLProtectionSpace) -> URLCredential? { fatalError() }
  open func setDefaultCredential(_ credential: URLCredential, for space: URLProtectionSpace) { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/nsurlprotectionspacehttp
public let NSURLProtectionSpaceHTTP = ""
public let NSURLProtectionSpaceHTTPS = ""
/// https://developer.apple.com/documentation/foundation/nsurlauthenticationmethoddefault
public let NSURLAuthenticationMethodDefault = ""
public let NSURLAuthenticationMethodHTTPBasic = ""
public let NSURLAuthenticationMethodHTTPDigest = ""
public let NSURLAuthenticationMethodServerTrust = ""
public let NSURLAuthenticationMethodClientCertificate = ""

/// https://developer.apple.com/documentation/foundation/urlprotectionspace
open class URLProtectionSpace: NSObject, NSCopying, @unchecked Sendable {
  /// https://developer.apple.com/documentation/foundation/urlprotectionspace/servertrust
  open var serverTrust: SecTrust? { fatalError() }
  public init(
    host: String, port: Int, protocol: String?, realm: String?, authenticationMethod: String?
  ) { fatalError() }
  open var host: String { fatalError() }
  open var port: Int { fatalError() }
  open var `protocol`: String? { fatalError() }
  open var realm: String? { fatalError() }
  open var authenticationMethod: String { fatalError() }
  open func isProxy() -> Bool { fatalError() }
  open func copy(with zone: NSZone?) -> Any { fatalError() }
}

/// The last two are optional in Objective-C, and their calls too. https://developer.apple.com/documentation/foundation/urlauthenticationchallengesender
public protocol URLAuthenticationChallengeSender: NSObjectProtocol {
  func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge)
  func continueWithoutCredential(for challenge: URLAuthenticationChallenge)
  func cancel(_ challenge: URLAuthenticationChallenge)
  func performDefaultHandling(for challenge: URLAuthenticationChallenge)
  func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge)
}

/// https://developer.apple.com/documentation/foundation/urlauthenticationchallenge
open class URLAuthenticationChallenge: NSObject, @unchecked Sendable {
  public init(
    protectionSpace space: URLProtectionSpace, proposedCredential credential: URLCredential?, previousFailureCount: Int,
    failureResponse response: URLResponse?, error: (any Error)?, sender: any URLAuthenticationChallengeSender
  ) { fatalError() }
  public init(authenticationChallenge challenge: URLAuthenticationChallenge, sender: any URLAuthenticationChallengeSender) { fatalError() }
  open var protectionSpace: URLProtectionSpace { fatalError() }
  open var proposedCredential: URLCredential? { fatalError() }
  open var previousFailureCount: Int { fatalError() }
  open var failureResponse: URLResponse? { fatalError() }
  open var error: (any Error)? { fatalError() }
  open var sender: (any URLAuthenticationChallengeSender)? { fatalError() }
}
