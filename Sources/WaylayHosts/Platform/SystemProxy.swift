import Foundation

#if canImport(Darwin)
  import CFNetwork
#endif

/// The proxies that the system has for URLs.
enum SystemProxy {
  #if canImport(Darwin)
    /// Whether the system's settings name a proxy, or a script that may name one.
    /// https://developer.apple.com/documentation/cfnetwork/cfnetworkcopyproxiesforurl(_:_:)
    static func isSet(for url: URL) -> Bool {
      guard let settings = CFNetworkCopySystemProxySettings()?.takeRetainedValue() else { return false }
      let proxies = CFNetworkCopyProxiesForURL(url as CFURL, settings).takeRetainedValue() as? [[String: Any]] ?? []
      return proxies.contains { $0[kCFProxyTypeKey as String] as? String != kCFProxyTypeNone as String }
    }
  #else
    /// Whether the environment names a proxy, as libcurl reads it (https://curl.se/libcurl/c/libcurl-env.html).
    static func isSet(
      for url: URL, _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Bool {
      let scheme = url.scheme?.lowercased() ?? ""
      // Ignore HTTP_PROXY: a CGI program finds the request's field `Proxy` in this variable.
      let names = ["\(scheme)_proxy", scheme == "http" ? "" : "\(scheme.uppercased())_PROXY", "all_proxy", "ALL_PROXY"]
      guard names.lazy.compactMap({ environment[$0] }).first(where: { !$0.isEmpty }) != nil else { return false }
      let host = url.host?.lowercased() ?? ""
      let exceptions = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
      return !exceptions.lowercased().split(whereSeparator: { ", ".contains($0) }).contains { name in
        let name = name.drop { $0 == "." }
        return name == "*" || host == name || host.hasSuffix(".\(name)")
      }
    }
  #endif
}
