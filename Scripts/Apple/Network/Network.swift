// Stand-ins for what Waylay uses of Network. Each from the page that is named.
public import Foundation

/// https://developer.apple.com/documentation/network/nwendpoint
public enum NWEndpoint: Hashable, Sendable {
  /// https://developer.apple.com/documentation/network/nwendpoint/host
  public enum Host: Hashable, Sendable, ExpressibleByStringLiteral {
    case name(String, Int?)
    public init(_ string: String) { fatalError() }
    public init(stringLiteral: String) { fatalError() }
  }
  /// https://developer.apple.com/documentation/network/nwendpoint/port
  public struct Port: Hashable, Sendable, ExpressibleByIntegerLiteral, RawRepresentable {
    public let rawValue: UInt16
    public init?(rawValue: UInt16) { fatalError() }
    public init(integerLiteral value: UInt16) { fatalError() }
  }
  case hostPort(host: Host, port: Port)
  case url(URL)
}

/// https://developer.apple.com/documentation/network/nwparameters
public final class NWParameters: @unchecked Sendable {
  /// https://developer.apple.com/documentation/network/nwparameters/privacycontext
  @available(macOS 11.0, iOS 14.0, watchOS 7.0, tvOS 14.0, *)
  public final class PrivacyContext: @unchecked Sendable {
    public static let `default` = PrivacyContext()
    init() { fatalError() }
    /// https://developer.apple.com/documentation/network/nwparameters/privacycontext/resolverconfiguration
    public enum ResolverConfiguration: Sendable {
      case https(URL, serverAddresses: [NWEndpoint])
      case tls(NWEndpoint, serverAddresses: [NWEndpoint])
    }
    /// https://developer.apple.com/documentation/network/nwparameters/privacycontext/requireencryptednameresolution(_:fallbackresolver:)
    public func requireEncryptedNameResolution(_ requireEncryption: Bool, fallbackResolver: ResolverConfiguration?) { fatalError() }
  }
}

/// https://developer.apple.com/documentation/network/proxyconfiguration
@available(macOS 14.0, iOS 17.0, watchOS 10.0, tvOS 17.0, *)
public struct ProxyConfiguration: Hashable, Sendable {
  /// https://developer.apple.com/documentation/network/proxyconfiguration/init(httpconnectproxy:tlsoptions:)
  public init(httpCONNECTProxy proxyEndpoint: NWEndpoint) { fatalError() }
  /// https://developer.apple.com/documentation/network/proxyconfiguration/allowfailover
  public var allowFailover: Bool {
    get { fatalError() }
    set { fatalError() }
  }
  /// https://developer.apple.com/documentation/network/proxyconfiguration/applycredential(username:password:)
  public mutating func applyCredential(username: String, password: String) { fatalError() }
}
