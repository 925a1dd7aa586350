import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("The bridge from the loading system", .timeLimit(.minutes(5)))
struct BridgeTests {
  @Test("an ordinary session's request runs through the chain to a real server")
  func throughTheChain() async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry {
        Link(name: "AddHeader") { request, next in
          var request = request
          request.urlRequest.setValue("yes", forHTTPHeaderField: "X-Waylay")
          return try await next(request)
        }
      }
      let (status, text) = try await URLSession.intercepted(by: registry).text(from: origin.url("/hello"))
      #expect(status == 200)
      #expect(text == "hello")
      #expect(origin.requests.first?["X-Waylay"] == ["yes"])
      registry.invalidate()
    }
  }

  @Test("a request no chain accepts goes the system's own way, untouched")
  func untouched() async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry()
      registry.register(InterceptorChain("other", for: .host("other.example.com")) { Link.answer("wrong") })
      let (status, text) = try await URLSession.intercepted(by: registry).text(from: origin.url("/hello"))
      #expect(status == 200)
      #expect(text == "hello")
    }
  }

  @Test("every kind of task and handler gets a whole answer, inline or not", arguments: [true, false])
  func kindsOfTasks(inline: Bool) async throws {
    let registry = InterceptorRegistry { Link.answer("whole", inline: inline) }
    let session = URLSession.intercepted(by: registry)
    #expect(try await session.text(from: .example) == (200, "whole"))
    var post = URLRequest(url: .example)
    post.httpMethod = "POST"
    let (uploaded, _) = try await session.upload(for: post, from: Data("x".utf8))
    #expect(String(decoding: uploaded, as: UTF8.self) == "whole")
    let handled = await handed(String.self) { hand in
      session.dataTask(with: URL.example) { data, _, error in
        hand(error == nil ? String(decoding: data ?? Data(), as: UTF8.self) : "\(error!)")
      }.resume()
    }
    #expect(handled == "whole")
    let recorder = Recorder()
    let delegated = URLSession.intercepted(by: registry, delegate: recorder)
    delegated.dataTask(with: .example).resume()
    #expect(await recorder.entries(3) == [.response(200), .data("whole"), .completed(nil)])
  }

  @Test("three chunks reach data(for:) whole, with a session delegate too")
  func chunksWhole() async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry { Link.pass() }
      let expected = "chunk 1\nchunk 2\nchunk 3\n"
      let plain = URLSession.intercepted(by: registry)
      let whole = try await plain.text(from: origin.url("/chunks/3?pause=5"))
      #expect(whole == (200, expected))
      // The session's delegate is a data delegate, but the task has a completion handler (P4).
      let delegated = URLSession.intercepted(by: registry, delegate: Recorder())
      let wholeToo = try await delegated.text(from: origin.url("/chunks/3?pause=5"))
      #expect(wholeToo == (200, expected))
    }
  }

  @Test(
    "a delegate sees chunks one by one, as they are produced",
    .enabled(if: Platform.deliversEachChunk, "Apple's loading system may put chunks together"))
  func chunksOneByOne() async throws {
    let pipe = AsyncStream.makeStream(of: Data.self)
    let registry = InterceptorRegistry {
      Link(name: "Stream") { request, _ in InterceptedResponse(to: request, body: .stream(pipe.stream)) }
    }
    let recorder = Recorder()
    let session = URLSession.intercepted(by: registry, delegate: recorder)
    session.dataTask(with: .example).resume()
    #expect(await recorder.entries(1) == [.response(200)])
    pipe.continuation.yield(Data("one".utf8))
    #expect(await recorder.entries(2).last == .data("one"))
    pipe.continuation.yield(Data("two".utf8))
    #expect(await recorder.entries(3).last == .data("two"))
    pipe.continuation.finish()
    #expect(await recorder.entries(4).last == .completed(nil))
  }

  @Test(
    "a delegate sees the chunks of a server as they are sent",
    .enabled(if: Platform.deliversEachChunk, "Apple's loading system may put chunks together"))
  func chunksFromServer() async throws {
    try await withOrigin { origin in
      let recorder = Recorder()
      let session = URLSession.intercepted(by: InterceptorRegistry { Link.pass() }, delegate: recorder)
      session.dataTask(with: origin.url("/gate/g")).resume()
      origin.release("one", gate: "g")
      #expect(await recorder.entries(2) == [.response(200), .data("one")])
      origin.release("two", gate: "g")
      #expect(await recorder.entries(3).last == .data("two"))
      origin.release(nil, gate: "g")
      #expect(await recorder.entries(4).last == .completed(nil))
    }
  }

  @Test(
    "suspend holds the delivery, resume goes on with it, and the chain runs once",
    .enabled(if: Platform.deliversEachChunk, "Apple's loading system may put chunks together"))
  func suspendAndResume() async throws {
    let pipe = AsyncStream.makeStream(of: Data.self)
    let runs = Log<Int>()
    let registry = InterceptorRegistry {
      Link(name: "Stream") { request, _ in
        runs.add(request.attempt)
        return InterceptedResponse(to: request, body: .stream(pipe.stream))
      }
    }
    let recorder = Recorder()
    let session = URLSession.intercepted(by: registry, delegate: recorder)
    let task = session.dataTask(with: .example)
    task.resume()
    #expect(await recorder.entries(1) == [.response(200)])
    task.suspend()
    #expect(task.state == .suspended)
    pipe.continuation.yield(Data("held".utf8))
    pipe.continuation.finish()
    // Another task on the same queue goes through meanwhile; the suspended one stays silent.
    let other = Recorder()
    let passing = URLSession.intercepted(by: InterceptorRegistry { Link.answer("other") }, delegate: other)
    passing.dataTask(with: .example).resume()
    await other.finished.wait()
    #expect(recorder.entries == [.response(200)])
    task.resume()
    #expect(await recorder.entries(3) == [.response(200), .data("held"), .completed(nil)])
    #expect(runs.all == [1])
  }

  @Test("cancel ends startLoading, and the app is told once")
  func cancel() async throws {
    let started = Event()
    let cancelled = Event()
    let registry = InterceptorRegistry {
      Link(name: "Patient") { _, _ in
        started.happen()
        return try await withTaskCancellationHandler {
          await Event().wait()
          throw CancellationError()
        } onCancel: {
          cancelled.happen()
        }
      }
    }
    let recorder = Recorder()
    let session = URLSession.intercepted(by: registry, delegate: recorder)
    let task = session.dataTask(with: .example)
    task.resume()
    await started.wait()
    task.cancel()
    await cancelled.wait()
    #expect(await recorder.entries(1) == [.completed(.cancelled)])
  }

  @Test("a task cancelled before its chain starts is told once and the chain never runs")
  func cancelEarly() async throws {
    let runs = Log<Int>()
    let registry = InterceptorRegistry {
      Link.answering(inline: true) { request in
        runs.add(1)
        return InterceptedResponse(to: request)
      }
    }
    let recorder = Recorder()
    let session = URLSession.intercepted(by: registry, delegate: recorder)
    let task = session.dataTask(with: .example)
    task.cancel()
    task.resume()
    #expect(await recorder.entries(1) == [.completed(.cancelled)])
    #expect(runs.all.isEmpty)
  }

  @Test("web-socket requests are left alone, whatever the scope")
  func webSocket() throws {
    let registry = InterceptorRegistry()
    registry.register(InterceptorChain("any", for: .any) { Link.answer("x") })
    let protocolClass = registry.protocolClass
    #expect(!protocolClass.canInit(with: URLRequest(url: try #require(URL(string: "ws://example.com/")))))
    #expect(!protocolClass.canInit(with: URLRequest(url: try #require(URL(string: "wss://example.com/")))))
    #expect(protocolClass.canInit(with: URLRequest(url: try #require(URL(string: "app://example.com/")))))
  }

  @Test("a 401 with a challenge reaches the app whole, and nothing leaves interception (P14)")
  func unauthorized() async throws {
    try await withOrigin { origin in
      let session = URLSession.intercepted(by: InterceptorRegistry { Link.pass() })
      let (data, response) = try await session.data(from: origin.url("/unauthorized"))
      let head = try #require(response as? HTTPURLResponse)
      #expect(head.statusCode == 401)
      #expect(head.value(forHTTPHeaderField: "WWW-Authenticate") == "Basic realm=\"test\"")
      #expect(head.url == origin.url("/unauthorized"))
      #expect(String(decoding: data, as: UTF8.self) == "who are you?")
      #expect(origin.requests.count == 1)
    }
  }

  @Test("a 401 made up by an interceptor does not hang, with a delegate either (P14)")
  func madeUpUnauthorized() async throws {
    let registry = InterceptorRegistry {
      Link.answering(inline: true) { request in
        InterceptedResponse(
          to: request, status: .unauthorized, fields: [.wwwAuthenticate: "Digest realm=\"x\", nonce=\"y\""])
      }
    }
    #expect(try await URLSession.intercepted(by: registry).text(from: .example).0 == 401)
    let recorder = Recorder()
    URLSession.intercepted(by: registry, delegate: recorder).dataTask(with: .example).resume()
    #expect(await recorder.entries(2) == [.response(401), .completed(nil)])
  }

  @Test(
    "intercepted(by:) leaves the original alone and has no cache on Linux (P22)",
    .enabled(if: Platform.isLinux, "on Apple platforms the cache stays"))
  func configuration() {
    let original = URLSessionConfiguration.default
    let count = original.protocolClasses?.count ?? 0
    let registry = InterceptorRegistry { Link.answer("x") }
    let copy = original.intercepted(by: registry)
    #expect(original.protocolClasses?.count ?? 0 == count)
    #expect(copy.protocolClasses?.count == count + 1)
    #expect(copy.urlCache == nil)
  }

  @Test("protocolClass serves a configuration that sets its classes by hand")
  func byHand() async throws {
    let registry = InterceptorRegistry { Link.answer("by hand") }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.protocolClasses = [registry.protocolClass]
    #expect(try await URLSession(configuration: configuration).text(from: .example) == (200, "by hand"))
  }

  @Test("after invalidate() a session fails its loads, closed, and running ones end")
  func invalidate() async throws {
    try await withOrigin { origin in
      let started = Event()
      let registry = InterceptorRegistry { Link.waiting(started) }
      let session = URLSession.intercepted(by: registry)
      async let running = failure { try await session.data(from: origin.url("/hello")) }
      await started.wait()
      registry.invalidate()
      #expect(await running.flatMap(cause)?.code == .registryInvalidated)
      let later = await failure { try await session.data(from: origin.url("/hello")) }
      #expect(later.flatMap(cause)?.code == .registryInvalidated)
      let direct = await failure { try await registry.data(for: URLRequest(url: origin.url("/hello"))) }
      #expect(direct.flatMap(cause)?.code == .registryInvalidated)
      #expect(origin.requests.isEmpty)
    }
  }

  @Test("nested installations: the one named last owns, its transport leads through the other (rule 11)")
  func nested() async throws {
    try await withOrigin { origin in
      let order = Log<String>()
      func tracer(_ name: String) -> Link {
        Link(name: name) { request, next in
          order.add(name)
          return try await next(request)
        }
      }
      let inner = InterceptorRegistry { tracer("inner") }
      let outer = InterceptorRegistry { tracer("outer") }
      let configuration = URLSessionConfiguration.ephemeral.intercepted(by: inner).intercepted(by: outer)
      let session = URLSession(configuration: configuration)
      let answer = try await session.text(from: origin.url("/hello"))
      #expect(answer == (200, "hello"))
      #expect(order.all == ["outer", "inner"])
    }
  }

  @Test("a foreign protocol class of the configuration is asked before the network (rule 11)")
  func foreignClass() async throws {
    let registry = InterceptorRegistry { Link.pass() }
    let session = URLSession.intercepted(by: registry) {
      $0.protocolClasses = [ForeignProtocol.self] + ($0.protocolClasses ?? [])
    }
    #expect(try await session.text(from: .example) == (203, "foreign"))
  }
}

/// Somebody else's protocol class.
final class ForeignProtocol: URLProtocol {
  override class func canInit(with request: URLRequest) -> Bool { true }
  override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
  override func stopLoading() {}

  override func startLoading() {
    guard let url = request.url,
      let response = HTTPURLResponse(url: url, statusCode: 203, httpVersion: "HTTP/1.1", headerFields: nil)
    else { return }
    client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
    client?.urlProtocol(self, didLoad: Data("foreign".utf8))
    client?.urlProtocolDidFinishLoading(self)
  }
}
