import Foundation

extension InterceptedRequest {
  /// What is said of a load rather than to the server.
  ///
  /// ```swift
  /// var attempt = request
  /// attempt.options.timeout = 5
  /// return try await next(attempt)
  /// ```
  public struct Options: Sendable, Hashable {
    /// What a cache may answer, and whether it may ask.
    public var cachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
    /// Seconds without progress after which the load times out; `nil` for those of its session. Zero and less mean
    /// "never".
    ///
    /// The 60 s that `URLRequest` says when nobody has set it count as `nil`.
    public var timeout: TimeInterval?
    /// Whether stored cookies are sent and those of the response stored.
    public var handlesCookies = true
    /// Which networks it may use, for transports that can tell.
    public var networkAccess = NetworkAccess.all
    /// What it is for, for transports that treat some traffic before other.
    public var serviceType = URLRequest.NetworkServiceType.default
    /// The document that the load is for, which decides about cookies of third parties.
    public var mainDocumentURL: URL?

    /// Makes the options of a fresh request.
    public init() {}
  }

  /// The kinds of network that a request may use.
  public struct NetworkAccess: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: Int

    /// Makes a set of the given bits.
    public init(rawValue: Int) {
      self.rawValue = rawValue
    }

    /// A cellular network.
    public static let cellular = NetworkAccess(rawValue: 1 << 0)
    /// A network that costs, as a personal hotspot does. Not known on Linux.
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
