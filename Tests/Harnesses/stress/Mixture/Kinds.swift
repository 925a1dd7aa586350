import Foundation
import TestOrigin
import Waylay
import WaylayCore

/// One way of loading something.
struct Kind: Sendable {
  let name: String
  /// How often, compared with the others.
  let weight: Int
  /// Loads, and returns what came: the load's number when all is well.
  private let load: @Sendable (Grounds, Int) async throws -> String
  private let failure: URLError.Code?

  init(
    _ name: String, _ weight: Int, failsWith failure: URLError.Code? = nil,
    _ load: @escaping @Sendable (Grounds, Int) async throws -> String
  ) {
    self.name = name
    self.weight = weight
    self.failure = failure
    self.load = load
  }

  /// Does it once, and says what was wrong with it.
  func fault(in grounds: Grounds, number: Int) async -> String? {
    let strays = grounds.deliveries.strays
    do {
      let answer = try await load(grounds, number)
      if let failure { return "\"\(answer)\" where URLError \(failure.rawValue) was due" }
      if answer != "\(number)" { return "the answer was \"\(answer.prefix(60))\"" }
    } catch {
      guard let failure, (error as? URLError)?.code == failure else { return "failed: \(error)" }
    }
    let late = grounds.deliveries.strays - strays
    return late > 0 ? "\(late) events that nobody waited for" : nil
  }
}

extension Deliveries {
  /// Runs a task to its end, and returns the text that came.
  func text(_ task: URLSessionTask, _ act: (URLSessionTask) -> Void = { _ in }) async throws -> String {
    String(decoding: try await run(task, act).0, as: UTF8.self)
  }
}

extension Kind {
  static let all: [Kind] = made + delivered + network + direct + archived + planted

  /// What is wrong on purpose, to see that it is noticed: run only when it is named.
  private static let planted = [
    Kind("planted: a wrong answer", 0) {
      text(try await $0.sessions.plain.data(from: $0.url("inline", "text", $1 + 1)).0)
    },
    Kind("planted: a second end", 0) { grounds, number in
      let task = grounds.sessions.delegating.dataTask(with: grounds.url("inline", "text", number))
      let answer = try await grounds.deliveries.text(task)
      grounds.deliveries.urlSession(grounds.sessions.delegating, task: task, didCompleteWithError: nil)
      return answer
    },
  ]

  private static func text(_ data: Data) -> String { String(decoding: data, as: UTF8.self) }

  /// Made up by a chain, awaited or by completion handler.
  private static let made = [
    Kind("inline, awaited", 1000) { text(try await $0.sessions.plain.data(from: $0.url("inline", "text", $1)).0) },
    Kind("inline, completion handler", 200) { try await handled($0.sessions.plain, $0.url("inline", "text", $1)) },
    Kind("inline declared, but it waits", 20) {
      text(try await $0.sessions.plain.data(from: $0.url("inline", "late", $1)).0)
    },
    Kind("inline, failed", 20, failsWith: .cannotConnectToHost) {
      text(try await $0.sessions.plain.data(from: $0.url("inline", "failure", $1)).0)
    },
    Kind("later, awaited", 600) { text(try await $0.sessions.plain.data(from: $0.url("later", "text", $1)).0) },
    Kind("later, completion handler", 50) { try await handled($0.sessions.plain, $0.url("later", "text", $1)) },
    Kind("delayed", 30) { text(try await $0.sessions.plain.data(from: $0.url("later", "late", $1)).0) },
    Kind("in chunks, awaited", 40) { text(try await $0.sessions.plain.data(from: $0.url("later", "chunks", $1)).0) },
    Kind("redirected", 20) { text(try await $0.sessions.plain.data(from: $0.url("later", "moved", $1)).0) },
    Kind("failed", 30, failsWith: .cannotConnectToHost) {
      text(try await $0.sessions.plain.data(from: $0.url("later", "failure", $1)).0)
    },
    Kind("timed out", 2, failsWith: .timedOut) {
      var request = URLRequest(url: $0.url("later", "never", $1))
      request.timeoutInterval = 0.02
      return text(try await $0.sessions.plain.data(for: request).0)
    },
    Kind("uploaded", 20) {
      var request = URLRequest(url: $0.url("later", "mirror", $1))
      request.httpMethod = "POST"
      return text(try await $0.sessions.plain.upload(for: request, from: Data("\($1)".utf8)).0)
    },
    Kind("cancelled, Swift task", 30, failsWith: .cancelled) { grounds, number in
      let task = Task { text(try await grounds.sessions.plain.data(from: grounds.url("later", "never", number)).0) }
      await Task.yield()
      task.cancel()
      do { return try await task.value } catch is CancellationError { throw URLError(.cancelled) }
    },
    Kind("a registry of its own", 1) { grounds, number in
      let registry = InterceptorRegistry { if number.isMultiple(of: 2) { InlineMadeUp() } else { MadeUp() } }
      let session = URLSession(configuration: .ephemeral.intercepted(by: registry))
      defer {
        session.finishTasksAndInvalidate()
        registry.invalidate()
      }
      return text(try await session.data(from: grounds.url("later", "text", number)).0)
    },
  ]

  /// Made up by a chain, told to a delegate.
  private static let delivered = [
    Kind("inline, delegate", 160) { grounds, number in
      try await grounds.deliveries.text(
        grounds.sessions.delegating.dataTask(with: grounds.url("inline", "text", number)))
    },
    Kind("in chunks, delegate", 120) { grounds, number in
      try await grounds.deliveries.text(
        grounds.sessions.delegating.dataTask(with: grounds.url("later", "chunks", number)))
    },
    Kind("suspended and resumed", 40) { grounds, number in
      try await grounds.deliveries.text(
        grounds.sessions.delegating.dataTask(with: grounds.url("later", "late", number))
      ) { task in
        task.suspend()
        task.resume()
        task.suspend()
        task.resume()
      }
    },
    Kind("cancelled, URLSession task", 30, failsWith: .cancelled) { grounds, number in
      try await grounds.deliveries.text(
        grounds.sessions.delegating.dataTask(with: grounds.url("later", "never", number))
      ) { $0.cancel() }
    },
    Kind("cancelled while suspended", 10, failsWith: .cancelled) { grounds, number in
      try await grounds.deliveries.text(
        grounds.sessions.delegating.dataTask(with: grounds.url("later", "never", number))
      ) { task in
        task.suspend()
        task.cancel()
      }
    },
  ]

  /// Sent on to the server.
  private static let network = [
    Kind("network, awaited", 100) { text(try await $0.sessions.plain.data(from: $0.url("/mirror", $1)).0) },
    Kind("network, delegate", 40) { grounds, number in
      try await grounds.deliveries.text(grounds.sessions.delegating.dataTask(with: grounds.url("/mirror", number)))
    },
    Kind("network, uploaded", 40) {
      var request = URLRequest(url: $0.url("/mirror", $1))
      request.httpMethod = "POST"
      return text(try await $0.sessions.plain.upload(for: request, from: Data("\($1)".utf8)).0)
    },
    Kind("network, redirected", 20) {
      text(try await $0.sessions.plain.data(from: $0.origin.url("/redirect/302?to=/mirror%3Fn=\($1)")).0)
    },
    Kind("network, challenged", 20) { grounds, number in
      try await grounds.deliveries.text(grounds.sessions.delegating.dataTask(with: grounds.url("/guarded", number)))
    },
    Kind("network, cancelled", 10, failsWith: .cancelled) { grounds, number in
      try await grounds.deliveries.text(grounds.sessions.delegating.dataTask(with: grounds.url("/never", number))) {
        $0.cancel()
      }
    },
    Kind("network, closed by the server", 10, failsWith: .networkConnectionLost) { grounds, number in
      do {
        return text(try await grounds.sessions.plain.data(from: grounds.url("/close", number)).0)
      } catch let error as URLError
        where [.badServerResponse, .cannotParseResponse, .networkConnectionLost].contains(error.code)
      {
        // The inner session calls an empty reply what it likes.
        throw URLError(.networkConnectionLost)
      }
    },
  ]

  /// Without a session on top.
  private static let direct = [
    Kind("direct, made up", 200) {
      text(try await $0.sessions.registry.data(for: URLRequest(url: $0.url("later", "text", $1))).0)
    },
    Kind("direct, in chunks", 30) { grounds, number in
      let (bytes, _) = try await grounds.sessions.registry.bytes(
        for: URLRequest(url: grounds.url("later", "chunks", number)))
      return try await bytes.lines.reduce(into: "") { $0 += $1 }
    },
    Kind("direct, network", 60) {
      text(try await $0.sessions.registry.data(for: URLRequest(url: $0.url("/mirror", $1))).0)
    },
    Kind("direct, dropped unread", 20) { grounds, number in
      let response = try await grounds.sessions.registry.load(URLRequest(url: grounds.url("later", "chunks", number)))
      return response.status == .ok ? "\(number)" : "status \(response.status)"
    },
    Kind("direct, dropped unread, network", 10) { grounds, number in
      let response = try await grounds.sessions.registry.load(
        URLRequest(url: grounds.origin.url("/bytes/20000?n=\(number)")))
      return response.status == .ok ? "\(number)" : "status \(response.status)"
    },
    Kind("direct, uploaded", 20) { grounds, number in
      var request = URLRequest(url: grounds.url("/mirror", number))
      request.httpMethod = "POST"
      return text(try await grounds.sessions.registry.upload(for: request, from: Data("\(number)".utf8)).0)
    },
    Kind("direct, uploaded from a stream", 10) { grounds, number in
      var request = URLRequest(url: grounds.url("/mirror", number))
      request.httpMethod = "POST"
      let stream = AsyncStream<Data> { continuation in
        continuation.yield(Data("\(number)".utf8))
        continuation.finish()
      }
      return text(try await grounds.sessions.registry.upload(for: request, from: .stream(stream)).0)
    },
    Kind("direct, downloaded", 5) { grounds, number in
      let file = grounds.folder.appendingPathComponent("\(number)")
      defer { try? FileManager.default.removeItem(at: file) }
      try await grounds.sessions.registry.download(
        for: URLRequest(url: grounds.url("later", "chunks", number)), to: file)
      return try String(contentsOf: file, encoding: .utf8)
    },
  ]

  private static func handled(_ session: URLSession, _ url: URL) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      session.dataTask(with: url) { data, _, error in
        continuation.resume(with: error.map { .failure($0) } ?? .success(text(data ?? Data())))
      }.resume()
    }
  }
}
