import FlyingSocks
import Foundation
import WaylayCore
import WaylayInspector

/// A proxy for programs of this machine, whose plain requests an inspector sees whole.
///
/// It is honest about HTTPS: a `CONNECT` is a tunnel, whose bytes go through as they are. Nothing is decrypted, and no
/// certificate is made. Each connection serves one request.
final class ForwardProxy: Sendable {
  /// How many connections are served at once. One more is told so.
  static let most = 64
  /// How long a client may take for the head of its request.
  static let headTime = Duration.seconds(30)

  let inspector: Inspector
  let registry: InterceptorRegistry
  let port: UInt16
  /// Our name in `Via` fields (RFC 9110, section 7.6.3), by which a request that has come round is known.
  let name = "waylay-" + String(UInt64.random(in: .min ... .max), radix: 36)
  private let listener: Socket
  private let isStopped = Locked(false)

  /// Listens on the loopback address.
  ///
  /// - Parameter port: The port; 0 for one that is free.
  init(_ inspector: Inspector, port: UInt16) throws {
    self.inspector = inspector
    let configuration = URLSessionConfiguration.ephemeral
    // What a client sends and is sent is its own: nothing is put in, kept or answered for it.
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.urlCache = nil
    configuration.urlCredentialStorage = nil
    configuration.timeoutIntervalForRequest = 300
    registry = InterceptorRegistry(configuration: configuration) {
      RedirectsAside()
      inspector
      inspector.attempts
    }
    do {
      listener = try Socket(domain: AF_INET)
      try listener.setValue(true, for: .localAddressReuse)
      try listener.bind(to: sockaddr_in.inet(ip4: "127.0.0.1", port: port))
      try listener.listen()
      try listener.setFlags(.nonBlocking)
      guard case .ip4(_, let port) = try listener.sockname() else { throw SocketError.makeFailed("sockname") }
      self.port = port
    } catch {
      throw ToolFailure(
        .failed, "cannotListen",
        "the proxy cannot listen on port \(port) of the loopback address: \(error.localizedDescription)")
    }
  }

  /// Ends ``run()``, and with it all connections.
  func stop() { isStopped.withLock { $0 = true } }

  /// Serves until it is stopped.
  func run() async {
    let (sockets, arrivals) = AsyncStream.makeStream(of: (Wire, isWelcome: Bool).self)
    let open = Locked(0)
    let accepting = DispatchQueue(label: "waylay.watch.accept")
    accepting.async { [self] in
      while !isStopped.withLock({ $0 }) {
        guard let wire = accept() else { continue }
        let count = open.withLock { open in
          open += 1
          return open
        }
        // As many again are told that they are too many. Whoever comes then is told nothing.
        guard count <= 2 * Self.most else {
          open.withLock { $0 -= 1 }
          continue
        }
        arrivals.yield((wire, count <= Self.most))
      }
      try? listener.close()
      arrivals.finish()
    }
    await withDiscardingTaskGroup { group in
      for await (wire, isWelcome) in sockets {
        group.addTask {
          await withTaskCancellationHandler {
            let connection = ProxyConnection(wire, self)
            if isWelcome {
              await connection.serve()
            } else {
              await connection.refuse(503, "More than \(Self.most) connections are open.")
            }
          } onCancel: {
            wire.abort()
          }
          wire.close()
          open.withLock { $0 -= 1 }
        }
      }
      group.cancelAll()
    }
    registry.invalidate()
  }

  /// The next connection; `nil` where none has come for a moment, or it must not be served.
  private func accept() -> Wire? {
    var entry = pollfd(fd: listener.file.rawValue, events: Int16(POLLIN), revents: 0)
    guard poll(&entry, 1, 200) > 0 else { return nil }
    guard let (file, _) = try? listener.accept(), let wire = try? Wire(Socket(file: file)) else {
      // No descriptors are left, for example: those that are open end some time.
      if errno == EMFILE || errno == ENFILE { usleep(50_000) }
      return nil
    }
    // Nobody else can reach this address; and if somebody could, they would not be served.
    guard case .ip4(let address, _)? = try? Socket(file: file).remotePeer(), address.hasPrefix("127.") else {
      return nil
    }
    return wire
  }
}

/// Leaves redirects to the client: they are put out of the sight of what would follow them.
struct RedirectsAside: RequestInterceptor {
  static let aside = HTTPField.Name("X-Waylay-Location") ?? .location

  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    var response = try await next(request)
    if 300..<400 ~= response.status.code, let location = response.fields[.location] {
      response.fields[.location] = nil
      response.fields[Self.aside] = location
    }
    return response
  }
}
