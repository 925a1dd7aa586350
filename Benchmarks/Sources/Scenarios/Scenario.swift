import CurlAlone
import Foundation
public import TestOrigin
import Waylay

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One thing to measure, and what it is measured against.
public struct Scenario: Sendable {
  /// What it is.
  public let name: String
  /// The name of the scenario whose time is 1.
  public let reference: String
  /// Does it once.
  public let load: @Sendable () async throws -> Void
  /// Does it many times, where that is not the same as many loads side by side.
  private var batch: (@Sendable (_ count: Int, _ inFlight: Int) async throws -> Void)?

  init(_ name: String, against reference: String, _ load: @escaping @Sendable () async throws -> Void) {
    self.name = name
    self.reference = reference
    self.load = load
  }

  func large() -> Scenario {
    var scenario = self
    scenario.isLarge = true
    return scenario
  }

  private func inBatches(_ batch: @escaping @Sendable (_ count: Int, _ inFlight: Int) async throws -> Void) -> Scenario
  {
    var scenario = self
    scenario.batch = batch
    return scenario
  }

  /// Called with `true` before a batch and with `false` after it.
  var surrounding: @Sendable (_ begins: Bool) -> Void = { _ in }

  /// Whether it takes so long that a batch is a single one.
  public private(set) var isLarge = false

  /// Does it so many times, so many at once.
  public func run(_ count: Int, inFlight: Int) async throws {
    surrounding(true)
    defer { surrounding(false) }
    if inFlight > 1, let batch { return try await batch(count, inFlight) }
    if inFlight == 1 {
      for _ in 0..<count { try await load() }
      return
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<inFlight {
        group.addTask {
          for _ in stride(from: worker, to: count, by: inFlight) { try await load() }
        }
      }
      try await group.waitForAll()
    }
  }
}

extension Scenario {
  /// All scenarios; those of the network use `origin`.
  public static func all(_ origin: TestOrigin) -> [Scenario] {
    answered() + mocked() + direct() + archive() + inspected() + agent() + interceptors()
      + network(origin)
      + hosts(origin)
  }

  static func session(_ name: String, against reference: String, _ session: URLSession) -> Scenario {
    Scenario(name, against: reference) {
      let (data, _) = try await session.data(from: Answer.url)
      guard data == Answer.body else { throw URLError(.cannotDecodeContentData) }
    }
  }

  private static func answered() -> [Scenario] {
    let inline = InterceptorRegistry { Answering() }
    let inlineTen = InterceptorRegistry {
      for _ in 0..<9 { Passing() }
      Answering()
    }
    let hundred = InterceptorRegistry { Answering() }
    for number in 0..<99 {
      hundred.register(InterceptorChain("chain \(number)", for: .host("host\(number).example.com")) { Answering() })
    }
    let hundredDeclining = InterceptorRegistry { Answering() }
    for number in 0..<99 { hundredDeclining.register(InterceptorChain("chain \(number)") { Declining() }) }
    let asynchronous = InterceptorRegistry { AsyncAnswering() }
    let synchronousFloor = "floor: URLProtocol, synchronous"
    let hoppingFloor = "floor: URLProtocol, leaving the queue and coming back"
    return [
      session(synchronousFloor, against: synchronousFloor, .floor(SynchronousFloor.self)),
      session(
        "floor: URLProtocol, synchronous, as usually installed (with a URLCache)", against: synchronousFloor,
        .floor(SynchronousFloor.self, hasCache: true)),
      session("one inline interceptor", against: synchronousFloor, .intercepted(by: inline)),
      session("a chain of 10, inline", against: synchronousFloor, .intercepted(by: inlineTen)),
      session("100 chains, other hosts", against: "one inline interceptor", .intercepted(by: hundred)),
      session("100 chains that decline", against: "one inline interceptor", .intercepted(by: hundredDeclining)),
      session(hoppingFloor, against: hoppingFloor, .floor(HoppingFloor.self)),
      session("one asynchronous interceptor", against: hoppingFloor, .intercepted(by: asynchronous)),
    ]
  }

  private static func direct() -> [Scenario] {
    func load(_ name: String, against reference: String, _ registry: InterceptorRegistry) -> Scenario {
      Scenario(name, against: reference) {
        let response = try await registry.load(URLRequest(url: Answer.url))
        guard response.body.length == Int64(Answer.body.count) else { throw URLError(.cannotDecodeContentData) }
      }
    }
    let one = "direct load, one interceptor"
    return [
      load(one, against: one, InterceptorRegistry { AsyncAnswering() }),
      load(
        "direct load, a chain of 10", against: one,
        InterceptorRegistry {
          for _ in 0..<9 { AsyncPassing() }
          AsyncAnswering()
        }),
    ]
  }

  private static func network(_ origin: TestOrigin) -> [Scenario] {
    let url = origin.url("/hello")
    let plain = URLSession(configuration: .ephemeral)
    let registry = InterceptorRegistry(configuration: .ephemeral) { AsyncPassing() }
    let intercepted = URLSession.intercepted(by: registry)
    let reference = "network: plain URLSession"
    let large = "32 MiB: plain URLSession"
    let largeURL = origin.url("/bytes/\(32 << 20)")
    return [
      Scenario(reference, against: reference) { _ = try await plain.data(from: url) },
      Scenario("network: intercepted session", against: reference) { _ = try await intercepted.data(from: url) },
      Scenario("network: direct load", against: reference) { _ = try await registry.data(for: URLRequest(url: url)) },
      Scenario(large, against: large) { _ = try await plain.data(from: largeURL) }.large(),
      Scenario("32 MiB: intercepted session", against: large) { _ = try await intercepted.data(from: largeURL) }
        .large(),
      Scenario("32 MiB: direct load, as a stream", against: large) {
        for try await _ in try await registry.load(URLRequest(url: largeURL)).body {}
      }.large(),
    ] + alone(url, registry)
  }

  /// libcurl in a C loop: what the transport on it can be compared with.
  private static func alone(_ url: URL, _ registry: InterceptorRegistry) -> [Scenario] {
    let name = "alone: libcurl in a C loop"
    let text = url.absoluteString
    guard let handle = curl_alone_new(text).map(Handle.init) else { return [] }
    let loop = Scenario(name, against: name) {
      guard curl_alone_get(handle.pointer) >= 0 else { throw URLError(.unknown) }
    }
    let handed = "alone: libcurl in C on a thread of its own"
    @Sendable func hand(_ count: Int, _ inFlight: Int) throws {
      guard curl_alone_handed(text, count, Int32(inFlight)) >= 0 else { throw URLError(.unknown) }
    }
    return [
      // One load on a kept handle, or all of a batch on one thread.
      loop.inBatches { count, inFlight in
        guard curl_alone_many(text, count, Int32(inFlight)) >= 0 else { throw URLError(.unknown) }
      },
      Scenario(handed, against: name) { try hand(1, 1) }.inBatches(hand),
      Scenario("alone: direct load", against: name) { _ = try await registry.data(for: URLRequest(url: url)) },
    ]
  }

  /// Used by one load at a time.
  private struct Handle: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer
  }
}

extension URLSession {
  static func intercepted(by registry: InterceptorRegistry) -> URLSession {
    URLSession(configuration: .ephemeral.intercepted(by: registry))
  }
}

/// Answers by itself, inside the loading system's call.
struct Answering: InlineResponding {
  func respondInline(_ request: InterceptedRequest) -> InlineResponse {
    .response(InterceptedResponse(to: request, fields: Answer.httpFields, body: .data(Answer.body)))
  }
}

/// Passes on, inside the loading system's call.
struct Passing: InlineResponding {
  func respondInline(_ request: InterceptedRequest) -> InlineResponse { .next(request) }
}

/// The same as interceptors are written that have not measured anything.
struct AsyncAnswering: RequestInterceptor {
  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    InterceptedResponse(to: request, fields: Answer.httpFields, body: .data(Answer.body))
  }
}

/// The same.
struct AsyncPassing: RequestInterceptor {
  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    try await next(request)
  }
}

/// Never takes part.
struct Declining: RequestInterceptor {
  func canInit(with request: URLRequest) -> Bool { false }

  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    try await next(request)
  }
}
