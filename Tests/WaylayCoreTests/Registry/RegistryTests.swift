import Foundation
import Logging
import TestSupport
import Testing
import WaylayCore

@Suite("The registry and its chains", .timeLimit(.minutes(5)))
struct RegistryTests {
  private func answer(_ registry: InterceptorRegistry, _ url: URL = .example) async throws -> String {
    String(decoding: try await registry.data(for: URLRequest(url: url)).0, as: UTF8.self)
  }

  @Test("chains are asked newest first, and the same name replaces in place (rule 1)")
  func order() async throws {
    let registry = InterceptorRegistry { Link.answer("default") }
    registry.register(InterceptorChain("newer") { Link.answer("newer") })
    #expect(try await answer(registry) == "newer")
    registry.register(InterceptorChain("default") { Link.answer("replaced") })
    #expect(try await answer(registry) == "newer")
    #expect(registry.chains.map(\.name) == ["newer", .default])
    registry.unregister("newer")
    #expect(try await answer(registry) == "replaced")
  }

  @Test("a chain accepts when its scope covers the request and one of its interceptors says canInit")
  func acceptance() async throws {
    let registry = InterceptorRegistry { Link.answer("fallback") }
    registry.register(InterceptorChain("scoped", for: .host("other.example.com")) { Link.answer("wrong") })
    registry.register(InterceptorChain("declining") { Link.pass(accepts: { _ in false }) })
    #expect(try await answer(registry) == "fallback")
    let partly = InterceptorRegistry {
      Link.pass(accepts: { _ in false })
      Link.answer("second")
    }
    #expect(try await answer(partly) == "second")
  }

  @Test("an onion: array order going out, reverse order coming back; canonicalRequest folds first (rule 2)")
  func onion() async throws {
    let log = Log<String>()
    func layer(_ name: String) -> Link {
      Link(
        name: name,
        canonical: { request in
          var request = request
          request.setValue((request.value(forHTTPHeaderField: "X-Path") ?? "") + name, forHTTPHeaderField: "X-Path")
          return request
        }
      ) { request, next in
        log.add("> \(name)")
        defer { log.add("< \(name)") }
        return try await next(request)
      }
    }
    let registry = InterceptorRegistry {
      layer("a")
      layer("b")
      Link { request, _ in
        InterceptedResponse(to: request, body: .text(request.urlRequest.value(forHTTPHeaderField: "X-Path") ?? ""))
      }
    }
    #expect(try await answer(registry) == "ab")
    #expect(log.all == ["> a", "> b", "< b", "< a"])
  }

  @Test("the builder takes conditions, loops and lists")
  func builder() {
    let isOn = true
    let chain = InterceptorChain("built") {
      Link.pass("first")
      if isOn { Link.pass("if") } else { Link.pass("else") }
      if !isOn { Link.pass("never") }
      for number in 1...2 { Link.pass("loop \(number)") }
      [Link.pass("list")] as [any RequestInterceptor]
    }
    #expect(chain.interceptors.map(\.name) == ["first", "if", "loop 1", "loop 2", "list"])
  }

  @Test("attempts are counted by next, and notes travel down and survive")
  func attemptsAndNotes() async throws {
    enum Tenant: InterceptedRequest.Key { static let defaultValue = "none" }
    let log = Log<String>()
    let registry = InterceptorRegistry {
      Link { request, next in
        var request = request
        #expect(request[Tenant.self] == "none")
        request[Tenant.self] = "acme"
        _ = try await next(request)
        _ = try await next(request)
        return try await next(request)
      }
      Link { request, _ in
        log.add("\(request.id == request.id) \(request.attempt) \(request[Tenant.self])")
        return InterceptedResponse(to: request)
      }
    }
    _ = try await answer(registry)
    #expect(log.all == ["true 1 acme", "true 2 acme", "true 3 acme"])
  }

  @Test("next may be called concurrently: a hedged request takes the first answer")
  func hedging() async throws {
    let slow = Event()
    let registry = InterceptorRegistry {
      Link { request, next in
        try await withThrowingTaskGroup(of: InterceptedResponse.self) { group in
          for _ in 0..<2 { group.addTask { try await next(request) } }
          defer { group.cancelAll() }
          return try await group.next()!
        }
      }
      Link { request, _ in
        if request.attempt == 1 {
          await withTaskCancellationHandler {
            await slow.wait()
          } onCancel: {
            slow.happen()
          }
          throw CancellationError()
        }
        return InterceptedResponse(to: request, body: .text("attempt \(request.attempt)"))
      }
    }
    #expect(try await answer(registry) == "attempt 2")
  }

  @Test("additional headers of the configuration are added where the request has none of its own (P10, rule 3)")
  func additionalFields() async throws {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpAdditionalHeaders = ["X-App": "config", "X-Both": "config"]
    let registry = InterceptorRegistry {
      Link(accepts: { $0.value(forHTTPHeaderField: "X-App") == "config" }) { request, _ in
        InterceptedResponse(to: request, body: .text(request.urlRequest.value(forHTTPHeaderField: "X-Both") ?? ""))
      }
    }
    var request = URLRequest(url: .example)
    request.setValue("own", forHTTPHeaderField: "X-Both")
    let session = URLSession(configuration: configuration.intercepted(by: registry))
    #expect(try await session.text(for: request) == (200, "own"))
  }

  @Test("events tell a load's life in order, and one load logs one line without secrets")
  func eventsAndLog() async throws {
    let lines = Log<String>()
    let registry = InterceptorRegistry(logger: .recording(lines)) {
      Link.answer("x")
    }
    let events = registry.events()
    let url = try #require(URL(string: "http://user:pl4nted-password@api.example.com/path?token=pl4nted-token#part"))
    _ = try await registry.data(for: URLRequest(url: url))
    let failing = InterceptorRegistry { Link { _, _ in throw URLError(.timedOut) } }
    let failingEvents = failing.events()
    _ = await failure { try await failing.data(for: URLRequest(url: url)) }
    registry.invalidate()
    failing.invalidate()
    var kinds: [OpenEnum<LoadEvent>] = []
    for await event in events { kinds.append(event.kind) }
    #expect(kinds == [.started, .responded, .finished])
    kinds = []
    for await event in failingEvents { kinds.append(event.kind) }
    #expect(kinds == [.started, .failed])
    #expect(lines.all.count == 1)
    let line = try #require(lines.all.first)
    #expect(!line.contains(Recording.mark))
    for key in [
      LogKey.load, LogKey.chain, LogKey.source, LogKey.method, LogKey.url, LogKey.status, LogKey.milliseconds,
    ] {
      #expect(line.contains(key))
    }
  }

  @Test("registering while requests run is safe, and takes effect for the next request (rule 8)")
  func registeringWhileRunning() async throws {
    let registry = InterceptorRegistry { Link.answer("base") }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<4 {
        group.addTask {
          for round in 0..<200 {
            registry.register(
              InterceptorChain("chain \(index)", for: .host("none\(round).example.com")) { Link.answer("no") })
            registry.unregister("chain \(index)")
          }
        }
        group.addTask {
          for _ in 0..<200 {
            let (data, _) = try await registry.data(for: URLRequest(url: .example))
            #expect(data == Data("base".utf8))
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
