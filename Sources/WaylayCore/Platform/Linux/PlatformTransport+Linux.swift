#if canImport(FoundationNetworking)
  import Foundation
  public import Logging

  /// What puts requests on the wire when a registry was given no transport.
  public enum PlatformTransport {
    private static let hasWarned = Locked(false)

    /// libcurl, unless it cannot be found or other protocol classes are to be asked before the network, which only a
    /// session does.
    ///
    /// - Parameters:
    ///   - configuration: Settings of the session that it stands for.
    ///   - limits: How large messages may be.
    ///   - logger: Told when libcurl cannot be used.
    public static func make(
      _ configuration: URLSessionConfiguration, limits: MessageLimits = MessageLimits(), logger: Logger?
    ) -> any Transport {
      if configuration.hasForeignProtocolClasses {
        return URLSessionTransport(configuration: configuration, limits: limits)
      }
      guard let reason = CurlTransport.unavailableReason else {
        var options = CurlTransport.Options()
        options.limits = limits
        return CurlTransport(configuration: configuration, options: options)
      }
      if let logger {
        let isFirst = hasWarned.withLock { hasWarned in
          defer { hasWarned = true }
          return !hasWarned
        }
        if isFirst { logger.warning("libcurl cannot be used, so requests go through URLSession: \(reason)") }
      }
      return URLSessionTransport(configuration: configuration, limits: limits)
    }

    /// Has a transport let go of what it keeps for the next load, because none is expected; one that comes all the same
    /// is served.
    static func rest(_ transport: (any Transport)?) {
      (transport as? CurlTransport)?.rest()
    }
  }
#endif
