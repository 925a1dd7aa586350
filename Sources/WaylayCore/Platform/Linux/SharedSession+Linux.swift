#if canImport(FoundationNetworking)
  import Foundation

  /// The protocol classes of `URLSession.shared`, on Linux: its configuration is live, and `registerClass` comes too late once the session
  /// has been used (P11).
  enum SharedSession {
    private static let lock = Locked(())

    static func insert(_ protocolClass: URLProtocol.Type) {
      change { $0.insert(protocolClass, at: 0) }
    }

    static func remove(_ protocolClass: URLProtocol.Type) {
      change { $0.removeAll { $0 == protocolClass } }
    }

    private static func change(_ change: (inout [AnyClass]) -> Void) {
      lock.withLock { _ in
        let configuration = URLSession.shared.configuration
        var classes = configuration.protocolClasses ?? []
        change(&classes)
        configuration.protocolClasses = classes
      }
    }
  }
#endif
