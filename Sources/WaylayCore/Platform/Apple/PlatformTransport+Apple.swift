#if canImport(Darwin) || WAYLAY_APPLE_MODEL
  package import Logging

  #if canImport(Darwin)
    package import Foundation
  #else
    package import FoundationNetworking
  #endif

  /// What puts requests on the wire when a registry was given no transport.
  package enum PlatformTransport {
    package static func make(
      _ configuration: URLSessionConfiguration, limits: MessageLimits = MessageLimits(), logger: Logger?
    ) -> any Transport {
      URLSessionTransport(configuration: configuration, limits: limits)
    }

    /// The system keeps house by itself.
    static func rest(_ transport: (any Transport)?) {}
  }
#endif
