#if Tunnel
  import NIOCore
  import WaylayCore
  import WaylayHosts

  /// What keeps a tunnel from being held up, or filled, by whoever connects to it.
  struct TunnelLimits: Sendable {
    /// The bytes of a head.
    var head = 32 << 10
    /// How long a head may take, with the challenge before it, and how often a client may be told to log in.
    var headTime = TimeAmount.seconds(10)
    var challenges = 3
    /// How long the first bytes of a client are waited for before they may go to one address alone.
    var firstFlightTime = TimeAmount.seconds(5)
    /// How long a client that has gone on with its handshake may still end it.
    var settleTime = TimeAmount.seconds(2)
    /// How long it may take until something has answered.
    var decisionTime = TimeAmount.seconds(60)
    /// How long one side may be silent after the other has ended.
    var halfClosedTime = TimeAmount.seconds(60)
  }

  /// What was done for a client, for those who watch: never what was said.
  package struct TunnelRecord: Sendable {
    package let host: String
    package let port: Int
    /// The address that was taken; `nil` when none was.
    package var address: String?
    package var attempts = 0
    package var bytesSent = 0
    package var bytesReceived = 0
    package let start = Date()
    package var duration = Duration.zero
    /// Why there was no connection.
    package var failure: String?
  }

  /// A listener and its connections: from one start to one stop.
  final class TunnelServer: Sendable {
    let rewriter: HostRewriter
    let options: HostTunnel.Options
    let limits: TunnelLimits
    let routes: RouteTable
    let records: EventHub<TunnelRecord>
    let network = TunnelNetwork()
    /// 128 random bits, in hexadecimal digits.
    let secret = (0..<16).map { _ in String(format: "%02x", UInt8.random(in: 0 ... .max)) }.joined()
    let channel = Locked<(any Channel)?>(nil)
    /// The oldest first.
    let connections = Locked<[Front]>([])
    /// Connections and decisions, which use the event loop.
    let users = DispatchGroup()

    init(
      _ rewriter: HostRewriter, _ options: HostTunnel.Options, _ limits: TunnelLimits, _ routes: RouteTable,
      _ records: EventHub<TunnelRecord>
    ) {
      (self.rewriter, self.options, self.limits, self.routes, self.records) = (
        rewriter, options, limits, routes, records
      )
    }

    /// Where it listens; 0 before it does.
    var port: Int { channel.withLock { $0 }?.localAddress?.port ?? 0 }

    /// Whether the system has closed the listener.
    var isDefunct: Bool { !(channel.withLock { $0 }?.isActive ?? false) }

    func start() async throws {
      do {
        let channel = try await network.listen { channel in
          channel.eventLoop.makeCompletedFuture {
            // Without a descriptor left, the loop would turn for nothing but to accept.
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

    /// Takes no more connections, gives those that there are so long, and closes them then: no descriptor is left.
    func stop(within grace: Duration) async {
      try? await channel.withLock { $0 }?.close().get()
      let end = network.group.next().scheduleTask(in: TimeAmount(grace)) {
        for front in self.connections.withLock({ $0 }) { front.end() }
      }
      await withCheckedContinuation { continuation in users.notify(queue: .global()) { continuation.resume() } }
      end.cancel()
      try? await network.group.shutdownGracefully()
    }

    /// Whether a connection may be; at the limit the oldest that has not shown the secret makes room.
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

    func closeConnections() { for front in connections.withLock({ $0 }) { front.networkChanged() } }
  }

  extension TunnelServer {
    /// What a user name asks for; `nil` without the secret.
    func way(user: some Collection<UInt8>, password: some Collection<UInt8>) -> Flow.Way? {
      guard password.count == secret.utf8.count,
        zip(password, secret.utf8).reduce(UInt8(0), { $0 | ($1.0 ^ $1.1) }) == 0
      else { return nil }
      let user = String(decoding: user, as: UTF8.self)
      return user == HostTunnel.rulesUser ? .rules : routes.endpoint(of: user).map { .route($0) }
    }

    /// The same for a field of credentials (RFC 7617).
    func way(_ field: String?) -> Flow.Way? {
      guard let words = field?.split(separator: " "), words.count == 2, words[0].lowercased() == "basic",
        words[1].utf8.count <= 512, let data = Data(base64Encoded: String(words[1]))
      else { return nil }
      let parts = data.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
      return parts.count == 2 ? way(user: parts[0], password: parts[1]) : nil
    }

    /// Why a host is not for this tunnel.
    func refusal(of authority: HostAuthority, _ way: Flow.Way) -> Refusal? {
      if case .route(let endpoint) = way {
        return endpoint.authority == authority ? nil : .forbidden("the route is for another host")
      }
      let rule = rewriter.ruleSource.match(authority.host, port: authority.port)
      guard [80, 443].contains(authority.port) || rule?.pattern.port == authority.port else {
        return .forbidden("port \(authority.port) is neither 80 nor 443, and no rule names it")
      }
      if let rule, !rule.isExclusion { return nil }
      guard options.allowsOtherHosts, rewriter.policy.allowsSystem else {
        return .forbidden("no rule routes \(authority.host), and the tunnel is for routed hosts")
      }
      return nil
    }

    /// Why an address must not be dialled.
    func refusal(of address: HostAddress, port: Int, for authority: HostAuthority) -> String? {
      let first = address.bytes.first
      let isOwn =
        port == self.port
        && (address.isIPv6 ? address.bytes.dropLast().allSatisfy { $0 == 0 } : first == 127 || first == 0)
      return isOwn ? "is the tunnel's own" : rewriter.refusal(of: address, for: authority)
    }
  }
#endif
