#if canImport(Darwin) || WAYLAY_APPLE_MODEL
  public import Logging

  #if canImport(Darwin)
    public import Foundation
  #else
    public import FoundationNetworking
  #endif

  /// The default transport of a registry.
  public enum PlatformTransport {
    /// Makes a transport over a separate session.
    ///
    /// - Parameters:
    ///   - configuration: The settings of the session that it serves.
    ///   - limits: The limits for messages.
    ///   - logger: Not used here.
    public static func make(
      _ configuration: URLSessionConfiguration, limits: MessageLimits = MessageLimits(), logger: Logger?
    ) -> any Transport {
      URLSessionTransport(configuration: configuration, limits: limits)
    }

    /// The system keeps house by itself.
    static func rest(_ transport: (any Transport)?) {}
  }
#endif
