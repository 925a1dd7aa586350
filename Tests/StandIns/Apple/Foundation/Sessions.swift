// MARK: Sessions (NSURLSession.h)

/// https://developer.apple.com/documentation/foundation/urlsession
open class URLSession: NSObject, @unchecked Sendable {
  /// https://developer.apple.com/documentation/foundation/urlsession/authchallengedisposition
  public enum AuthChallengeDisposition: Int, Sendable {
    case useCredential, performDefaultHandling, cancelAuthenticationChallenge, rejectProtectionSpace
  }
  /// https://developer.apple.com/documentation/foundation/urlsession/responsedisposition
  public enum ResponseDisposition: Int, Sendable { case cancel, allow, becomeDownload, becomeStream }
  /// https://developer.apple.com/documentation/foundation/urlsession/delayedrequestdisposition
  public enum DelayedRequestDisposition: Int, Sendable { case continueLoading, useNewRequest, cancel }

  open class var shared: URLSession { fatalError() }
  public init(configuration: URLSessionConfiguration) { fatalError() }
  public init(configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue queue: OperationQueue?) {
    fatalError()
  }
  open var delegateQueue: OperationQueue { fatalError() }
  open var delegate: (any URLSessionDelegate)? { fatalError() }
  open var configuration: URLSessionConfiguration { fatalError() }
  open func finishTasksAndInvalidate() { fatalError() }
  open func invalidateAndCancel() { fatalError() }
  open func dataTask(with request: URLRequest) -> URLSessionDataTask { fatalError() }
  open func dataTask(with url: URL) -> URLSessionDataTask { fatalError() }
  open func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask { fatalError() }
  open func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask { fatalError() }
  open func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask { fatalError() }
  open func downloadTask(with request: URLRequest) -> URLSessionDownloadTask { fatalError() }
  open func downloadTask(with url: URL) -> URLSessionDownloadTask { fatalError() }

  // The asynchronous twins: macOS 12, iOS 15. https://developer.apple.com/documentation/foundation/urlsession/data(for:delegate:)
  public func data(
    for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (Data, URLResponse) { fatalError() }
  public func data(from url: URL, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> (Data, URLResponse) { fatalError() }
  public func upload(
    for request: URLRequest, from bodyData: Data, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (Data, URLResponse) { fatalError() }
  // Without a delegate they are declared once more.
  public func data(for request: URLRequest) async throws -> (Data, URLResponse) { fatalError() }
  public func data(from url: URL) async throws -> (Data, URLResponse) { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/urlsessiontask
open class URLSessionTask: NSObject, NSCopying, @unchecked Sendable {
  /// https://developer.apple.com/documentation/foundation/urlsessiontask/state-swift.enum
  public enum State: Int, Sendable { case running, suspended, canceling, completed }
  override init() { fatalError() }
  open var taskIdentifier: Int { fatalError() }
  open var originalRequest: URLRequest? { fatalError() }
  open var currentRequest: URLRequest? { fatalError() }
  open var response: URLResponse? { fatalError() }
  /// macOS 12, iOS 15. https://developer.apple.com/documentation/foundation/urlsessiontask/delegate
  open var delegate: (any URLSessionTaskDelegate)? {
    get { fatalError() }
    set { fatalError() }
  }
  open var countOfBytesReceived: Int64 { fatalError() }
  open var countOfBytesSent: Int64 { fatalError() }
  /// https://developer.apple.com/documentation/foundation/urlsessiontask/countofbytesexpectedtosend
  open var countOfBytesExpectedToSend: Int64 { fatalError() }
  open func cancel() { fatalError() }
  open var state: State { fatalError() }
  open var error: (any Error)? { fatalError() }
  open func suspend() { fatalError() }
  open func resume() { fatalError() }
  open var priority: Float {
    get { fatalError() }
    set { fatalError() }
  }
  open func copy(with zone: NSZone?) -> Any { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/urlsessiondatatask
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
/// https://developer.apple.com/documentation/foundation/urlsessionuploadtask
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {
  /// https://developer.apple.com/documentation/foundation/urlsessionuploadtask/cancelbyproducingresumedata(completionhandler:)
  @available(macOS 14.0, iOS 17.0, watchOS 10.0, tvOS 17.0, *)
  open func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) { fatalError() }
}
/// https://developer.apple.com/documentation/foundation/urlsessiondownloadtask
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {}
/// macOS 10.15, iOS 13. https://developer.apple.com/documentation/foundation/urlsessionwebsockettask
open class URLSessionWebSocketTask: URLSessionTask, @unchecked Sendable {}

/// https://developer.apple.com/documentation/foundation/urlsessionconfiguration
open class URLSessionConfiguration: NSObject, NSCopying, @unchecked Sendable {
  open class var `default`: URLSessionConfiguration { fatalError() }
  open class var ephemeral: URLSessionConfiguration { fatalError() }
  /// macOS 10.10, iOS 8.
  open class func background(withIdentifier identifier: String) -> URLSessionConfiguration { fatalError() }
  override init() { fatalError() }
  open var identifier: String? { fatalError() }
  open var requestCachePolicy: NSURLRequest.CachePolicy {
    get { fatalError() }
    set { fatalError() }
  }
  open var timeoutIntervalForRequest: TimeInterval {
    get { fatalError() }
    set { fatalError() }
  }
  open var timeoutIntervalForResource: TimeInterval {
    get { fatalError() }
    set { fatalError() }
  }
  open var waitsForConnectivity: Bool {
    get { fatalError() }
    set { fatalError() }
  }
  open var connectionProxyDictionary: [AnyHashable: Any]? {
    get { fatalError() }
    set { fatalError() }
  }
  open var httpShouldUsePipelining: Bool {
    get { fatalError() }
    set { fatalError() }
  }
  open var httpShouldSetCookies: Bool {
    get { fatalError() }
    set { fatalError() }
  }
  open var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy {
    get { fatalError() }
    set { fatalError() }
  }
  open var httpAdditionalHeaders: [AnyHashable: Any]? {
    get { fatalError() }
    set { fatalError() }
  }
  open var httpMaximumConnectionsPerHost: Int {
    get { fatalError() }
    set { fatalError() }
  }
  open var httpCookieStorage: HTTPCookieStorage? {
    get { fatalError() }
    set { fatalError() }
  }
  open var urlCredentialStorage: URLCredentialStorage? {
    get { fatalError() }
    set { fatalError() }
  }
  open var urlCache: URLCache? {
    get { fatalError() }
    set { fatalError() }
  }
  /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/usesclassicloadingmode
  @available(macOS 15.4, iOS 18.4, watchOS 11.4, tvOS 18.4, visionOS 2.4, *)
  open var usesClassicLoadingMode: Bool {
    get { fatalError() }
    set { fatalError() }
  }
  open var protocolClasses: [AnyClass]? {
    get { fatalError() }
    set { fatalError() }
  }
  open func copy(with zone: NSZone?) -> Any { fatalError() }
}

// The delegates' methods are optional in Objective-C, so that one with a wrong signature is only never called. Here those that Waylay's
// delegate has are required, which makes a wrong one an error; the others have a default below.

/// https://developer.apple.com/documentation/foundation/urlsessiondelegate
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
  func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)
  func urlSession(
    _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
}

/// https://developer.apple.com/documentation/foundation/urlsessiontaskdelegate
public protocol URLSessionTaskDelegate: URLSessionDelegate {
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void)
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
  func urlSession(
    _ session: URLSession, task: URLSessionTask, needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void)
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64, totalBytesExpectedToSend: Int64)
  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
  /// https://developer.apple.com/documentation/foundation/urlsessiontaskdelegate/urlsession(_:taskiswaitingforconnectivity:)
  func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)
}

/// https://developer.apple.com/documentation/foundation/urlsessiondatadelegate
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)
  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}
