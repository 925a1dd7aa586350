import Foundation

extension Inspector {
  /// Returns statistics about the kept exchanges.
  ///
  /// ```swift
  /// let statistics = inspector.statistics()
  /// for host in statistics.hosts { print(host.name, host.count, host.bytes) }
  /// print(statistics.archiveHits, statistics.slowest.first ?? "")
  /// ```
  ///
  /// - Parameters:
  ///   - slowest: The number of slowest exchanges to list.
  ///   - isIncluded: Returns whether to count an exchange. Default: all of them.
  public func statistics(slowest: Int = 10, where isIncluded: ((Exchange) -> Bool)? = nil) -> Statistics {
    Statistics(kept(where: isIncluded), slowest: max(0, slowest))
  }

  /// Statistics about exchanges.
  public struct Statistics: Sendable, Hashable {
    /// The number of exchanges.
    public private(set) var count = 0
    /// The number of open exchanges.
    public private(set) var open = 0
    /// The number of failed exchanges.
    public private(set) var failed = 0
    /// The number of exchanges whose response came from an archive.
    public private(set) var archiveHits = 0
    /// The number of exchanges whose response came from a mock or another interceptor.
    public private(set) var mocked = 0
    /// The number of exchanges whose response came from the network.
    public private(set) var fromNetwork = 0
    /// The number of exchanges on reused connections, as far as known.
    public private(set) var reusedConnections = 0
    /// The number of exchanges on new connections.
    public private(set) var newConnections = 0
    /// The number of body bytes sent.
    public private(set) var bytesSent = 0
    /// The number of body bytes received.
    public private(set) var bytesReceived = 0
    /// The number of responses by status.
    public private(set) var statuses: [Int: Int] = [:]
    /// The hosts, those with the most exchanges first.
    public private(set) var hosts: [Host] = []
    /// The median duration of the exchanges that have ended.
    public private(set) var median = Duration.zero
    /// The duration that 19 of 20 exchanges that have ended did not exceed.
    public private(set) var percentile95 = Duration.zero
    /// The slowest exchanges, the slowest first.
    public private(set) var slowest: [Exchange] = []

    /// Statistics about the exchanges with one host.
    public struct Host: Sendable, Hashable {
      /// The host.
      public let name: String
      /// The number of exchanges with the host.
      public fileprivate(set) var count = 0
      /// The number of exchanges that failed, or had a status of 400 or more.
      public fileprivate(set) var errors = 0
      /// The number of body bytes that the host has sent.
      public fileprivate(set) var bytes = 0
      /// The total duration of the exchanges with the host.
      public fileprivate(set) var time = Duration.zero
    }

    init(_ exchanges: [KeptExchange], slowest most: Int) {
      var byHost: [ArraySlice<UInt8>: Host] = [:]
      var times: [Double] = []
      for exchange in exchanges {
        add(exchange)
        if exchange.state != .open { times.append(exchange.time) }
        let name = exchange.bytes[exchange.host]
        byHost[name, default: Host(name: String(decoding: name, as: UTF8.self).lowercased())].add(exchange)
      }
      times.sort()
      if !times.isEmpty {
        median = .microseconds(Int64(times[(times.count - 1) / 2] * 1000))
        percentile95 = .microseconds(Int64(times[(times.count * 19 + 19) / 20 - 1] * 1000))
      }
      hosts = byHost.values.sorted { ($1.count, $0.name) < ($0.count, $1.name) }
      // Unpack only the listed exchanges.
      let ordered = exchanges.filter { $0.state != .open }.sorted { ($1.time, $0.number) < ($0.time, $1.number) }
      slowest = ordered.prefix(most).map { Exchange($0.entry) }
    }

    private mutating func add(_ exchange: KeptExchange) {
      count += 1
      switch exchange.state {
      case .open: open += 1
      case .failed: failed += 1
      default: break
      }
      switch exchange.source {
      case .network: fromNetwork += 1
      case .archive: archiveHits += 1
      case .mocked: mocked += 1
      default: break
      }
      if let isReused = exchange.isReused {
        if isReused { reusedConnections += 1 } else { newConnections += 1 }
      }
      bytesSent += exchange.requestBody.size
      bytesReceived += exchange.responseBody.size
      if exchange.status != 0 { statuses[exchange.status, default: 0] += 1 }
    }
  }
}

extension Inspector.Statistics.Host {
  fileprivate mutating func add(_ exchange: KeptExchange) {
    count += 1
    if exchange.state == .failed || exchange.status >= 400 { errors += 1 }
    bytes += exchange.responseBody.size
    time += .microseconds(Int64(exchange.time * 1000))
  }
}
