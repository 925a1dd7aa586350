// What a listener and a connection need of NIOTransportServices, which is built where there is Network. The declarations are those of the package
// (version 1.28).
public import Dispatch
public import NIOCore
public import Network

public final class NIOTSEventLoopGroup: EventLoopGroup, Sendable {
  public convenience init(loopCount: Int = 1, defaultQoS: DispatchQoS = .default) { fatalError() }
  public static var singleton: NIOTSEventLoopGroup { fatalError() }
  public func next() -> any EventLoop { fatalError() }
  public func makeIterator() -> EventLoopIterator { fatalError() }
  public func shutdownGracefully(queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void) { fatalError() }
}

public final class NIOTSListenerBootstrap {
  public convenience init(group: any EventLoopGroup) { fatalError() }
  public convenience init(group: NIOTSEventLoopGroup) { fatalError() }
  public init?(validatingGroup group: any EventLoopGroup, childGroup: (any EventLoopGroup)? = nil) { fatalError() }
  public func serverChannelInitializer(_ initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>) -> Self { fatalError() }
  public func childChannelInitializer(_ initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>) -> Self { fatalError() }
  public func serverChannelOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> Self { fatalError() }
  public func childChannelOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> Self { fatalError() }
  public func bindTimeout(_ timeout: TimeAmount) -> Self { fatalError() }
  public func configureNWParameters(_ configurator: @Sendable @escaping (NWParameters) -> Void) -> Self { fatalError() }
  public func configureChildNWParameters(_ configurator: @Sendable @escaping (NWParameters) -> Void) -> Self { fatalError() }
  public func bind(host: String, port: Int) -> EventLoopFuture<any Channel> { fatalError() }
  public func bind(to address: SocketAddress) -> EventLoopFuture<any Channel> { fatalError() }
  public func bind(endpoint: NWEndpoint) -> EventLoopFuture<any Channel> { fatalError() }
  public func bind<Output: Sendable>(
    host: String, port: Int, serverBackPressureStrategy: NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark? = nil,
    childChannelInitializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
  ) async throws -> NIOAsyncChannel<Output, Never> { fatalError() }
  public func bind<Output: Sendable>(
    to address: SocketAddress, serverBackPressureStrategy: NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark? = nil,
    childChannelInitializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
  ) async throws -> NIOAsyncChannel<Output, Never> { fatalError() }
}

@available(*, unavailable)
extension NIOTSListenerBootstrap: Sendable {}

public final class NIOTSConnectionBootstrap {
  public convenience init(group: any EventLoopGroup) { fatalError() }
  public convenience init(group: NIOTSEventLoopGroup) { fatalError() }
  public init?(validatingGroup group: any EventLoopGroup) { fatalError() }
  public func channelInitializer(_ handler: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>) -> Self { fatalError() }
  public func channelOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> Self { fatalError() }
  public func connectTimeout(_ timeout: TimeAmount) -> Self { fatalError() }
  public func configureNWParameters(_ configurator: @Sendable @escaping (NWParameters) -> Void) -> Self { fatalError() }
  public func connect(host: String, port: Int) -> EventLoopFuture<any Channel> { fatalError() }
  public func connect(to address: SocketAddress) -> EventLoopFuture<any Channel> { fatalError() }
  public func connect(endpoint: NWEndpoint) -> EventLoopFuture<any Channel> { fatalError() }
  public func connect<Output: Sendable>(
    host: String, port: Int, channelInitializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
  ) async throws -> Output { fatalError() }
  public func connect<Output: Sendable>(
    to address: SocketAddress, channelInitializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
  ) async throws -> Output { fatalError() }
}

@available(*, unavailable)
extension NIOTSConnectionBootstrap: Sendable {}

/// What a connection that waits for a network says.
public enum NIOTSNetworkEvents: Sendable {
  public struct WaitingForConnectivity: Equatable, Sendable {
    public var transientError: NWError { fatalError() }
  }
}

public struct NIOTSChannelOptions: Sendable {
  public enum Types: Sendable {
    public struct NIOTSWaitForActivityOption: ChannelOption, Equatable { public typealias Value = Bool }
    public struct NIOTSAllowLocalEndpointReuse: ChannelOption, Equatable { public typealias Value = Bool }
  }
  public static let waitForActivity = { fatalError() }() as NIOTSChannelOptions.Types.NIOTSWaitForActivityOption
  public static let allowLocalEndpointReuse = { fatalError() }() as NIOTSChannelOptions.Types.NIOTSAllowLocalEndpointReuse
}
