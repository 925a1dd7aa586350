import Foundation
import WaylayTesting

/// A client of a small service, written in right ways and in wrong ones.
struct ExploredClient: Sendable {
  struct Failed: Error {
    var retryAfter: Duration?
  }

  static let base = "https://api.example.com"
  let session = URLSession.mocked
  let clock = MockInterceptor.current.clock
  let registry = MockScope.current?.registry

  func request(_ method: String, _ path: String, body: String? = nil, token: String? = nil) -> URLRequest {
    var request = URLRequest(url: URL(string: Self.base + path)!)
    request.httpMethod = method
    request.httpBody = body.map { Data($0.utf8) }
    if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
    return request
  }

  func send(_ request: URLRequest) async throws -> (text: String, status: Int) {
    let (data, response) = try await session.data(for: request)
    return (String(decoding: data, as: UTF8.self), (response as? HTTPURLResponse)?.statusCode ?? 0)
  }

  func ok(_ request: URLRequest) async throws -> String {
    let (data, response) = try await session.data(for: request)
    let head = response as? HTTPURLResponse
    guard let head, head.statusCode < 300 else {
      throw Failed(retryAfter: head?.value(forHTTPHeaderField: "Retry-After").flatMap(Int.init).map { .seconds($0) })
    }
    return String(decoding: data, as: UTF8.self)
  }

  /// Tries again after a while that doubles.
  func patiently<Value>(_ times: Int = 4, _ work: () async throws -> Value) async throws -> Value {
    var wait = Duration.milliseconds(500)
    for _ in 1..<times {
      do { return try await work() } catch {
        try Task.checkCancellation()
        try await clock.sleep(for: max(wait, (error as? Failed)?.retryAfter ?? .zero))
        wait *= 2
      }
    }
    return try await work()
  }

  func chunks(_ path: String) async throws -> MessageBody {
    guard let registry else { throw Failed() }
    let response = try await registry.load(request("GET", path))
    guard response.status == .ok else {
      throw Failed()
    }
    return response.body
  }
}

extension ExploredClient {
  /// The events of a stream, which is connected again after a failure.
  func events(_ path: String, isResuming: Bool) async throws -> [String] {
    var events: [(id: String, data: String)] = []
    for _ in 0..<3 {
      var request = request("GET", path)
      if isResuming, let last = events.last { request.setValue(last.id, forHTTPHeaderField: "Last-Event-ID") }
      let response = try await registry!.load(request)
      guard response.status == .ok else { throw Failed() }
      var rest = Data()
      do {
        for try await chunk in response.body {
          rest += chunk
          events += Events.parsed(&rest)
        }
        return events.map(\.data)
      } catch {
        try Task.checkCancellation()
        try await clock.sleep(for: .seconds(1))
      }
    }
    throw Failed()
  }
}

/// The tokens of clients that sign in.
actor Tokens {
  var token = "old"
  private var refreshing: Task<String, any Error>?

  /// One refresh for all who ask meanwhile, and none for those who come with a token that was replaced.
  func refreshed(_ used: String, _ refresh: @escaping @Sendable () async throws -> String) async throws -> String {
    guard used == token else { return token }
    let task = refreshing ?? Task { try await refresh() }
    refreshing = task
    defer { refreshing = nil }
    token = try await task.value
    return token
  }
}

/// A gate for one at a time.
actor Turn {
  private var isTaken = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func take() async {
    guard isTaken else { return isTaken = true }
    await withCheckedContinuation { waiting.append($0) }
  }

  func pass() { if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() } }
}

/// Parsers of event streams.
enum Events {
  /// Right wherever a chunk ends.
  static func parsed(_ body: MessageBody) async throws -> [String] {
    var (events, rest) = ([String](), Data())
    for try await chunk in body {
      rest += chunk
      while let end = rest.range(of: Data("\n\n".utf8)) {
        events.append(
          String(decoding: rest[..<end.lowerBound], as: UTF8.self).replacingOccurrences(of: "data: ", with: ""))
        rest = Data(rest[end.upperBound...])
      }
    }
    return events
  }

  /// Takes the events with an ID that are complete.
  static func parsed(_ data: inout Data) -> [(id: String, data: String)] {
    var events: [(id: String, data: String)] = []
    while let end = data.range(of: Data("\n\n".utf8)) {
      let lines = String(decoding: data[..<end.lowerBound], as: UTF8.self).split(separator: "\n")
      func value(_ name: String) -> String {
        lines.first { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count)) } ?? ""
      }
      events.append((value("id: "), value("data: ")))
      data = Data(data[end.upperBound...])
    }
    return events
  }

  /// Takes each chunk for one event.
  static func byChunk(_ body: MessageBody) async throws -> [String] {
    var events: [String] = []
    for try await chunk in body {
      let text = String(decoding: chunk, as: UTF8.self)
      if text.hasSuffix("\n\n") { events.append(String(text.dropLast(2).dropFirst(6))) }
    }
    return events
  }
}
