// What WaylayInspectorServer uses of NIOPosix; see NIOCore beside it.

public import NIOCore

public final class MultiThreadedEventLoopGroup: Sendable {
  public init(numberOfThreads: Int) {}
  public func next() -> any EventLoop { fatalError() }
  public func shutdownGracefully() async throws {}
}

public final class ServerBootstrap {
  public init(group: MultiThreadedEventLoopGroup) {}
  public func serverChannelOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> Self { self }
  public func childChannelOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> Self { self }
  public func childChannelInitializer(_ initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>) -> Self
  { self }
  public func bind(to address: SocketAddress) -> EventLoopFuture<any Channel> { fatalError() }
}
