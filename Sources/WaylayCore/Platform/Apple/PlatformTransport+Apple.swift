#if canImport(Darwin) || WAYLAY_APPLE_MODEL
  package import Foundation
  package import Logging

  /// What puts requests on the wire when a registry was given no transport.
  package enum PlatformTransport {
    package static func make(_ configuration: URLSessionConfiguration, logger: Logger?) -> any Transport {
      URLSessionTransport(configuration: configuration)
    }
  }
#endif
