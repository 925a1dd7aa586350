public import Foundation
import NIOCore

extension TestOrigin {
  /// How a server treats the connections that it accepts. One that it refuses is none: see ``stopListening(on:)``.
  public enum Behaviour: Sendable {
    /// Requests are read and answered.
    case serve
    /// Requests are read and answered, but nothing is read until the connection's gate is released: `connection 1` for
    /// the first one that was accepted.
    case serveWhenReleased
    /// The connection is closed at once.
    case close
    /// The connection is reset at once.
    case reset
    /// Nothing is ever said. With TLS there is no handshake.
    case silent
    /// Nothing is ever said after the handshake.
    case silentAfterHandshake
    /// Whatever comes first is answered with these bytes, then the connection is closed. With TLS there is no
    /// handshake.
    case garbage(Data)
  }

  /// How connections are treated from now on, on every address.
  public var behaviour: Behaviour {
    get { journal.behaviour }
    set { journal.behaviour = newValue }
  }

  /// Sets how connections to one address are treated from now on.
  public func setBehaviour(_ behaviour: Behaviour, on host: String) {
    precondition(hosts.contains(host), "\(host) is none of \(hosts)")
    journal.setBehaviour(behaviour, on: host)
  }
}

/// Treats a connection as badly as it was told to, and notes what comes.
final class MisbehavingHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let behaviour: TestOrigin.Behaviour
  private let number: Int
  private let journal: Journal

  init(_ behaviour: TestOrigin.Behaviour, _ number: Int, _ journal: Journal) {
    self.behaviour = behaviour
    self.number = number
    self.journal = journal
  }

  func channelActive(context: ChannelHandlerContext) {
    switch behaviour {
    case .close: context.close(promise: nil)
    case .reset: context.channel.reset(from: context)
    default: context.fireChannelActive()
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    journal.received(unwrapInboundIn(data).readableBytesView, on: number)
    guard case .garbage(let bytes) = behaviour else { return }
    let bound = context.loopBound
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes))).whenComplete { _ in bound.value.close(promise: nil)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}

extension Channel {
  /// Resets the connection: closes it from a place in its pipeline, with a TCP reset instead of an end.
  func reset(from context: ChannelHandlerContext) {
    let bound = context.loopBound
    let lingering =
      (self as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
      ?? eventLoop.makeSucceededVoidFuture()
    lingering.whenComplete { _ in bound.value.close(promise: nil) }
  }
}
