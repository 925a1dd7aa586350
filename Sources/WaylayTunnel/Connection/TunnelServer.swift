#if Tunnel
  import NIOCore
  import WaylayCore
  import WaylayHosts

  /// Limits that protect a tunnel from slow, idle or too many clients.
  struct TunnelLimits: Sendable {
    /// The maximum size of a head in bytes.
    var head = 32 << 10
    /// The time limit for a head, including the challenge, and the maximum number of authentication challenges.
    var headTime = TimeAmount.seconds(10)
    var challenges = 3
    /// How long open connections wait for the client's first message before they are closed; they are opened again when
    /// it comes. On ports other than 443, where a server may speak first, the message then goes to one address only.
    var firstFlightTime = TimeAmount.seconds(5)
    /// How long after its handshake a client may still reject the certificate.
    var settleTime = TimeAmount.seconds(2)
    /// The time limit for finding a server.
    var decisionTime = TimeAmount.seconds(60)
    /// The idle limit for one side after the other has ended.
    var halfClosedTime = TimeAmount.seconds(60)
  }

  /// The record of one flow, for observers; it contains no traffic.
  package struct TunnelRecord: Sendable {
    package let host: String
    package let port: Int
    /// The address of the server; `nil` if no connection succeeded.
    package var address: String?
    package var attempts = 0
    package var bytesSent = 0
    package var bytesReceived = 0
    package let start = Date()
    package var duration = Duration.zero
    /// Why no connection succeeded.
    package var failure: String?
  }

  /// A listener and its connections, from one start to one stop.
  final class TunnelServer: Sendable {
    let rewriter: HostRewriter
    let options: HostTunnel.Options
    let limits: TunnelLimits
    let routes: RouteTable
    let records: EventHub<TunnelRecord>
    let network = TunnelNetwork()
    /// 128 random bits, in hexadecimal digits.
    let secret = String.random(bytes: 16)
    let channel = Locked<(any Channel)?>(nil)
    /// The oldest connection first.
    let connections = Locked<[Front]>([])
    /// Open connections and running loads, both of which need the event loop.
    let users = DispatchGroup()

    init(
      _ rewriter: HostRewriter, _ options: HostTunnel.Options, _ limits: TunnelLimits, _ routes: RouteTable,
      _ records: EventHub<TunnelRecord>
    ) {
      (self.rewriter, self.options, self.limits, self.routes, self.records) = (
        rewriter, options, limits, routes, records
      )
    }

    /// The port of the listener; 0 before it listens.
    var port: Int { channel.withLock { $0 }?.localAddress?.port ?? 0 }

    /// Whether the system has closed the listener.
    var isDefunct: Bool { !(channel.withLock { $0 }?.isActive ?? false) }

    func start() async throws {
      do {
        let channel = try await network.listen { channel in
          channel.eventLoop.makeCompletedFuture {
            // Without a free file descriptor, the event loop would spin on `accept`.
            let pause = AcceptBackoffHandler(shouldForwardIOErrorCaught: false) { _ in .milliseconds(100) }
            try channel.pipeline.syncOperations.addHandler(pause)
          }
        } client: { channel in
          channel.eventLoop.makeCompletedFuture {
            let front = Front(self, channel)
            guard self.admit(front, channel) else { throw ChannelError.alreadyClosed }
            try channel.pipeline.syncOperations.addHandler(front)
          }
        }
        self.channel.withLock { $0 = channel }
        rewriter.remember(self)
      } catch {
        try? await network.group.shutdownGracefully()
        throw error
      }
    }

    /// Stops accepting, waits `grace` for open connections, then closes them. All descriptors are closed on return.
    func stop(within grace: Duration) async {
      try? await channel.withLock { $0 }?.close().get()
      let end = network.group.next().scheduleTask(in: TimeAmount(grace)) {
        for front in self.connections.withLock({ $0 }) { front.end() }
      }
      await withCheckedContinuation { continuation in users.notify(queue: .global()) { continuation.resume() } }
      end.cancel()
      try? await network.group.shutdownGracefully()
    }

    /// Whether to accept a connection; at the limit, the oldest unauthenticated connection is closed instead.
    private func admit(_ front: Front, _ channel: any Channel) -> Bool {
      users.enter()
      channel.closeFuture.whenComplete { _ in
        self.connections.withLock { $0.removeAll { $0 === front } }
        self.users.leave()
      }
      let (isIn, stranger) = connections.withLock { connections -> (Bool, Front?) in
        var stranger: Front?
        if connections.count >= options.maximumConnections {
          guard let index = connections.firstIndex(where: { $0.flow == nil }) else { return (false, nil) }
          stranger = connections.remove(at: index)
        }
        connections.append(front)
        return (true, stranger)
      }
      stranger?.end()
      return isIn
    }

    func closeConnections() {
      routes.networkChanged()
      for front in connections.withLock({ $0 }) { front.networkChanged() }
    }
  }

  extension TunnelServer {
    /// The source of addresses that a user name selects; `nil` for a wrong password.
    func way(user: some Collection<UInt8>, password: some Collection<UInt8>) -> Flow.Way? {
      guard password.isSame(as: secret.utf8) else { return nil }
      let user = String(decoding: user, as: UTF8.self)
      return user == HostTunnel.rulesUser ? .rules : routes.endpoint(of: user).map { .route($0) }
    }

    /// The same for an `Authorization` field (RFC 7617).
    func way(_ field: String?) -> Flow.Way? {
      guard let words = field?.split(separator: " "), words.count == 2, words[0].lowercased() == "basic",
        words[1].utf8.count <= 512, let data = Data(base64Encoded: String(words[1]))
      else { return nil }
      let parts = data.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
      return parts.count == 2 ? way(user: parts[0], password: parts[1]) : nil
    }

    /// Why the tunnel refuses a host; `nil` if it is allowed.
    func refusal(of authority: HostAuthority, _ way: Flow.Way) -> Refusal? {
      if case .route(let endpoint) = way {
        return endpoint.authority == authority ? nil : .forbidden("the route is for another host")
      }
      let rule = rewriter.ruleSource.match(authority.host, port: authority.port)
      let ports = [80, 443, rule?.pattern.port] + (rule?.endpoints.map(\.port) ?? [])
      guard ports.contains(authority.port) else {
        let place = rule.map { "the rule for \($0.pattern) does not name it" } ?? "no rule names it"
        return .forbidden("port \(authority.port) is neither 80 nor 443, and \(place)")
      }
      if let rule, !rule.isExclusion { return nil }
      guard options.allowsOtherHosts, rewriter.policy.allowsSystem else {
        return .forbidden("no rule routes \(authority.host), and the tunnel is for routed hosts")
      }
      return nil
    }

    /// Why an address must not be dialed; `nil` if it may.
    func refusal(of address: HostAddress, port: Int, for authority: HostAuthority) -> String? {
      let first = address.bytes.first
      let isOwn =
        port == self.port
        && (address.isIPv6 ? address.bytes.dropLast().allSatisfy { $0 == 0 } : first == 127 || first == 0)
      return isOwn ? "is the tunnel's own" : rewriter.refusal(of: address, for: authority)
    }
  }
#endif
