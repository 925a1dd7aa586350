#if canImport(Darwin) || WAYLAY_APPLE_MODEL
  import Foundation

  // Written from the documentation, type-checked, and not run by this package's own checks, which run on Linux.
  // https://developer.apple.com/documentation/foundation/urlprotocol/registerclass(_:)
  // https://developer.apple.com/documentation/foundation/urlprotocol/unregisterclass(_:)

  /// The protocol classes of `URLSession.shared`, on Apple platforms, where classes are registered for it and asked
  /// last in, first out.
  enum SharedSession {
    /// The configuration that another session gives is a copy.
    static func canChange(_ session: URLSession) -> Bool { session === URLSession.shared }

    static func insert(_ protocolClass: URLProtocol.Type, into session: URLSession) {
      // False for what is no subclass of `URLProtocol`.
      _ = URLProtocol.registerClass(protocolClass)
    }

    static func remove(_ protocolClass: URLProtocol.Type, from session: URLSession) {
      URLProtocol.unregisterClass(protocolClass)
    }
  }
#endif
