import Foundation

extension URLSessionConfiguration {
  /// Returns a copy whose sessions send their requests through the registry's chains.
  ///
  /// ```swift
  /// let session = URLSession(configuration: .default.intercepted(by: registry))
  /// ```
  ///
  /// Each call makes its own installation: two sessions with different registries never interfere, even with equal
  /// requests. `a.intercepted(by: inner).intercepted(by: outer)` nests them: the registry named last owns a request,
  /// and its transport leads through the one before. Protocol classes already in the configuration are still asked
  /// before the network.
  ///
  /// On Linux the copy has no `urlCache`: the loading system there never stores a response, and a lookup costs more
  /// than an interceptor does (platform facts P22, P24).
  ///
  /// Header fields, timeouts, cookie and credential storage are those of the session: set them on the copy, as on any
  /// configuration, before you make the session.
  ///
  /// Background configurations run outside the app's process and cannot be intercepted: on Apple platforms the system
  /// does not ask, and the registry logs an error. On Linux background configurations do not exist.
  public func intercepted(by registry: InterceptorRegistry) -> URLSessionConfiguration {
    let copy = copied
    // The installation keeps the copy itself, so that what is set on it from now on counts.
    let protocolClass = registry.makeProtocolClass(configuration: copy, followsSessions: true)
    copy.protocolClasses = [protocolClass] + (copy.protocolClasses ?? [])
    PlatformClient.adjust(copy)
    return copy
  }
}

extension InterceptorRegistry {
  /// A protocol class for `configuration.protocolClasses`, for code that sets them itself.
  ///
  /// Each read makes an installation with its own class, which uses the registry's own configuration for what the
  /// loading system hides (cookies, additional header fields, timeouts). Prefer `configuration.intercepted(by:)`, which
  /// uses the session's configuration.
  public var protocolClass: URLProtocol.Type {
    makeProtocolClass(configuration: configuration.withLock { $0.copied })
  }

  func makeProtocolClass(
    configuration: URLSessionConfiguration, followsSessions: Bool = false,
    where isOurs: (@Sendable (URLRequest) -> Bool)? = nil
  ) -> URLProtocol.Type {
    let installation = Installation(
      self, configuration: configuration, followsSessions: followsSessions, isOurs: isOurs)
    if configuration.identifier != nil {
      logger?.error("a background session's requests are not intercepted: use a configuration without an identifier")
    }
    let protocolClass = ProtocolClasses.make(for: installation)
    installation.protocolClass.withLock { $0 = protocolClass }
    let isInvalidated = state.withLock { state in
      if !state.isInvalidated { state.installations.append(installation) }
      return state.isInvalidated
    }
    if isInvalidated { installation.invalidate() }
    return protocolClass
  }
}
