public import Foundation
public import WaylayCore

#if canImport(Darwin)
  import Network
#endif

/// Encrypted name resolution by the system, on Apple platforms: DNS over HTTPS (RFC 8484) for the whole process.
///
/// ```swift
/// let service = URL(string: "https://dns.example.net/dns-query")!
/// try SystemDNS.requireEncryption(service, addresses: [HostAddress("192.0.2.53")])
/// ```
///
/// It affects name resolution alone: TLS, proxies and HTTP versions stay those of `URLSession`. It cannot dial
/// addresses of your choice, or a second address if the first one is dead: for that use ``HostRewriter`` with a
/// transport that can dial given addresses.
///
/// Written from Apple's documentation and type-checked; it has not been run on an Apple platform.
public enum SystemDNS {
  #if canImport(Darwin)
    /// Encrypts all name resolution of this process from now on.
    ///
    /// Call it once at launch, before the first connection. It is in force until the process ends. A service that the
    /// user or iCloud Private Relay has configured takes precedence. Web views load in separate processes; whether it
    /// covers them is unknown.
    ///
    /// - Parameters:
    ///   - service: The `https` URL of a DNS service.
    ///   - addresses: The addresses of the service, at least one: otherwise its own name would be looked up in clear.
    /// - Throws: `HostError.invalidRule` if there is no address, or the URL is not an `https` URL with a host.
    public static func requireEncryption(_ service: URL, addresses: [HostAddress]) throws(HostError) {
      guard service.scheme?.lowercased() == "https", let host = service.host, !host.isEmpty else {
        throw HostError(.invalidRule, "the URL of a DNS service needs the scheme https and a host.", host: service.host)
      }
      guard !addresses.isEmpty else {
        throw HostError(
          .invalidRule,
          "\(host) has no address, so its own name would be looked up in clear: give the addresses of the service.",
          host: host)
      }
      // https://developer.apple.com/documentation/network/nwparameters/privacycontext/requireencryptednameresolution(_:fallbackresolver:)
      let port = NWEndpoint.Port(rawValue: UInt16(clamping: service.port ?? 443)) ?? 443
      NWParameters.PrivacyContext.default.requireEncryptedNameResolution(
        true,
        fallbackResolver: .https(
          service, serverAddresses: addresses.map { .hostPort(host: NWEndpoint.Host($0.literal), port: port) }))
    }
  #else
    /// Unavailable on Linux: the system has no such setting.
    @available(
      *, unavailable,
      message: "Linux has no system setting for encrypted name resolution: use HostRewriter with a DoHResolver."
    )
    public static func requireEncryption(_ service: URL, addresses: [HostAddress]) throws(HostError) {}
  #endif
}
