#if canImport(Darwin) || WAYLAY_APPLE_MODEL
  package import Foundation
  package import Logging

  /// What puts requests on the wire when a registry was given no transport.
  package enum PlatformTransport {
    package static func make(
      _ configuration: URLSessionConfiguration, limits: MessageLimits = MessageLimits(), logger: Logger?
    ) -> any Transport {
      URLSessionTransport(configuration: configuration, limits: limits)
    }
  }
#endif
