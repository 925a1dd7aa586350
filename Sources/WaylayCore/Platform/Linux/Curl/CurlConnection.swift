#if canImport(FoundationNetworking)
  /// A connection, as far as the loop has to know it.
  ///
  /// Unchecked, as its table: touched on the loop's thread only.
  final class CurlConnection: @unchecked Sendable {
    /// When something of a request or a response was on it last.
    var lastActivity = ContinuousClock.now
  }

  /// The connections of a loop, by our end's port.
  final class CurlConnections: @unchecked Sendable {
    private var known: [Int32: CurlConnection] = [:]

    var ports: Set<Int32> { Set(known.keys) }

    /// The connection that begins at a port; one of its own where libcurl does not say which.
    func connection(from port: Int32) -> CurlConnection {
      guard port > 0 else { return CurlConnection() }
      let connection = known[port] ?? CurlConnection()
      known[port] = connection
      return connection
    }
  }
#endif
