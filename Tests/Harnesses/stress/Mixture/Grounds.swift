import Foundation
import TestOrigin
import Waylay
import WaylayCore

/// What all loads share: a server, a registry, and sessions that run through it.
final class Grounds: Sendable {
  struct Sessions: Sendable {
    let registry: InterceptorRegistry
    /// For `async` calls and completion handlers.
    let plain: URLSession
    /// Tells ``deliveries``.
    let delegating: URLSession
  }

  let origin: TestOrigin
  let deliveries = Deliveries()
  let folder: URL
  private let current = Locked<Sessions?>(nil)

  private let keepsOnDisk: Bool
  private let archive = Locked<ArchiveCache?>(nil)

  /// - Parameter keepsOnDisk: Whether the archive is kept on the disk, rather than in memory.
  init(keepsOnDisk: Bool) async throws {
    origin = try await TestOrigin.start()
    origin.keepsLog = false
    self.keepsOnDisk = keepsOnDisk
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-stress-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    origin.reply(to: "/guarded") { request in
      request["Authorization"].isEmpty
        ? .text("who?", status: 401, fields: [("WWW-Authenticate", "Basic realm=\"stress\"")])
        : .text(request.query("n") ?? "")
    }
    origin.reply(to: "/mirror") { request in
      request.body.isEmpty ? .text(request.query("n") ?? "") : .text(String(decoding: request.body, as: UTF8.self))
    }
    servePages()
    openSessions()
  }

  var sessions: Sessions {
    guard let sessions = current.withLock({ $0 }) else { preconditionFailure("the sessions are closed") }
    return sessions
  }

  func openSessions() {
    let registry = InterceptorRegistry(configuration: .ephemeral)
    registry.register(InterceptorChain("inline", for: .host("inline.invalid")) { InlineMadeUp() })
    registry.register(
      InterceptorChain("later", for: .host("later.invalid")) {
        Counting()
        MadeUp()
      })
    registry.register(InterceptorChain("network", for: .host("127.0.0.1")) { Counting() })
    let archive = makeArchive()
    registry.register(InterceptorChain("archive", for: .host("localhost")) { archive })
    let configuration = URLSessionConfiguration.ephemeral.intercepted(by: registry)
    current.withLock {
      $0 = Sessions(
        registry: registry, plain: URLSession(configuration: configuration),
        delegating: URLSession(configuration: configuration, delegate: deliveries, delegateQueue: nil))
    }
  }

  /// An archive that has to evict all the time.
  private func makeArchive() -> ArchiveCache {
    let limits = StoreLimits(bytes: 2 << 20)
    let made =
      keepsOnDisk
      ? ArchiveCache(.disk(at: folder.appendingPathComponent("archive-\(UUID().uuidString)"), limits: limits))
      : ArchiveCache(.memory(limits: limits))
    archive.withLock { $0 = made }
    return made
  }

  func closeSessions() async {
    let sessions = current.withLock { sessions in
      defer { sessions = nil }
      return sessions
    }
    sessions?.plain.invalidateAndCancel()
    sessions?.delegating.invalidateAndCancel()
    sessions?.registry.invalidate()
    await archive.withLock { $0 }?.close()
    await origin.until { $0.openConnectionCount == 0 }
  }

  func close() async {
    await origin.stop()
    try? FileManager.default.removeItem(at: folder)
  }

  /// A URL whose load a chain makes up: `kind` says how, `number` must come back.
  func url(_ host: String, _ kind: String, _ number: Int) -> URL {
    // The one text that is a URL whatever its parts are here.
    URL(string: "http://\(host).invalid/\(kind)/\(number)")!
  }

  /// A URL of the server.
  func url(_ path: String, _ number: Int) -> URL { origin.url("\(path)?n=\(number)") }
}

/// Passes on, as most interceptors do.
struct Counting: RequestInterceptor {
  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    var request = request
    request.fields[.seen] = "1"
    return try await next(request)
  }
}

extension HTTPField.Name {
  fileprivate static let seen = HTTPField.Name("X-Seen")!
}

/// The same inside the loading system's call, as far as the answer is there at once.
struct InlineMadeUp: InlineResponding {
  func respondInline(_ request: InterceptedRequest) throws -> InlineResponse {
    let parts = request.url.pathComponents
    guard parts.count == 3 else { throw URLError(.badURL) }
    switch parts[1] {
    case "failure": throw URLError(.cannotConnectToHost)
    case "text": return .response(InterceptedResponse(to: request, body: .text(parts[2])))
    default: return .startLoading
    }
  }

  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    try await MadeUp().startLoading(request, next: next)
  }
}

/// Makes an answer up, as the URL says.
struct MadeUp: RequestInterceptor {
  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    let parts = request.url.pathComponents
    guard parts.count == 3 else { throw URLError(.badURL) }
    let number = parts[2]
    switch parts[1] {
    case "late":
      try await Task.sleep(for: .milliseconds((Int(number) ?? 0) % 4))
      return InterceptedResponse(to: request, body: .text(number))
    case "chunks":
      let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
      for character in number { continuation.yield(Data(String(character).utf8)) }
      continuation.finish()
      return InterceptedResponse(to: request, body: .stream(stream))
    case "failure": throw URLError(.cannotConnectToHost)
    case "never":
      // Not a long sleep: when that is cancelled, its timer stays until it is due.
      for await _ in AsyncStream<Never>.makeStream().stream {}
      throw URLError(.cancelled)
    case "mirror":
      let body = try await request.body.collect(upTo: 1 << 20)
      return InterceptedResponse(to: request, body: .data(body))
    case "moved":
      return InterceptedResponse(to: request, status: .found, fields: [.location: "/text/\(number)"])
    default: return InterceptedResponse(to: request, body: .text(number))
    }
  }
}
