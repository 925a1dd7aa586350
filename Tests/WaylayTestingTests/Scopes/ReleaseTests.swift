import Foundation
import TestSupport
import Testing
import WaylayTesting

@Suite("The end of a scope", .timeLimit(.minutes(5)))
struct ReleaseTests {
  /// A kind of stub, and whether its load succeeds.
  struct Kind: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let stub: @Sendable () -> Stub

    init(_ name: String, _ stub: @escaping @Sendable () -> Stub) {
      testDescription = name
      self.stub = stub
    }
  }

  static let kinds: [Kind] = [
    Kind("declared") { Stub(.post, "/p", .status(204)) },
    Kind("closure") { Stub(.post, "/p") { request in .data(request.body) } },
    Kind("asynchronous closure") {
      Stub(.post, "/p") { request in
        await Task.yield()
        return .data(request.body)
      }
    },
    Kind("closure without an argument") { Stub(.post, "/p") { .data(Data(count: 1)) } },
    Kind("predicate") { Stub(.post, "/p", .status(204)).where(.predicate("any") { _ in true }) },
    Kind("delayed") { Stub(.post, "/p", .text("late").delay(.milliseconds(1))) },
    Kind("stream") {
      Stub(
        .post, "/p",
        .stream(
          AsyncStream {
            $0.yield(Data("a".utf8))
            $0.finish()
          }))
    },
    Kind("error") { Stub(.post, "/p", .error(URLError(.timedOut))) },
    Kind("fault") { Stub(.post, "/p", .text("half of it").fault(.connectionReset(afterBytes: 4))) },
    Kind("never used") { Stub(.post, "/other") { request in .data(request.body) }.optional },
  ]

  @Test("frees the mock and everything in it", arguments: kinds)
  func frees(_ kind: Kind) async throws {
    weak var mock: MockInterceptor?
    weak var scope: MockScope?
    _ = try await collectReports {
      try await withMock {
        kind.stub()
      } operation: { () async throws in
        mock = MockInterceptor.current
        scope = MockScope.current
        var request = URLRequest(url: URL(string: "https://api.example.com/p")!)
        request.httpMethod = "POST"
        _ = try? await URLSession.mocked.upload(for: request, from: Data(count: 1024))
        _ = try? await MockScope.current?.registry.upload(for: request, from: Data(count: 1024))
      }
    }
    // What the loads hold goes when their tasks have ended, which may be a moment after their answers are there.
    while mock != nil || scope != nil, !Task.isCancelled { await Task.yield() }
    #expect(mock == nil && scope == nil)
  }
}
