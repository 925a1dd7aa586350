import Foundation
import TestSupport
import Testing
import WaylayCore

@Suite("What a load starts", .timeLimit(.minutes(5)))
struct LineageTests {
  /// The end of every chain: says that no chain was there.
  struct Bare: Transport {
    let capabilities: TransportCapabilities = []

    func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
      InterceptedResponse(to: request, body: .text("bare"), source: .network)
    }
  }

  /// How the first load ends.
  enum End: CaseIterable {
    case inMemory, streamed, broken, failed, cancelled, dropped
  }

  /// A registry whose loads of `/first` start a task that loads `/later` when it may.
  final class Bench: Sendable {
    let mayLoad = Event()
    let isRunning = Event()
    let runs = Log<String>()
    let result = Promise<String>()
    let bytes = AsyncThrowingStream<Data, any Error>.makeStream()
    private let registries = Locked<(registry: InterceptorRegistry, session: URLSession)?>(nil)

    var registry: InterceptorRegistry { registries.withLock { $0! }.registry }
    var session: URLSession { registries.withLock { $0! }.session }
    var first: URLRequest { URLRequest(url: URL(string: "http://api.example.com/first")!) }
    var later: URLRequest { URLRequest(url: URL(string: "http://api.example.com/later")!) }

    init(_ end: End, bySession: Bool) {
      let registry = InterceptorRegistry(transport: Bare()) {
        Link { [self] request, _ in
          runs.add(request.url.path)
          guard request.url.path == "/first" else { return InterceptedResponse(to: request, body: .text("chain")) }
          let tagged = request.urlRequest
          Task {
            await mayLoad.wait()
            do {
              result.settle(.success(try await self.text(of: self.later, bySession) + self.again(tagged)))
            } catch {
              result.settle(.failure(error))
            }
          }
          isRunning.happen()
          switch end {
          case .inMemory: return InterceptedResponse(to: request, body: .text("first"))
          case .failed: throw URLError(.cannotDecodeContentData)
          case .cancelled: try await Never.comes()
          case .streamed, .broken, .dropped: return InterceptedResponse(to: request, body: .stream(bytes.stream))
          }
        }
      }
      registries.withLock { $0 = (registry, URLSession.intercepted(by: registry)) }
    }

    func text(of request: URLRequest, _ bySession: Bool) async throws -> String {
      let data = bySession ? try await session.data(for: request).0 : try await registry.data(for: request).0
      return String(decoding: data, as: UTF8.self)
    }

    /// A copy of the first request, with its tag, from a task that knows nothing of it.
    private func again(_ tagged: URLRequest) async throws -> String {
      var tagged = tagged
      tagged.url = later.url
      return try await Task.detached { [tagged] in try await self.text(of: tagged, true) }.value
    }
  }

  @Test(
    "is outside of it once its last byte has come, it has failed or was cancelled", arguments: End.allCases,
    [true, false])
  func afterwards(end: End, bySession: Bool) async throws {
    let bench = Bench(end, bySession: bySession)
    let load = Task {
      if end == .dropped {
        let response = try await bench.registry.load(bench.first)
        #expect(response.status == .ok)
      } else {
        _ = try await bench.text(of: bench.first, bySession)
      }
    }
    await bench.isRunning.wait()
    bench.bytes.continuation.yield(Data("first".utf8))
    bench.bytes.continuation.finish(throwing: end == .broken ? URLError(.networkConnectionLost) : nil)
    if end == .cancelled { load.cancel() }
    _ = await load.result
    bench.mayLoad.happen()
    #expect(try await bench.result.value() == "chainchain")
    #expect(bench.runs.all == ["/first", "/later", "/later"])
    bench.registry.invalidate()
  }

  @Test("is inside until the last byte, though the head has come long ago", arguments: [true, false])
  func meanwhile(bySession: Bool) async throws {
    let bench = Bench(.streamed, bySession: bySession)
    let response = try await bench.registry.load(bench.first)
    bench.mayLoad.happen()
    #expect(try await bench.result.value() == "barebare")
    bench.bytes.continuation.finish()
    #expect(try await response.body.collect(upTo: 10).isEmpty)
    #expect(bench.runs.all == ["/first"])
    bench.registry.invalidate()
  }

  @Test("each level is judged by itself: a load that has ended within one that goes on")
  func levels() async throws {
    let (isOver, runs) = (Event(), Log<String>())
    let late = Promise<String>()
    let inner = InterceptorRegistry(transport: Bare()) {
      Link { request, _ in
        runs.add("inner \(request.url.path)")
        return InterceptedResponse(to: request, body: .text("inner"))
      }
    }
    let outer = InterceptorRegistry(transport: Bare())
    outer.register(
      InterceptorChain("outer") {
        Link { [weak outer] request, next in
          runs.add("outer \(request.url.path)")
          _ = try await inner.data(for: URLRequest(url: URL(string: "http://a.example/one")!))
          // What the inner load has left behind is inside of the outer one, and of nothing else.
          let url = URL(string: "http://a.example/two")!
          let texts = try await [outer!.data(for: URLRequest(url: url)).0, inner.data(for: URLRequest(url: url)).0]
          late.settle(.success(texts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")))
          isOver.happen()
          return try await next(request)
        }
      })
    _ = try await outer.data(for: URLRequest(url: URL(string: "http://a.example/")!))
    await isOver.wait()
    #expect(try await late.value() == "bare inner")
    #expect(runs.all == ["outer /", "inner /one", "inner /two"])
  }

  @Test("loads that start one another as soon as each has ended are a loop, which fails")
  func endless() async throws {
    let gates = Locked<[Event]>([])
    let runs = Log<Int>()
    let end = Promise<WaylayError?>()
    let registry = InterceptorRegistry(transport: Bare())
    registry.register(
      InterceptorChain("prefetch") {
        Link { [weak registry] request, _ in
          guard let registry else { throw CancellationError() }
          runs.add(1)
          let gate = Event()
          gates.withLock { $0.append(gate) }
          Task {
            await gate.wait()
            do { _ = try await registry.data(for: URLRequest(url: .example)) } catch {
              end.settle(.success(cause(error)))
            }
          }
          return InterceptedResponse(to: request, body: .text("x"))
        }
      })
    let events = registry.events()
    let watch = Task {
      for await event in events where event.kind == .finished { gates.withLock { $0.removeFirst() }.happen() }
    }
    _ = try await registry.data(for: URLRequest(url: .example))
    #expect(try await end.value()?.code == .loopDetected)
    #expect((2...20).contains(runs.all.count))
    registry.invalidate()
    await watch.value
  }

  @Test("work that loads share is inside them while it runs, also when the first has gone")
  func shared() async throws {
    let runs = Log<String>()
    let (mayBegin, isOver) = (Event(), Event())
    let texts = Promise<[String]>()
    let registry = InterceptorRegistry(transport: Bare())
    registry.register(
      InterceptorChain("shared") {
        Link { [weak registry] request, _ in
          guard let registry else { throw CancellationError() }
          runs.add(request.url.path)
          guard request.url.path == "/first" else { return InterceptedResponse(to: request, body: .text("chain")) }
          let work = SharedWork()
          Task {
            @Sendable func text() async throws -> String {
              let url = URL(string: "http://a.example/later")!
              return String(decoding: try await registry.data(for: URLRequest(url: url)).0, as: UTF8.self)
            }
            var all: [String] = []
            let after = try await work.run {
              await mayBegin.wait()
              all.append(try await text())
              return Task {
                await isOver.wait()
                return try await text()
              }
            }
            isOver.happen()
            all.append(try await after.value)
            texts.settle(.success(all))
          }
          return InterceptedResponse(to: request, body: .text("first"))
        }
      })
    _ = try await registry.data(for: URLRequest(url: URL(string: "http://a.example/first")!))
    mayBegin.happen()
    #expect(try await texts.value() == ["bare", "chain"])
    #expect(runs.all == ["/first", "/later"])
  }
}
