import Foundation
import TestOrigin
import Testing
import WaylayTesting

@Suite("A mock's scope", .timeLimit(.minutes(5)))
struct ScopeTests {
  @Test("answers the session of the test", .mocked { Stub(.get, "https://api.example.com/users/1", .text("Ada")) })
  func answers() async throws {
    let name = try await UserClient(session: .mocked).name(of: 1)
    #expect(name == "Ada")
    #expect(MockInterceptor.current.requests.count == 1)
  }

  @Test("has one session, wherever it is asked for", .mocked())
  func oneSession() async throws {
    let session = URLSession.mocked
    let others = await withTaskGroup { group in
      for _ in 0..<10 { group.addTask { URLSession.mocked } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(others.allSatisfy { $0 === session })
    #expect(URLSessionConfiguration.mocked.protocolClasses?.isEmpty == false)
  }

  @Test(
    "gives configurations for sessions with a delegate",
    .mocked { Stub(.get, "https://api.example.com/users/1", .text("Ada")) })
  func configurations() async throws {
    let recorder = Completion()
    let session = URLSession(configuration: .mocked, delegate: recorder, delegateQueue: nil)
    session.dataTask(with: UserClient.url(1)).resume()
    let name = try await recorder.body
    #expect(name == "Ada")
    session.invalidateAndCancel()
  }

  @Test(
    "answers the registry's direct loads", .mocked { Stub(.get, "https://api.example.com/users/1", .text("Ada")) })
  func direct() async throws {
    let scope = try #require(MockScope.current)
    let (data, _) = try await scope.registry.data(for: URLRequest(url: UserClient.url(1)))
    #expect(data == Data("Ada".utf8))
  }

  @Test(
    "reaches unstructured tasks, and detached ones that are given it",
    .mocked { Stub(.get, "https://api.example.com/users/1", .text("Ada")) })
  func tasks() async throws {
    let scope = try #require(MockScope.current)
    let unstructured = await Task { await UserClient(session: .mocked).nameIfAny(of: 1) }.value
    #expect(unstructured == "Ada")
    let detached = await Task.detached {
      await MockScope.$current.withValue(scope) { await UserClient(session: .mocked).nameIfAny(of: 1) }
    }.value
    #expect(detached == "Ada")
    let session = URLSession.mocked
    let captured = await Task.detached { await UserClient(session: session).nameIfAny(of: 1) }.value
    #expect(captured == "Ada")
  }

  @Test("keeps its cookies to itself")
  func cookies() async throws {
    for _ in 0..<2 {
      try await withMock {
        Stub(.get, "https://api.example.com/users/1", .text("Ada").field("Set-Cookie", "visited=1"))
      } operation: {
        _ = try await UserClient(session: .mocked).name(of: 1)
        _ = try await UserClient(session: .mocked).name(of: 1)
        let cookies = MockInterceptor.current.requests.map { $0.field("Cookie") }
        #expect(cookies == [nil, "visited=1"])
      }
    }
  }

  @Test("fails the loads of a session that outlives it, without a trap and without the network")
  func outlived() async throws {
    let origin = try await TestOrigin.start()
    var session: URLSession?
    withMock {
    } operation: {
      session = .mocked
    }
    let left = try #require(session)
    await #expect(throws: URLError.self) { _ = try await left.data(from: origin.url("/hello")) }
    #expect(origin.requests.isEmpty)
    await origin.stop()
  }

  @Test("lets its session go")
  func letsGo() async throws {
    weak var session: URLSession?
    weak var scope: MockScope?
    try await withMock {
      Stub(.get, "https://api.example.com/users/1", .text("Ada"))
    } operation: {
      session = .mocked
      scope = .current
      _ = try await UserClient(session: .mocked).name(of: 1)
      #expect(session != nil)
    }
    #expect(scope == nil)
    // Its own queue is the last to let it go.
    while session != nil, !Task.isCancelled { await Task.yield() }
  }

  @Test("passes the operation's result and error on")
  func results() async throws {
    let value = withMock {
    } operation: {
      7
    }
    #expect(value == 7)
    #expect(throws: CocoaError.self) {
      try withMock {
        Stub(.get, "/never", .status(204))
      } operation: {
        throw CocoaError(.featureUnsupported)
      }
    }
    await #expect(throws: CocoaError.self) {
      try await withMock {
        throw CocoaError(.featureUnsupported)
      } operation: {
        await Task.yield()
      }
    }
  }

  @Test("runs on the actor of its caller")
  @MainActor func isolation() async {
    await withMock {
    } operation: {
      MainActor.assertIsolated()
      await Task.yield()
      MainActor.assertIsolated()
    }
  }
}

@Suite(
  "Scopes in scopes",
  .mocked {
    Stub(.get, "https://api.example.com/users/:id", .text("of the suite"))
    Stub(.get, "https://api.example.com/users/9", .text("nine")).optional
  })
struct NestedScopeTests {
  @Test("a test without stubs of its own has the suite's")
  func inherited() async throws {
    let name = try await UserClient(session: .mocked).name(of: 1)
    #expect(name == "of the suite")
  }

  @Test(
    "a test's stubs are asked before the suite's",
    .mocked { Stub(.get, "https://api.example.com/users/1", .text("of the test")) })
  func inner() async throws {
    let client = UserClient(session: .mocked)
    let names = try await [client.name(of: 1), client.name(of: 2)]
    #expect(names == ["of the test", "of the suite"])
    #expect(MockInterceptor.current.requests.count == 2)
  }

  @Test(
    "withMock goes before both, and for its time only",
    .mocked { Stub(.get, "https://api.example.com/users/1", .text("of the test")) })
  func innermost() async throws {
    let outside = UserClient(session: .mocked)
    try await withMock {
      Stub(.get, "https://api.example.com/users/1", .text("of the moment"))
    } operation: {
      let client = UserClient(session: .mocked)
      let names = try await [client.name(of: 1), client.name(of: 2), outside.name(of: 1)]
      #expect(names == ["of the moment", "of the suite", "of the test"])
    }
    let after = try await UserClient(session: .mocked).name(of: 1)
    #expect(after == "of the test")
  }

  @Test("two children of a test override the same stub and do not meet")
  func siblings() async throws {
    try await withThrowingTaskGroup { group in
      for number in 0..<20 {
        group.addTask {
          try await withMock {
            Stub(.get, "https://api.example.com/users/1", .text("\(number)"))
          } operation: {
            for _ in 0..<10 {
              let name = try await UserClient(session: .mocked).name(of: 1)
              #expect(name == "\(number)")
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  @Suite("and a suite in it", .mocked { Stub(.get, "https://api.example.com/users/2", .text("of the inner suite")) })
  struct Inner {
    @Test(
      "asks the nearer suite's stubs first",
      .mocked { Stub(.get, "https://api.example.com/users/3", .text("of the test")) })
    func three() async throws {
      let client = UserClient(session: .mocked)
      let names = try await [client.name(of: 1), client.name(of: 2), client.name(of: 3)]
      #expect(names == ["of the suite", "of the inner suite", "of the test"])
    }
  }

  @Test(
    "counts begin anew for each case", .mocked { Stub(.get, "https://api.example.com/users/1", .text("once")).once },
    arguments: 0..<5)
  func cases(number: Int) async throws {
    let client = UserClient(session: .mocked)
    let names = try await [client.name(of: 1), client.name(of: 1)]
    #expect(names == ["once", "of the suite"])
  }
}
