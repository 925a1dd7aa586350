import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

extension TestOrigin {
  /// Starts a server on a free port of a loopback address.
  ///
  /// One thread is enough for most, and servers share it; a server that asks for several has them to itself.
  public static func start(
    host: String, tls: TLS? = nil, behaviour: Behaviour = .serve, threads: Int = 1
  ) async throws -> TestOrigin {
    try await start(hosts: [host], tls: tls, behaviour: behaviour, threads: threads)
  }

  /// Starts a server on a port that is free on all of several loopback addresses, such as `127.0.0.1`, `127.0.0.2` and
  /// `::1`.
  ///
  /// Apple systems have `127.0.0.1` and `::1` only, unless others were added by hand. A particular port, one that
  /// another server has on other addresses for example, fails when it is taken.
  public static func start(
    hosts: [String] = ["127.0.0.1"], port: Int = 0, tls: TLS? = nil, behaviour: Behaviour = .serve, threads: Int = 1
  ) async throws -> TestOrigin {
    let pipeline = Pipeline(journal: Journal(behaviour), contexts: try tls.map(SecureContexts.init))
    // A thread for each of hundreds of servers would be a thread for each of hundreds of tests.
    let ownGroup = threads > 1 ? MultiThreadedEventLoopGroup(numberOfThreads: threads) : nil
    let listeners = Listeners(
      hosts: hosts, port: port, pipeline: pipeline, group: ownGroup ?? MultiThreadedEventLoopGroup.singleton.next())
    do {
      let port = try await listeners.open()
      return TestOrigin(listeners: listeners, ownGroup: ownGroup, pipeline: pipeline, port: port)
    } catch {
      try? await ownGroup?.shutdownGracefully()
      throw error
    }
  }

  /// Closes the listeners and all connections.
  public func stop() async {
    await listeners.close()
    try? await ownGroup?.shutdownGracefully()
  }

  /// Refuses connections to one address, or to all, from now on. The port stays taken, and what is connected stays so.
  public func stopListening(on host: String? = nil) async throws {
    for host in host.map({ [$0] }) ?? hosts { try await listeners.refuse(host) }
  }

  /// Accepts connections to one address, or to all, again.
  public func resumeListening(on host: String? = nil) async throws {
    for host in host.map({ [$0] }) ?? hosts { try await listeners.accept(host) }
  }
}

/// The sockets of a server: one for each address, all on one port.
actor Listeners {
  nonisolated let hosts: [String]
  private let pipeline: Pipeline
  private let group: any EventLoopGroup
  private var port: Int
  private let isPortGiven: Bool
  private var listening: [String: any Channel] = [:]
  private var refusing: [String: ClosedPort] = [:]
  private let accepted = Accepted()

  init(hosts: [String], port: Int = 0, pipeline: Pipeline, group: any EventLoopGroup) {
    precondition(!hosts.isEmpty && Set(hosts).count == hosts.count, "one or more hosts, each once")
    self.hosts = hosts
    self.port = port
    isPortGiven = port > 0
    self.pipeline = pipeline
    self.group = group
  }

  /// Listens on all addresses, on a port that is free on each. The system picks one that is free on the first; the
  /// others may have it taken.
  func open() async throws -> Int {
    var attempts = 0
    while true {
      attempts += 1
      do {
        for host in hosts { try await listen(host) }
        return port
      } catch {
        await close()
        guard let error = error as? IOError, error.errnoCode == EADDRINUSE, attempts < 100, !isPortGiven else {
          throw error
        }
        port = 0
      }
    }
  }

  func refuse(_ host: String) async throws {
    guard let channel = listening.removeValue(forKey: host) else { return }
    // The port is taken before it is given back: other servers look for free ones all the time.
    try await channel.setOption(.socketOption(.init(rawValue: SO_REUSEPORT)), value: 1).get()
    refusing[host] = try ClosedPort(host: host, port: port, besideListener: true)
    try await channel.close().get()
  }

  func accept(_ host: String) async throws {
    guard listening[host] == nil, hosts.contains(host) else { return }
    refusing.removeValue(forKey: host)?.close()
    try await listen(host)
  }

  func close() async {
    for channel in listening.values { try? await channel.close().get() }
    for socket in refusing.values { socket.close() }
    listening = [:]
    refusing = [:]
    await accepted.close()
  }

  private func listen(_ host: String) async throws {
    let (pipeline, accepted) = (pipeline, accepted)
    let channel = try await ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 1024)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try accepted.add(channel)
          try pipeline.configure(channel, host: host)
        }
      }
      .withBoundSocket(ClosedPort.listener(host: host, port: port)).get()
    listening[host] = channel
    port = channel.localAddress?.port ?? 0
  }
}

/// The connections that are open.
final class Accepted: Sendable {
  private let channels = NIOLockedValueBox<[ObjectIdentifier: any Channel]>([:])

  func add(_ channel: any Channel) throws {
    Descriptors.keepSocketsToThisProcess()
    try channel.pipeline.syncOperations.addHandler(Door(), name: Door.name)
    channels.withLockedValue { $0[ObjectIdentifier(channel)] = channel }
    channel.closeFuture.whenComplete { [channels] _ in
      channels.withLockedValue { _ = $0.removeValue(forKey: ObjectIdentifier(channel)) }
    }
  }

  /// Closes them at once: not by way of TLS, which waits for the client to close as well.
  func close() async {
    for channel in channels.withLockedValue({ Array($0.values) }) {
      try? await channel.eventLoop.flatSubmit {
        (try? channel.pipeline.syncOperations.context(name: Door.name))?.close() ?? channel.close()
      }.get()
    }
  }

  /// The handler next to the socket: what is closed from here passes no other.
  private final class Door: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    static let name = "door"
  }
}
