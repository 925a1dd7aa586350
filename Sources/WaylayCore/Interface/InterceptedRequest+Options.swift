import Foundation

extension InterceptedRequest {
  /// Settings of a load that are not sent to the server.
  ///
  /// ```swift
  /// var attempt = request
  /// attempt.options.timeout = 5
  /// return try await next(attempt)
  /// ```
  public struct Options: Sendable, Hashable {
    /// Whether a cache may answer, and whether the load may use the network.
    public var cachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
    /// Seconds without progress after which the load times out; `nil` uses the session's timeout. Zero and negative
    /// values mean "never".
    ///
    /// The 60 s that a `URLRequest` reports when nobody has set its timeout count as `nil`.
    public var timeout: TimeInterval?
    /// Whether to send stored cookies and to store those of the response.
    public var handlesCookies = true
    /// The networks the load may use, for transports that can distinguish them.
    public var networkAccess = NetworkAccess.all
    /// The kind of traffic, for transports that prioritize.
    public var serviceType = URLRequest.NetworkServiceType.default
    /// The main document of the load, which determines the rules for third-party cookies.
    public var mainDocumentURL: URL?

    /// Makes the options of a new request.
    public init() {}
  }

  /// The kinds of network that a request may use.
  public struct NetworkAccess: OptionSet, Sendable, Hashable {
    /// The raw bits.
    public let rawValue: Int

    /// Makes a set of the given bits.
    public init(rawValue: Int) {
      self.rawValue = rawValue
    }

    /// A cellular network.
    public static let cellular = NetworkAccess(rawValue: 1 << 0)
    /// An expensive network, such as a personal hotspot. Not known on Linux.
    public static let expensive = NetworkAccess(rawValue: 1 << 1)
    /// A network in Low Data Mode. Not known on Linux.
    public static let constrained = NetworkAccess(rawValue: 1 << 2)
    /// Any network.
    public static let all: NetworkAccess = [.cellular, .expensive, .constrained]
  }
}

extension InterceptedRequest.Options {
  /// What a request of the loading system says.
  init(_ request: URLRequest) {
    cachePolicy = request.cachePolicy
    timeout = Self.timeout(of: request)
    handlesCookies = request.httpShouldHandleCookies
    networkAccess = RequestNetworkAccess.read(from: request)
    serviceType = request.networkServiceType
    mainDocumentURL = request.mainDocumentURL
  }

  /// The timeout that a request of the loading system has been given.
  static func timeout(of request: URLRequest) -> TimeInterval? {
    request.timeoutInterval == LoadContext.defaultRequestTimeout ? nil : request.timeoutInterval
  }

  /// Has a request of the loading system say the same.
  func apply(to request: inout URLRequest) {
    request.cachePolicy = cachePolicy
    request.timeoutInterval = timeout ?? LoadContext.defaultRequestTimeout
    request.httpShouldHandleCookies = handlesCookies
    RequestNetworkAccess.write(networkAccess, to: &request)
    request.networkServiceType = serviceType
    request.mainDocumentURL = mainDocumentURL
  }
}
