package import Foundation
import TestOrigin
package import WaylayCore

/// What tests have to know of the platform they run on: for traits, `.enabled(if: Platform.isLinux, "why")`.
package enum Platform {
  #if canImport(FoundationNetworking)
    /// Whether Foundation is the one of Linux, whose facts some tests pin.
    package static let isLinux = true

    /// Whether there is a `CurlTransport`, which alone has routes and reads heads line by line.
    package static let hasCurl = true

    /// A `CurlTransport`, where there is one.
    package static func curlTransport(
      limits: MessageLimits = MessageLimits(), configuration: URLSessionConfiguration = .ephemeral,
      connectTimeout: TimeInterval? = nil,
      bufferSize: Int? = nil, connectionsPerHost: Int? = nil
    ) -> (any Transport)? {
      var options = CurlTransport.Options()
      options.limits = limits
      options.connectTimeout = connectTimeout ?? options.connectTimeout
      options.bufferSize = bufferSize ?? options.bufferSize
      options.maximumConnectionsPerHost = connectionsPerHost ?? options.maximumConnectionsPerHost
      return CurlTransport(configuration: configuration, options: options)
    }
  #else
    package static let isLinux = false
    package static let hasCurl = false

    package static func curlTransport(
      limits: MessageLimits = MessageLimits(), configuration: URLSessionConfiguration = .ephemeral,
      connectTimeout: TimeInterval? = nil,
      bufferSize: Int? = nil, connectionsPerHost: Int? = nil
    ) -> (any Transport)? { nil }
  #endif

  /// Whether a delegate is told of each chunk by itself and at once. Apple's loading system may put chunks together,
  /// and holds back the beginning of a body, and the head with it, until it knows the body's type.
  package static let deliversEachChunk = isLinux

  /// Whether all of 127.0.0.0/8 is this machine, as on Linux. Apple systems have 127.0.0.1 alone, and dialling another
  /// one hangs.
  package static let hasLoopbackRange = has("127.0.0.2")
  package static let hasIPv6Loopback = has("::1")

  private static func has(_ host: String) -> Bool { (try? ClosedPort(host: host)) != nil }
}
