// Stand-ins for what Waylay uses of Network. Each from the page that is named.
public import Foundation

/// https://developer.apple.com/documentation/network/nwinterface
public struct NWInterface: Hashable, Sendable {}

/// https://developer.apple.com/documentation/network/ipv4address
public struct IPv4Address: Hashable, Sendable {
  public init?(_ string: String) { fatalError() }
  public static let loopback: IPv4Address = { fatalError() }()
}

/// https://developer.apple.com/documentation/network/ipv6address
public struct IPv6Address: Hashable, Sendable {
  public init?(_ string: String) { fatalError() }
  public static let loopback: IPv6Address = { fatalError() }()
}

/// https://developer.apple.com/documentation/network/nwendpoint
public enum NWEndpoint: Hashable, Sendable {
  /// https://developer.apple.com/documentation/network/nwendpoint/host
  public enum Host: Hashable, Sendable, ExpressibleByStringLiteral {
    case name(String, NWInterface?)
    case ipv4(IPv4Address)
    case ipv6(IPv6Address)
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

/// https://developer.apple.com/documentation/network/nwerror
public enum NWError: Error, Equatable, Sendable {
  case posix(POSIXErrorCode)
  case dns(Int32)
  case tls(Int32)
}

/// https://developer.apple.com/documentation/network/nwprotocoltls/options
public enum NWProtocolTLS {
  public final class Options {
    public init() { fatalError() }
  }
}

/// https://developer.apple.com/documentation/network/nwparameters
public final class NWParameters: @unchecked Sendable {
  public init() { fatalError() }
  /// https://developer.apple.com/documentation/network/nwparameters/requiredlocalendpoint
  public var requiredLocalEndpoint: NWEndpoint? {
    get { fatalError() }
    set { fatalError() }
  }
  /// https://developer.apple.com/documentation/network/nwparameters/acceptlocalonly
  public var acceptLocalOnly: Bool {
    get { fatalError() }
    set { fatalError() }
  }
  /// https://developer.apple.com/documentation/network/nwparameters/prefernoproxies
  public var preferNoProxies: Bool {
    get { fatalError() }
    set { fatalError() }
  }
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

/// Neither `Hashable` nor `Equatable`. https://developer.apple.com/documentation/network/proxyconfiguration
@available(macOS 14.0, iOS 17.0, watchOS 10.0, tvOS 17.0, *)
public struct ProxyConfiguration: CustomDebugStringConvertible, Sendable {
  /// https://developer.apple.com/documentation/network/proxyconfiguration/init(httpconnectproxy:tlsoptions:)
  public init(httpCONNECTProxy proxyEndpoint: NWEndpoint, tlsOptions: NWProtocolTLS.Options? = nil) { fatalError() }
  /// https://developer.apple.com/documentation/network/proxyconfiguration/init(socksv5proxy:)
  public init(socksv5Proxy proxyEndpoint: NWEndpoint) { fatalError() }
  /// False by default. https://developer.apple.com/documentation/network/proxyconfiguration/allowfailover
  public var allowFailover: Bool {
    get { fatalError() }
    set { fatalError() }
  }
  /// https://developer.apple.com/documentation/network/proxyconfiguration/matchdomains
  public var matchDomains: [String] {
    get { fatalError() }
    set { fatalError() }
  }
  /// https://developer.apple.com/documentation/network/proxyconfiguration/excludeddomains
  public var excludedDomains: [String] {
    get { fatalError() }
    set { fatalError() }
  }
  /// https://developer.apple.com/documentation/network/proxyconfiguration/applycredential(username:password:)
  public mutating func applyCredential(username: String, password: String) { fatalError() }
  public var debugDescription: String { fatalError() }
}

/// An extension of Network: a file that does not import it has no such property.
@available(macOS 14.0, iOS 17.0, watchOS 10.0, tvOS 17.0, *)
extension URLSessionConfiguration {
  /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/proxyconfigurations
  public var proxyConfigurations: [ProxyConfiguration] {
    get { fatalError() }
    set { fatalError() }
  }
}
