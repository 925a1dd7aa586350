#if Tunnel
  import NIOCore
  import WaylayCore

  #if canImport(Network) && !os(watchOS)
    import NIOTransportServices
    import Network
  #else
    import NIOPosix
  #endif

  /// The sockets: POSIX sockets on Linux, Network.framework on Apple platforms.
  struct TunnelNetwork: Sendable {
    let group: any EventLoopGroup

    /// One thread suffices: it only copies bytes.
    init() {
      #if canImport(Network) && !os(watchOS)
        group = NIOTSEventLoopGroup(loopCount: 1, defaultQoS: .userInitiated)
      #else
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
      #endif
    }

    /// Listens at a free port of the loopback address.
    func listen(
      server: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>,
      client: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) async throws -> any Channel {
      let address = try SocketAddress(ipAddress: "127.0.0.1", port: 0)
      #if canImport(Network) && !os(watchOS)
        return try await NIOTSListenerBootstrap(group: group)
          .childChannelOption(.allowRemoteHalfClosure, value: true)
          .childChannelOption(.autoRead, value: false)
          .serverChannelInitializer(server).childChannelInitializer(client).bind(to: address).get()
      #else
        return try await ServerBootstrap(group: group)
          .serverChannelOption(.backlog, value: 1024)
          .childChannelOption(.allowRemoteHalfClosure, value: true)
          .childChannelOption(.autoRead, value: false)
          .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
          .childChannelOption(.recvAllocator, value: Self.buffers)
          .serverChannelInitializer(server).childChannelInitializer(client).bind(to: address).get()
      #endif
    }

    /// Opens a connection, bypassing the system's proxies.
    func connect(
      to address: SocketAddress, within limit: TimeAmount, on loop: any EventLoop,
      _ initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any Channel> {
      #if canImport(Network) && !os(watchOS)
        return NIOTSConnectionBootstrap(group: loop)
          .configureNWParameters { $0.preferNoProxies = true }
          .channelOption(.allowRemoteHalfClosure, value: true).channelOption(.autoRead, value: false)
          .connectTimeout(limit).channelInitializer(initializer).connect(to: address)
      #else
        return ClientBootstrap(group: loop)
          .channelOption(.allowRemoteHalfClosure, value: true).channelOption(.autoRead, value: false)
          .channelOption(.tcpOption(.tcp_nodelay), value: 1).channelOption(.recvAllocator, value: Self.buffers)
          .connectTimeout(limit).channelInitializer(initializer).connect(to: address)
      #endif
    }

    /// Closes a connection gracefully, so that the last bytes arrive: shuts the output, and discards input for a
    /// moment.
    static func end(_ channel: any Channel, saying last: [UInt8]) {
      channel.writeAndFlush(ByteBuffer(bytes: last)).whenComplete { _ in channel.close(mode: .output, promise: nil) }
      let late = channel.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(promise: nil) }
      channel.closeFuture.whenComplete { _ in late.cancel() }
      channel.read()
    }

    /// Resets a connection, so that its peer detects the truncation.
    static func reset(_ channel: any Channel) {
      #if !canImport(Network)
        _ = (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
      #endif
      channel.close(promise: nil)
    }

    #if !canImport(Network) || os(watchOS)
      private static let buffers = AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 16 << 10, maximum: 256 << 10)
    #endif

    /// Maps a connect error. A shortage on this machine is not the address's fault.
    static func error(_ error: any Error, at address: String) -> TransportError {
      if error is ChannelError || error is CancellationError {
        return .unsent(.timedOut, "it was not connected in time", address)
      }
      #if canImport(Network) && !os(watchOS)
        guard case .posix(let number)? = error as? NWError else {
          return .unsent(.cannotConnectToHost, "\(error)", address)
        }
      #else
        guard let error = error as? IOError, let number = POSIXErrorCode(rawValue: error.errnoCode) else {
          return .unsent(.cannotConnectToHost, "\(error)", address)
        }
      #endif
      return TransportError.isLocal(number, dialing: address)
        ? .unsent(.resourceUnavailable, "this machine has no descriptor, port or memory left", address)
        : .unsent(.cannotConnectToHost, "it cannot be reached", address, POSIXError(number))
    }
  }

  extension TransportError {
    /// A failure before any byte of the request was sent.
    static func unsent(
      _ urlErrorCode: URLError.Code, code: ErrorCode<TransportError>? = nil, _ message: String, _ address: String,
      _ underlying: (any Error)? = nil
    ) -> TransportError {
      TransportError(
        urlErrorCode, code: code, phase: .connecting, requestBytesSent: 0, address: address, message: "\(message).",
        underlying: underlying)
    }
  }
#endif
