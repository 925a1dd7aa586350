#if canImport(Darwin)
  import Foundation
  import Logging

  /// What puts requests on the wire when a registry was given no transport.
  enum PlatformTransport {
    static func make(_ configuration: URLSessionConfiguration, logger: Logger?) -> any Transport {
      URLSessionTransport(configuration: configuration)
    }
  }
#endif
