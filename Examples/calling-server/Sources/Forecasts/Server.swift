import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// Serves `GET /CITY`.
public struct Server: Sendable {
  private typealias Client = NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>

  private let forecasts: Forecasts

  /// Makes a server.
  public init(_ forecasts: Forecasts) {
    self.forecasts = forecasts
  }

  /// Listens on loopback until its task is canceled.
  ///
  /// - Parameters:
  ///   - port: The port, or 0 for any that is free.
  ///   - started: Called with the port.
  public func run(port: Int = 0, started: @escaping @Sendable (Int) -> Void) async throws {
    let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .bind(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          return try Client(wrappingChannelSynchronously: channel)
        }
      }
    started(listener.channel.localAddress?.port ?? port)
    try await withThrowingDiscardingTaskGroup { group in
      try await listener.executeThenClose { clients in
        for try await client in clients {
          // A client that goes away ends its own connection.
          group.addTask { try? await serve(client) }
        }
      }
    }
  }

  private func serve(_ client: Client) async throws {
    try await client.executeThenClose { parts, writer in
      var uri = ""
      for try await part in parts {
        switch part {
        case .head(let head): uri = head.uri
        case .body: break
        case .end:
          let path = String(uri.dropFirst().prefix { $0 != "?" })
          let (status, body) = await forecasts.response(city: path.removingPercentEncoding ?? path)
          let fields: HTTPHeaders = ["Content-Length": "\(body.count)", "Content-Type": "text/plain"]
          try await writer.write(
            .head(HTTPResponseHead(version: .http1_1, status: .init(statusCode: status), headers: fields)))
          try await writer.write(.body(.byteBuffer(ByteBuffer(bytes: body))))
          try await writer.write(.end(nil))
        }
      }
    }
  }
}
