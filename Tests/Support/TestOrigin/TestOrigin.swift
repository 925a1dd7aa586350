public import Foundation
import NIOPosix

/// A real HTTP server on loopback that shows what was sent to it and misbehaves on request.
///
/// ```swift
/// let origin = try await TestOrigin.start()
/// let (data, _) = try await session.data(from: origin.url("/echo"))
/// print(origin.requests.count, origin.connectionCount)
/// await origin.stop()
/// ```
///
/// With ``TLS`` it speaks HTTP/1.1 and HTTP/2, whichever the client prefers. It can listen on several addresses;
/// connections can be closed, ignored or answered with garbage (``Behaviour-swift.enum``), and so can requests: the
/// routes are listed in ``Reply/route(_:)``, and ``reply(to:with:)`` adds others.
///
/// For tests, the tour, the benchmarks and stress runs only.
public final class TestOrigin: Sendable {
  /// The addresses it listens on, as they were given.
  public let hosts: [String]
  /// The port it listens on, the same for all addresses.
  public let port: Int
  /// Whether it speaks TLS.
  public let isSecure: Bool

  let journal: Journal
  let listeners: Listeners
  /// The threads that no other server shares.
  let ownGroup: MultiThreadedEventLoopGroup?

  init(listeners: Listeners, ownGroup: MultiThreadedEventLoopGroup?, pipeline: Pipeline, port: Int) {
    self.hosts = listeners.hosts
    self.port = port
    self.isSecure = pipeline.contexts != nil
    self.journal = pipeline.journal
    self.listeners = listeners
    self.ownGroup = ownGroup
  }

  /// The URL of a path, as `http://127.0.0.1:port/path`; with the first of the ``hosts``, or under another name for the
  /// same server.
  public func url(_ path: String = "/", host: String? = nil) -> URL {
    let host = host ?? hosts[0]
    let authority = host.contains(":") ? "[\(host)]" : host
    guard let url = URL(string: "\(isSecure ? "https" : "http")://\(authority):\(port)\(path)") else {
      preconditionFailure("not a host and a path: \(host), \(path)")
    }
    return url
  }

  /// Answers requests for a path, query excluded, from now on.
  public func reply(to path: String, with reply: @escaping @Sendable (Request) -> Reply) {
    journal.setRoute(path, reply)
  }

  /// Lets the gated stream of that name send one more chunk; `nil` ends it.
  public func release(_ chunk: String?, gate name: String) {
    journal.release(chunk, gate: name)
  }

  /// Whether requests and raw bytes are kept, as they are unless told otherwise. A server that is to take millions of
  /// requests keeps none.
  public var keepsLog: Bool {
    get { journal.keepsLog }
    set { journal.keepsLog = newValue }
  }

  /// The requests so far, in the order in which they were complete.
  public var requests: [Request] { journal.requests }

  /// The requests so far for one path.
  public func requests(to path: String) -> [Request] { requests.filter { $0.path == path } }

  /// The connections so far, in the order in which they were accepted.
  public var connections: [Connection] { journal.connections }

  /// The connection that a request came on.
  public func connection(of request: Request) -> Connection { connections[request.connection - 1] }

  /// Everything that was received, byte by byte, one text per connection.
  public var rawBytes: [String] { journal.connections.map { String(decoding: $0.rawBytes, as: UTF8.self) } }

  /// Connections that were opened so far.
  public var connectionCount: Int { journal.connectionCount }

  /// Connections that are open now.
  public var openConnectionCount: Int { journal.openConnectionCount }

  /// What went wrong in TLS handshakes so far, one text for each that failed.
  public var handshakeFailures: [String] { journal.connections.compactMap(\.handshakeFailure) }

  /// Body bytes that were handed to the network so far.
  public var bytesSent: Int { journal.bytesSent }

  /// Waits until a condition holds that can only change with what this server sees, or until the task is cancelled.
  public func until(_ condition: @escaping @Sendable (TestOrigin) -> Bool) async {
    await journal.until { condition(self) }
  }
}
