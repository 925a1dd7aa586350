#if canImport(Darwin) || WAYLAY_APPLE_MODEL
  public import Logging

  #if canImport(Darwin)
    public import Foundation
  #else
    public import FoundationNetworking
  #endif

  /// What puts requests on the wire when a registry was given no transport.
  public enum PlatformTransport {
    /// A session of its own.
    ///
    /// - Parameters:
    ///   - configuration: Settings of the session that it stands for.
    ///   - limits: How large messages may be.
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
