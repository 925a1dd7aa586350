import Foundation
import Waylay
@_spi(Benchmarks) import WaylayCore

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Mocks of one stub and of many, beside what people write by hand.
extension Scenario {
  static func mocked() -> [Scenario] {
    let floor = "floor: URLProtocol, synchronous"
    let many = [1_000, 10_000].flatMap { count in
      [("first", 0), ("in the middle", count / 2), ("last", count - 1)].map { place, position in
        mock("mock: \(count) stubs, the match \(place)", against: floor, stubs(count, matchAt: position))
      }
    }
    return [
      mock("mock: one stub", against: floor, stubs(1, matchAt: 0)),
      mock(
        "mock: one stub with a closure", against: floor,
        [Stub(.get, Answer.url) { _ in .data(Answer.body, type: "application/json") }.optional]),
      unwaited("mock: one stub, where cancelling does not wait (P27)", against: floor),
      session("mock: a dictionary by hand", against: floor, .floor(DictionaryProtocol.self)),
    ] + many + [
      mock(
        "mock: 10000 stubs by query", against: floor,
        (0..<10_000).map { Stub(.get, "\(Answer.url.absoluteString)?page=\($0)", answer).optional } + [
          stub(Answer.url)
        ]),
      miss("mock: 1000 stubs, no match, passed on", against: "mock: one stub"),
    ] + usual() + large()
  }

  /// As the mocks of others are measured: sessions of `.default` without a URLCache, and a history that is kept.
  private static func usual() -> [Scenario] {
    let floor = "floor: URLProtocol, synchronous, .default"
    let configuration = URLSessionConfiguration.default
    configuration.protocolClasses = [SynchronousFloor.self]
    configuration.urlCache = nil
    func mocked(_ count: Int) -> URLSession {
      let mock = MockInterceptor { stubs(count, matchAt: 0) }
      return URLSession(configuration: .default.intercepted(by: InterceptorRegistry { mock }))
    }
    return [
      session(floor, against: floor, URLSession(configuration: configuration)),
      session("mock: one stub, .default, with its history", against: floor, mocked(1)),
      session("mock: 1000 stubs, .default, with its history", against: floor, mocked(1_000)),
    ]
  }

  /// What a suite with very many stubs waits for.
  private static func large() -> [Scenario] {
    let making = "mock: 10000 stubs are made"
    let urls = (0..<10_000).map { "https://api.example.com/items/\($0)" }
    let mock = MockInterceptor { urls.map { Stub(.get, $0, answer).optional } }
    let registry = InterceptorRegistry { mock }
    let missing = URLRequest(url: URL(string: "https://api.example.com/item/7")!)
    return [
      Scenario(making, against: making) {
        let mock = MockInterceptor { urls.map { Stub(.get, $0, answer).optional } }
        guard mock.requests.isEmpty else { throw URLError(.unknown) }
      }.large(),
      Scenario("mock: a miss among 10000 stubs, with its report", against: making) {
        guard (try? await registry.data(for: missing)) == nil else { throw URLError(.unknown) }
        mock.reset()
      }.large(),
      cassette(urls, against: making),
    ]
  }

  /// A cassette is opened, and each of its entries is played once.
  private static func cassette(_ urls: [String], against reference: String) -> Scenario {
    let folder = Scratch.folder()
    let file = folder.appendingPathComponent("many.har")
    let entries = urls.map { url in
      """
      {"startedDateTime": "2026-11-23T09:00:00Z", "request": {"method": "GET", "url": "\(url)"}, \
      "response": {"status": 200, "content": {"mimeType": "text/plain", "text": "x"}}}
      """
    }
    let text = "{\"log\": {\"version\": \"1.2\", \"entries\": [\(entries.joined(separator: ","))]}}"
    return Scenario("mock: a cassette of \(urls.count) entries is played", against: reference) {
      if !FileManager.default.fileExists(atPath: file.path) {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
      }
      let cassette = Cassette(file.path, mode: .none)
      let registry = InterceptorRegistry { cassette }
      for url in urls { _ = try await registry.data(for: URLRequest(url: URL(string: url)!)) }
      guard cassette.issues.isEmpty else { throw URLError(.unknown) }
    }.large()
  }

  private static var answer: MockResponse { .data(Answer.body, type: "application/json") }

  private static func stub(_ url: URL) -> Stub { Stub(.get, url, answer).optional }

  /// So many stubs for users of one host, one of which is for the benchmark's URL.
  private static func stubs(_ count: Int, matchAt position: Int) -> [Stub] {
    (0..<count).map { number in
      number == position ? stub(Answer.url) : stub(Answer.url.appendingPathComponent("\(number)"))
    }
  }

  private static func mock(_ name: String, against reference: String, _ stubs: [Stub]) -> Scenario {
    let mock = MockInterceptor { stubs }
    // A history of all loads of a run would be measured with them.
    let count = Counter()
    let session = URLSession.intercepted(by: InterceptorRegistry { mock })
    return Scenario(name, against: reference) {
      let (data, _) = try await session.data(from: Answer.url)
      guard data == Answer.body else { throw URLError(.cannotDecodeContentData) }
      if count.next() % 1024 == 0 { mock.reset() }
    }
  }

  /// The same stub as with a Foundation whose callers need no protection from their cancellation.
  private static func unwaited(_ name: String, against reference: String) -> Scenario {
    var scenario = mock(name, against: reference, stubs(1, matchAt: 0))
    #if canImport(FoundationNetworking)
      scenario.surrounding = { Cancellation.assume($0 ? .returns : nil) }
    #endif
    return scenario
  }

  /// What a request costs that no stub is for, and that goes on to an interceptor which answers it.
  private static func miss(_ name: String, against reference: String) -> Scenario {
    let mock = MockInterceptor(.init(unmatched: .passThrough)) {
      stubs(1_001, matchAt: 1_000).dropLast().map { $0 }
    }
    let count = Counter()
    let session = URLSession.intercepted(
      by: InterceptorRegistry {
        mock
        AsyncAnswering()
      })
    return Scenario(name, against: reference) {
      let (data, _) = try await session.data(from: Answer.url)
      guard data == Answer.body else { throw URLError(.cannotDecodeContentData) }
      if count.next() % 1024 == 0 { mock.reset() }
    }
  }
}

/// Counts, from any thread.
private final class Counter: @unchecked Sendable {
  // Unchecked: touched under the lock only.
  private let lock = NSLock()
  private var count = 0

  func next() -> Int {
    lock.withLock {
      count += 1
      return count
    }
  }
}

/// The mock that many test suites have: a dictionary from URLs to answers, in a static variable.
private final class DictionaryProtocol: FloorProtocol {
  private struct Key: Hashable {
    let method: String
    let url: URL
  }

  private static let answers: [Key: (Int, [String: String], Data)] = {
    var answers: [Key: (Int, [String: String], Data)] = [:]
    for number in 0..<1_000 {
      answers[Key(method: "GET", url: Answer.url.appendingPathComponent("\(number)"))] = (
        200, Answer.fields, Answer.body
      )
    }
    answers[Key(method: "GET", url: Answer.url)] = (200, Answer.fields, Answer.body)
    return answers
  }()

  override func startLoading() {
    guard let url = request.url,
      let (status, fields, body) = Self.answers[Key(method: request.httpMethod ?? "GET", url: url)],
      let head = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
    else { return }
    client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
    client?.urlProtocol(self, didLoad: body)
    client?.urlProtocolDidFinishLoading(self)
  }
}
