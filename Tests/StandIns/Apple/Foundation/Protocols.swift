// MARK: Protocols of the loading system (NSURLProtocol.h)

/// Not `Sendable`. The initialiser is a designated one and not `required`: a subclass that writes it says `override`.
/// https://developer.apple.com/documentation/foundation/urlprotocol
open class URLProtocol: NSObject {
  /// https://developer.apple.com/documentation/foundation/urlprotocol/init(request:cachedresponse:client:)
  public init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlprotocol/init(task:cachedresponse:client:)
  public convenience init(task: URLSessionTask, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) { fatalError() }
  @available(*, unavailable)
  public override init() { fatalError() }
  open var client: (any URLProtocolClient)? { fatalError() }
  open var request: URLRequest { fatalError() }
  open var cachedResponse: CachedURLResponse? { fatalError() }
  open class func canInit(with request: URLRequest) -> Bool { fatalError() }
  open class func canonicalRequest(for request: URLRequest) -> URLRequest { fatalError() }
  open class func requestIsCacheEquivalent(_ a: URLRequest, to b: URLRequest) -> Bool { fatalError() }
  open func startLoading() { fatalError() }
  open func stopLoading() { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlprotocol/property(forkey:in:)
  open class func property(forKey key: String, in request: URLRequest) -> Any? { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlprotocol/setproperty(_:forkey:in:)
  open class func setProperty(_ value: Any, forKey key: String, in request: NSMutableURLRequest) { fatalError() }
  open class func removeProperty(forKey key: String, in request: NSMutableURLRequest) { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlprotocol/registerclass(_:)
  @discardableResult open class func registerClass(_ protocolClass: AnyClass) -> Bool { fatalError() }
  open class func unregisterClass(_ protocolClass: AnyClass) { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlprotocol/caninit(with:)-1r0ut: macOS 10.10, iOS 8
  open class func canInit(with task: URLSessionTask) -> Bool { fatalError() }
  open var task: URLSessionTask? { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/urlprotocolclient
public protocol URLProtocolClient: NSObjectProtocol {
  func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse)
  func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse)
  func urlProtocol(_ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy)
  func urlProtocol(_ protocol: URLProtocol, didLoad data: Data)
  func urlProtocolDidFinishLoading(_ protocol: URLProtocol)
  func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error)
  func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge)
  func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge)
}
