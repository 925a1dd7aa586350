import Foundation
import TestOrigin
import WaylayCore

@testable import WaylayArchive

/// A wall clock that only moves when it is told to.
final class Wall: Sendable {
  private let milliseconds: Locked<Int64>

  /// Starts at Sunday, 6 November 1994, 08:49:37 GMT, the moment of RFC 9110's examples.
  init(_ seconds: Int64 = 784_111_777) {
    milliseconds = Locked(seconds * 1000)
  }

  func advance(by seconds: Int64) {
    milliseconds.withLock { $0 += seconds * 1000 }
  }

  var now: CacheTime { CacheTime(milliseconds: milliseconds.withLock { $0 }) }

  /// The moment as a field has it, so many seconds from now.
  func date(_ offset: Int64 = 0) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(identifier: "GMT")
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return formatter.string(from: Date(timeIntervalSince1970: Double(now.milliseconds / 1000 + offset)))
  }
}

/// The ways a request goes through an archive.
enum Way: String, CaseIterable, Sendable {
  case completion, delegate, async, direct
}

/// What a fetch gave.
struct Fetched: Sendable {
  let status: Int
  let fields: [String: String]
  let body: Data
  var source: InterceptedResponse.Source?

  var text: String { String(decoding: body, as: UTF8.self) }

  subscript(name: String) -> String? {
    fields.first { $0.key.lowercased() == name.lowercased() }?.value
  }
}

/// A server, an archive in front of it, and a session through the archive.
final class Site: Sendable {
  let origin: TestOrigin
  let archive: ArchiveCache
  let registry: InterceptorRegistry
  let session: URLSession
  let wall: Wall

  init(
    _ origin: TestOrigin, _ archive: ArchiveCache, wall: Wall, _ adjust: (URLSessionConfiguration) -> Void = { _ in }
  ) {
    self.origin = origin
    self.archive = archive
    self.wall = wall
    let configuration = URLSessionConfiguration.ephemeral
    adjust(configuration)
    registry = InterceptorRegistry(configuration: configuration) { archive }
    session = URLSession(configuration: configuration.intercepted(by: registry))
  }

  /// A request for a path, with header fields.
  func request(
    _ path: String, _ fields: [String: String] = [:], method: String = "GET",
    _ change: (inout URLRequest) -> Void = { _ in }
  ) -> URLRequest {
    // On a busy machine a load may wait for a minute.
    var request = URLRequest(url: origin.url(path), timeoutInterval: 600)
    request.httpMethod = method
    for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
    change(&request)
    return request
  }

  /// Loads a path.
  @discardableResult
  func get(_ path: String, _ fields: [String: String] = [:], by way: Way = .async) async throws -> Fetched {
    try await load(request(path, fields), by: way)
  }

  /// Loads a request.
  @discardableResult
  func load(_ request: URLRequest, by way: Way = .async) async throws -> Fetched {
    switch way {
    case .async:
      let (data, response) = try await session.data(for: request)
      return Self.fetched(data, response)
    case .completion:
      return try await withCheckedThrowingContinuation { continuation in
        let task = session.dataTask(with: request) { data, response, error in
          if let error { return continuation.resume(throwing: error) }
          continuation.resume(returning: Self.fetched(data ?? Data(), response))
        }
        task.resume()
      }
    case .delegate:
      let reader = DelegateReader()
      let session = URLSession(
        configuration: .ephemeral.intercepted(by: registry), delegate: reader, delegateQueue: nil)
      defer { session.finishTasksAndInvalidate() }
      return try await withCheckedThrowingContinuation { continuation in
        reader.continuation.withLock { $0 = continuation }
        session.dataTask(with: request).resume()
      }
    case .direct:
      let response = try await registry.load(request)
      let data = try await response.body.collect(upTo: 1 << 28)
      var fetched = Self.fetched(data, response.head)
      fetched.source = response.source
      return fetched
    }
  }

  static func fetched(_ data: Data, _ response: URLResponse?) -> Fetched {
    let head = response as? HTTPURLResponse
    var fields: [String: String] = [:]
    for (name, value) in head?.allHeaderFields ?? [:] { fields["\(name)"] = "\(value)" }
    return Fetched(status: head?.statusCode ?? 0, fields: fields, body: data)
  }

  /// The requests that the server saw for a path.
  func seen(_ path: String) -> [TestOrigin.Request] { origin.requests(to: path) }
}

/// Collects what a session-level delegate is told.
private final class DelegateReader: NSObject, URLSessionDataDelegate, Sendable {
  let continuation = Locked<CheckedContinuation<Fetched, any Error>?>(nil)
  private let data = Locked(Data())
  private let response = Locked<URLResponse?>(nil)

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    self.response.withLock { $0 = response }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    self.data.withLock { $0.append(data) }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let waiting = continuation.withLock { waiting in
      defer { waiting = nil }
      return waiting
    }
    if let error {
      waiting?.resume(throwing: error)
    } else {
      waiting?.resume(returning: Site.fetched(data.withLock { $0 }, response.withLock { $0 }))
    }
  }
}

/// Runs a test with a server and an archive in memory, whose clock stands still.
func withSite(
  limits: StoreLimits = StoreLimits(bytes: 64 << 20),
  _ configure: (inout ArchiveCache.Configuration) -> Void = { _ in },
  _ body: (Site) async throws -> Void
) async throws {
  let origin = try await TestOrigin.start()
  let wall = Wall()
  let archive = ArchiveCache(.memory(limits: limits)) { configuration in
    configuration.now = { wall.now }
    // Answers on loopback take as long as a busy machine lets them: nobody is to be given a stale one meanwhile.
    configuration.networkTimeout = .infinity
    configure(&configuration)
  }
  let site = Site(origin, archive, wall: wall)
  do {
    try await body(site)
  } catch {
    await site.end()
    throw error
  }
  await site.end()
}

extension Site {
  func end() async {
    session.invalidateAndCancel()
    registry.invalidate()
    archive.invalidate()
    await origin.stop()
  }
}

/// A directory for one test.
func withDirectory(_ body: (URL) async throws -> Void) async throws {
  let directory = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-archive-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: directory) }
  try await body(directory)
}

/// The `ArchiveError` beneath what an app sees.
func cause(_ error: (any Error)?) -> ArchiveError? {
  (error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? ArchiveError
}

/// A text with a number that grows with each request, and the fields that make it stored or not.
func numbered(
  _ fields: [(name: String, value: String)] = [], status: Int = 200
) -> @Sendable (TestOrigin.Request) -> Reply {
  let count = Locked(0)
  return { _ in
    let number = count.withLock {
      $0 += 1
      return $0
    }
    return .text("body \(number)", status: status, fields: fields)
  }
}

/// A text under an entity tag: 304 to a client that has it.
func tagged(
  _ text: String, _ tag: String, _ fields: [(name: String, value: String)] = []
) -> @Sendable (TestOrigin.Request) -> Reply {
  { request in
    let all = [("ETag", tag)] + fields
    return request["If-None-Match"].contains(tag) ? Reply(304, all) : .text(text, fields: all)
  }
}

extension TestOrigin {
  /// Breaks the first response off after so many bytes. The rest comes for the same entity tag, later responses whole.
  func breaksOff(at count: Int, of bytes: Data, to path: String) {
    let isFirst = Locked(true)
    reply(to: path) { request in
      let fields = [("ETag", "\"1\""), ("Cache-Control", "max-age=1000")]
      if let range = request["Range"].first, request["If-Range"] == ["\"1\""],
        let first = Int(range.dropFirst("bytes=".count).dropLast())
      {
        return Reply(
          206, fields + [("Content-Range", "bytes \(first)-\(bytes.count - 1)/\(bytes.count)")], .whole(bytes[first...])
        )
      }
      let isCut = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      return isCut
        ? Reply(200, fields, .truncated(bytes.prefix(count), declared: bytes.count)) : Reply(200, fields, .whole(bytes))
    }
  }
}
