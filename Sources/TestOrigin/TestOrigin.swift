public import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// A real HTTP/1.1 server on loopback that shows what was sent to it and misbehaves on request.
///
/// ```swift
/// let origin = try await TestOrigin.start()
/// let (data, _) = try await session.data(from: origin.url("/echo"))
/// print(origin.requests.count, origin.connectionCount)
/// await origin.stop()
/// ```
///
/// For tests, the tour and the benchmarks only. Its routes are listed in ``Reply/route(_:)``; ``reply(to:with:)`` adds others.
public final class TestOrigin: Sendable {
  private let channel: any Channel
  private let group: MultiThreadedEventLoopGroup
  let journal: Journal
  /// The port it listens on.
  public let port: Int

  private init(channel: any Channel, group: MultiThreadedEventLoopGroup, journal: Journal, port: Int) {
    self.channel = channel
    self.group = group
    self.journal = journal
    self.port = port
  }

  /// Starts a server on a free port of a loopback address.
  public static func start(host: String = "127.0.0.1", threads: Int = 1) async throws -> TestOrigin {
    let journal = Journal()
    let group = MultiThreadedEventLoopGroup(numberOfThreads: threads)
    let channel = try await ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 1024)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let number = journal.opened()
          let pipeline = channel.pipeline.syncOperations
          try pipeline.addHandler(RawRecorder(number, journal))
          try pipeline.configureHTTPServerPipeline()
          try pipeline.addHandler(ConnectionHandler(number, journal))
        }
      }
      .bind(host: host, port: 0).get()
    return TestOrigin(channel: channel, group: group, journal: journal, port: channel.localAddress?.port ?? 0)
  }

  /// Closes the listener and all connections.
  public func stop() async {
    try? await channel.close().get()
    try? await group.shutdownGracefully()
  }

  /// The URL of a path, as `http://127.0.0.1:port/path`, or under another name for the same address.
  public func url(_ path: String = "/", host: String = "127.0.0.1") -> URL {
    guard let url = URL(string: "http://\(host):\(port)\(path)") else { preconditionFailure("not a path: \(path)") }
    return url
  }

  /// Answers requests for a path, query excluded, from now on.
  public func reply(to path: String, with reply: @escaping @Sendable (Request) -> Reply) {
    journal.setRoute(path, reply)
  }

  /// Whether requests and raw bytes are kept, as they are unless told otherwise. A server that is to take millions of requests keeps none.
  public var keepsLog: Bool {
    get { journal.keepsLog }
    set { journal.keepsLog = newValue }
  }

  /// The requests so far, in the order in which their heads came.
  public var requests: [Request] { journal.requests }

  /// The requests so far for one path.
  public func requests(to path: String) -> [Request] { requests.filter { $0.path == path } }

  /// Everything that was received, byte by byte, one text per connection.
  public var rawBytes: [String] { journal.rawBytes }

  /// Connections that were opened so far.
  public var connectionCount: Int { journal.connectionCount }

  /// Connections that are open now.
  public var openConnectionCount: Int { journal.openConnectionCount }

  /// Body bytes that were handed to the network so far.
  public var bytesSent: Int { journal.bytesSent }

  /// Waits until a condition holds that can only change with what this server sees.
  public func until(_ condition: @escaping @Sendable (TestOrigin) -> Bool) async {
    await journal.until { condition(self) }
  }

  /// Lets the gated stream of that name send one more chunk; `nil` ends it.
  public func release(_ chunk: String?, gate name: String) {
    journal.release(chunk, gate: name)
  }

  /// A request as it came.
  public struct Request: Sendable {
    /// The connection's number, from 1.
    public let connection: Int
    /// The method.
    public let method: String
    /// Path and query as they stood on the wire.
    public let target: String
    /// The header fields in order, names as they stood on the wire.
    public let fields: [(name: String, value: String)]
    /// The body.
    public var body = Data()

    /// The path without the query.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The values of a field, whatever the case of its name.
    public subscript(name: String) -> [String] {
      fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// The values of a query item, percent-decoded.
    public func query(_ name: String) -> String? {
      URLComponents(string: target)?.queryItems?.first { $0.name == name }?.value
    }

    /// Request line and header fields as text.
    public var head: String {
      (["\(method) \(target) HTTP/1.1"] + fields.map { "\($0.name): \($0.value)" }).joined(separator: "\n")
    }
  }
}
