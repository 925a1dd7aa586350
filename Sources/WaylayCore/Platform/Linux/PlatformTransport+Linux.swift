#if canImport(FoundationNetworking)
  import Foundation
  public import Logging

  /// The default transport of a registry.
  public enum PlatformTransport {
    private static let hasWarned = Locked(false)

    /// Makes a libcurl transport, unless libcurl is not found or other protocol classes are to be asked before the
    /// network, which only a session does.
    ///
    /// - Parameters:
    ///   - configuration: The settings of the session that it serves.
    ///   - limits: The limits for messages.
    ///   - logger: Logs when libcurl cannot be used.
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
