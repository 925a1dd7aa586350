// What WaylayInspectorServer uses of NIOCore, which has a layer of its own for each system and so none that Linux has built for Apple's. The
// declarations are those of the package.

public struct ByteBuffer: Sendable, Hashable {
  public init(string: String) {}
  public init(bytes: some Sequence<UInt8>) {}
  public var readableBytes: Int { fatalError() }
  public mutating func clear() {}
  public mutating func readSlice(length: Int) -> ByteBuffer? { fatalError() }
  @discardableResult public mutating func writeBytes(_ bytes: some Sequence<UInt8>) -> Int { fatalError() }
  @discardableResult public mutating func writeImmutableBuffer(_ buffer: ByteBuffer) -> Int { fatalError() }
}

public struct NIOAny {}

@available(*, unavailable)
extension NIOAny: Sendable {}

public struct TimeAmount: Hashable, Sendable {
  public static func seconds(_ amount: Int64) -> TimeAmount { fatalError() }
  public static func milliseconds(_ amount: Int64) -> TimeAmount { fatalError() }
}

public final class EventLoopFuture<Value>: Sendable {
  public func get() async throws -> Value where Value: Sendable { fatalError() }
}

public struct EventLoopPromise<Value>: Sendable {}

public struct Scheduled<T> {
  public func cancel() {}
}

extension Scheduled: Sendable where T: Sendable {}

public protocol EventLoop: AnyObject, Sendable {}

extension EventLoop {
  @discardableResult
  public func scheduleTask<T: Sendable>(
    in delay: TimeAmount, _ task: @escaping @Sendable () throws -> T
  ) -> Scheduled<T> { fatalError() }
  public func makeCompletedFuture<Success>(withResultOf body: () throws -> Success) -> EventLoopFuture<Success> {
    fatalError()
  }
}

public enum CloseMode: Sendable { case output, input, all }

public protocol Channel: AnyObject, Sendable {
  var closeFuture: EventLoopFuture<Void> { get }
  var pipeline: ChannelPipeline { get }
  var localAddress: SocketAddress? { get }
  var remoteAddress: SocketAddress? { get }
  var eventLoop: any EventLoop { get }
}

extension Channel {
  public func close(mode: CloseMode = .all, promise: EventLoopPromise<Void>?) {}
  public func writeAndFlush<T: Sendable>(_ any: T) -> EventLoopFuture<Void> { fatalError() }
  public func writeAndFlush<T: Sendable>(_ any: T, promise: EventLoopPromise<Void>?) {}
}

public final class ChannelPipeline: Sendable {
  public struct SynchronousOperations {
    public func addHandlers(_ handlers: any ChannelHandler...) throws {}
  }

  public var syncOperations: SynchronousOperations { fatalError() }
}

public final class ChannelHandlerContext {
  public var channel: any Channel { fatalError() }
  public var eventLoop: any EventLoop { fatalError() }
  public func close(mode: CloseMode = .all, promise: EventLoopPromise<Void>?) {}
}

public protocol ChannelHandler: AnyObject {}

public protocol ChannelInboundHandler: ChannelHandler {
  associatedtype InboundIn
  func channelActive(context: ChannelHandlerContext)
  func channelInactive(context: ChannelHandlerContext)
  func channelRead(context: ChannelHandlerContext, data: NIOAny)
  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any)
  func errorCaught(context: ChannelHandlerContext, error: any Error)
}

extension ChannelInboundHandler {
  public func unwrapInboundIn(_ value: NIOAny) -> InboundIn { fatalError() }
}

public protocol ByteToMessageDecoder {}

public final class ByteToMessageHandler<Decoder: ByteToMessageDecoder>: ChannelHandler {
  public init(_ decoder: Decoder, maximumBufferSize: Int? = nil) {}
}

public enum ByteToMessageDecoderError: Error {
  public struct PayloadTooLargeError: Error {}
}

public enum ChannelEvent: Equatable, Sendable { case inputClosed, outputClosed }

public struct SocketAddress: Equatable, Sendable {
  public init(ipAddress: String, port: Int) throws {}
  public var ipAddress: String? { fatalError() }
  public var port: Int? { fatalError() }
}

public struct IOError: Error {
  public var errnoCode: Int32 { fatalError() }
}

public protocol ChannelOption: Equatable, Sendable {
  associatedtype Value: Sendable
}

public enum ChannelOptions {
  public enum Types {
    public struct BacklogOption: ChannelOption { public typealias Value = Int32 }
    public struct AllowRemoteHalfClosureOption: ChannelOption { public typealias Value = Bool }
    public struct SocketOption: ChannelOption { public typealias Value = Int32 }
  }
}

extension ChannelOption where Self == ChannelOptions.Types.BacklogOption {
  public static var backlog: Self { fatalError() }
}

extension ChannelOption where Self == ChannelOptions.Types.AllowRemoteHalfClosureOption {
  public static var allowRemoteHalfClosure: Self { fatalError() }
}

public struct NIOBSDSocketOption: Equatable, Sendable {
  public static var so_reuseaddr: Self { fatalError() }
}

extension ChannelOption where Self == ChannelOptions.Types.SocketOption {
  public static func socketOption(_ name: NIOBSDSocketOption) -> Self { fatalError() }
}
