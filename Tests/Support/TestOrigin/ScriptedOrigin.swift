public import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL

/// A server on loopback that puts bytes on the wire as it is told, whether or not they are HTTP.
///
/// ```swift
/// let origin = try await ScriptedOrigin.start { request in
///   ScriptedOrigin.Script("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfour", end: .close)
/// }
/// ```
///
/// It reads requests one after the other, and plays the script of each before it reads the next one. For tests and
/// fuzzing only; a server that speaks HTTP is ``TestOrigin``.
public final class ScriptedOrigin: Sendable {
  /// A request as it came.
  public struct Request: Sendable {
    /// The number of the connection it came on, from 1.
    public let connection: Int
    /// The method.
    public let method: String
    /// The target, `/path?query` for most.
    public let target: String
    /// The header fields, in the order in which they came.
    public let fields: [(name: String, value: String)]

    /// The first value of a field.
    public subscript(name: String) -> String? {
      fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }
  }

  /// What is put on the wire for a request, and what becomes of the connection then.
  public struct Script: Sendable {
    /// What happens to the connection after the last byte.
    public enum End: Sendable {
      /// It stays open for the next request.
      case keep
      /// It is closed.
      case close
      /// It is reset.
      case reset
    }

    /// The bytes, piece by piece: each is given to the network on its own, and the next one comes a moment later.
    public var pieces: [Data]
    /// What happens then.
    public var end: End

    /// Makes a script of pieces.
    public init(_ pieces: [Data], end: End = .keep) {
      self.pieces = pieces
      self.end = end
    }

    /// Makes a script of one piece.
    public init(_ text: String, end: End = .keep) {
      self.init([Data(text.utf8)], end: end)
    }
  }

  /// The port, on `127.0.0.1`.
  public let port: Int
  private let isSecure: Bool
  private let listener: any Channel
  private let accepted: Accepted
  private let opened: NIOLockedValueBox<Int>

  private init(
    _ listener: any Channel, _ accepted: Accepted, _ opened: NIOLockedValueBox<Int>, isSecure: Bool
  ) {
    self.listener = listener
    self.isSecure = isSecure
    self.accepted = accepted
    self.opened = opened
    port = listener.localAddress?.port ?? 0
  }

  /// Starts a server on a free port of `127.0.0.1`; `script` is asked for each request, on the server's thread. Over TLS
  /// each piece is a record of its own.
  public static func start(
    tls: TestOrigin.TLS? = nil, _ script: @escaping @Sendable (Request) -> Script
  ) async throws -> ScriptedOrigin {
    let contexts = try tls.map { tls in
      var tls = tls
      tls.applicationProtocols = ["http/1.1"]
      return try SecureContexts(tls)
    }
    let (accepted, opened) = (Accepted(), NIOLockedValueBox(0))
    let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton.next())
      .serverChannelOption(.backlog, value: 1024)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try accepted.add(channel)
          let number = opened.withLockedValue { opened in
            opened += 1
            return opened
          }
          if let contexts {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: contexts.context(for: nil)))
          }
          try channel.pipeline.syncOperations.addHandler(ScriptHandler(number, script))
        }
      }
      .withBoundSocket(ClosedPort.listener(host: "127.0.0.1", port: 0)).get()
    return ScriptedOrigin(listener, accepted, opened, isSecure: contexts != nil)
  }

  /// The URL of a path.
  public func url(_ path: String = "/", host: String = "127.0.0.1") -> URL {
    guard let url = URL(string: "\(isSecure ? "https" : "http")://\(host):\(port)\(path)") else {
      preconditionFailure("not a path: \(path)")
    }
    return url
  }

  /// Connections that were opened so far.
  public var connectionCount: Int { opened.withLockedValue { $0 } }

  /// Closes the listener and all connections.
  public func stop() async {
    try? await listener.close().get()
    await accepted.close()
  }
}

/// Reads requests and plays their scripts, one at a time.
private final class ScriptHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let number: Int
  private let script: @Sendable (ScriptedOrigin.Request) -> ScriptedOrigin.Script
  private var received = ByteBuffer()
  private var isPlaying = false

  init(_ number: Int, _ script: @escaping @Sendable (ScriptedOrigin.Request) -> ScriptedOrigin.Script) {
    self.number = number
    self.script = script
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    received.writeImmutableBuffer(unwrapInboundIn(data))
    answer(context)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  private func answer(_ context: ChannelHandlerContext) {
    guard !isPlaying, let request = nextRequest() else { return }
    isPlaying = true
    let script = script(request)
    play(script.pieces[...], then: script.end, context)
  }

  /// The next request that is complete, its body dropped.
  private func nextRequest() -> ScriptedOrigin.Request? {
    let view = received.readableBytesView
    guard let end = view.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
    let lines = String(decoding: view[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
    let words = lines[0].split(separator: " ")
    let fields = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      return parts.count == 2 ? (String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces)) : nil
    }
    let request = ScriptedOrigin.Request(
      connection: number, method: words.first.map(String.init) ?? "", target: words.count > 1 ? String(words[1]) : "",
      fields: fields)
    let length =
      view.distance(from: view.startIndex, to: end.upperBound) + (request["Content-Length"].flatMap { Int($0) } ?? 0)
    guard received.readableBytes >= length else { return nil }
    received.moveReaderIndex(forwardBy: length)
    received.discardReadBytes()
    return request
  }

  private func play(_ pieces: ArraySlice<Data>, then end: ScriptedOrigin.Script.End, _ context: ChannelHandlerContext) {
    guard let piece = pieces.first else { return finish(end, context) }
    let bound = context.loopBound
    let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: piece))).whenSuccess {
      let rest = pieces.dropFirst()
      guard !rest.isEmpty else { return handler.value.finish(end, bound.value) }
      bound.value.eventLoop.scheduleTask(in: .microseconds(200)) { handler.value.play(rest, then: end, bound.value) }
    }
  }

  private func finish(_ end: ScriptedOrigin.Script.End, _ context: ChannelHandlerContext) {
    switch end {
    case .keep:
      isPlaying = false
      answer(context)
    case .close: context.close(promise: nil)
    case .reset: context.channel.reset(from: context)
    }
  }
}
