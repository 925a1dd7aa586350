import Foundation

extension Inspector {
  /// Numbers about what is kept.
  ///
  /// ```swift
  /// let statistics = inspector.statistics()
  /// for host in statistics.hosts { print(host.name, host.count, host.bytes) }
  /// print(statistics.archiveHits, statistics.slowest.first ?? "")
  /// ```
  ///
  /// - Parameters:
  ///   - query: Which exchanges are counted; all of them by default.
  ///   - slowest: How many of the slowest are listed.
  public func statistics(of query: Query? = nil, slowest: Int = 10) -> Statistics {
    Statistics(matches(query), slowest: max(0, slowest))
  }

  /// Numbers about exchanges.
  public struct Statistics: Sendable, Hashable {
    /// How many there are.
    public private(set) var count = 0
    /// How many are still open.
    public private(set) var open = 0
    /// How many have failed.
    public private(set) var failed = 0
    /// How many an archive has answered.
    public private(set) var archiveHits = 0
    /// How many a mock, or another interceptor, has answered.
    public private(set) var mocked = 0
    /// How many the network has answered.
    public private(set) var fromNetwork = 0
    /// How many went over a connection that was open already, of those of which that is known.
    public private(set) var onKeptConnections = 0
    /// How many went over a connection that was opened for them.
    public private(set) var onNewConnections = 0
    /// Bytes of bodies that were sent.
    public private(set) var bytesSent = 0
    /// Bytes of bodies that were received.
    public private(set) var bytesReceived = 0
    /// How many answers had which status.
    public private(set) var statuses: [Int: Int] = [:]
    /// The hosts, with that of the most exchanges first.
    public private(set) var hosts: [Host] = []
    /// The median of the durations of those that have ended.
    public private(set) var median = Duration.zero
    /// The duration that 19 of 20 of those that have ended did not exceed.
    public private(set) var percentile95 = Duration.zero
    /// Those that took longest, the slowest first.
    public private(set) var slowest: [Exchange] = []

    /// Numbers about the exchanges with one host.
    public struct Host: Sendable, Hashable {
      /// The host.
      public let name: String
      /// How many exchanges there were with it.
      public fileprivate(set) var count = 0
      /// How many of them have failed, or were answered with 400 and more.
      public fileprivate(set) var errors = 0
      /// Bytes of bodies that it has sent.
      public fileprivate(set) var bytes = 0
      /// How long the exchanges with it took, all together.
      public fileprivate(set) var time = Duration.zero
    }

    init(_ exchanges: [KeptExchange], slowest most: Int) {
      var byHost: [ArraySlice<UInt8>: Host] = [:]
      var times: [Double] = []
      for exchange in exchanges {
        add(exchange)
        if exchange.state != .open { times.append(exchange.time) }
        let name = exchange.bytes[exchange.places.host]
        byHost[name, default: Host(name: String(decoding: name, as: UTF8.self).lowercased())].add(exchange)
      }
      times.sort()
      if !times.isEmpty {
        median = .microseconds(Int64(times[(times.count - 1) / 2] * 1000))
        percentile95 = .microseconds(Int64(times[(times.count * 19 + 19) / 20 - 1] * 1000))
      }
      hosts = byHost.values.sorted { ($1.count, $0.name) < ($0.count, $1.name) }
      // Only those are made up that are listed.
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
        if isReused { onKeptConnections += 1 } else { onNewConnections += 1 }
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
