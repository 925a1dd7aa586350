import Testing
import WaylayTesting

/// Tests that fail on purpose. They are enabled only in the processes that `ReportTests` starts, which reads their
/// report.
///
/// A comment `issue:` marks the line at which an issue is expected.
@Suite("Fixtures", .enabled(if: Fixtures.areEnabled))
struct FailingTests {
  @Suite("One after the other or side by side", .timeLimit(.minutes(5)))
  struct Swallowed {
    @Test(  // issue: swallowed miss
      "swallowed miss",
      .mocked {
        Stub(.get, "https://api.example.com/users/1", .text("Ada"))
      })
    func swallowedMiss() async {
      let client = UserClient(session: .mocked)
      #expect(await client.nameIfAny(of: 1) == "Ada")
      #expect(await client.nameIfAny(of: 2) == nil)
    }

    @Test(
      "its neighbour",
      .mocked {
        Stub(.get, "https://api.example.com/users/2", .text("Grace"))
      })
    func neighbour() async {
      #expect(await UserClient(session: .mocked).nameIfAny(of: 2) == "Grace")
    }

    @Test(
      "a miss in one case of fifty", .mocked { Stub(.get, "https://api.example.com/users/1", .text("Ada")) },
      arguments: 1...50)
    func oneCase(id: Int) async {
      let client = UserClient(session: .mocked)
      #expect(await client.nameIfAny(of: 1) == "Ada")
      if id == 33 { _ = await client.nameIfAny(of: 33) }
    }

    @Test("a miss in a child task", .mocked { Stub(.get, "https://api.example.com/users/1", .text("Ada")).optional })
    func childTask() async {
      await withTaskGroup { group in
        group.addTask { _ = await UserClient(session: .mocked).nameIfAny(of: 7) }
      }
    }

    @Test("a miss in an unstructured task", .mocked())
    func unstructuredTask() async {
      await Task { _ = await UserClient(session: .mocked).nameIfAny(of: 8) }.value
    }

    @Test(  // issue: used up
      "used up",
      .mocked {
        Stub(.get, "https://api.example.com/users/1", .text("Ada")).once
      })
    func exhausted() async {
      let client = UserClient(session: .mocked)
      _ = await client.nameIfAny(of: 1)
      _ = await client.nameIfAny(of: 1)
    }
  }

  @Suite("Unused stubs", .timeLimit(.minutes(5)))
  struct Unused {
    @Test(
      "unused stub",
      .mocked {
        Stub(.get, "https://api.example.com/users/1", .text("Ada"))
        Stub(.get, "https://api.example.com/users/2", .text("Grace"))  // issue: unused stub
      })
    func unused() async {
      _ = await UserClient(session: .mocked).nameIfAny(of: 1)
    }

    @Test("optional stub", .mocked { Stub(.get, "https://api.example.com/users/1", .text("Ada")).optional })
    func optional() {}

    @Test(
      "unused stub of a test that throws", .mocked { Stub(.get, "https://api.example.com/users/1", .text("Ada")) })
    func throwing() throws {
      throw CocoaError(.featureUnsupported)
    }

    @Test("unused stub of withMock")
    func unusedInside() {
      withMock {
        Stub(.get, "https://api.example.com/users/3", .text("Alan"))  // issue: unused stub of withMock
      } operation: {
      }
    }

    @Test("miss in withMock")
    func missInside() async {
      await withMock {  // issue: miss in withMock
      } operation: {
        _ = await UserClient(session: .mocked).nameIfAny(of: 3)
      }
    }
  }

  @Suite("Uncaught misses", .timeLimit(.minutes(5)))
  struct Uncaught {
    @Test("uncaught miss", .mocked { Stub(.get, "https://api.example.com/users/1", .text("Ada")).optional })
    func uncaught() async throws {
      _ = try await UserClient(session: .mocked).name(of: 2)
    }

    @Test("uncaught miss in withMock")
    func uncaughtInside() async throws {
      try await withMock {
        Stub(.get, "https://api.example.com/users/1", .text("Ada")).optional
      } operation: {
        _ = try await UserClient(session: .mocked).name(of: 2)
      }
    }

    @Test("miss that is caught outside of withMock")
    func caughtOutside() async {
      try? await withMock {
      } operation: {
        _ = try await UserClient(session: .mocked).name(of: 2)
      }
    }
  }

  @Suite(
    "A suite's stubs",
    .mocked {
      Stub(.get, "https://api.example.com/users/1", .text("Ada"))
      Stub(.get, "https://api.example.com/users/2", .text("Grace")).required  // issue: required by the suite
      Stub(.get, "https://api.example.com/users/3", .text("Alan"))  // issue: used by no test
      Stub(.get, "https://api.example.com/users/4", .text("Edsger")).optional
    })
  struct OfSuite {
    @Test("uses both")
    func both() async {
      let client = UserClient(session: .mocked)
      #expect(await client.nameIfAny(of: 1) == "Ada")
      #expect(await client.nameIfAny(of: 2) == "Grace")
    }

    @Test("misses the required one")
    func missing() async {
      #expect(await UserClient(session: .mocked).nameIfAny(of: 1) == "Ada")
    }

    @Test("asks for another")  // issue: asks for another
    func another() async {
      let client = UserClient(session: .mocked)
      #expect(await client.nameIfAny(of: 2) == "Grace")
      #expect(await client.nameIfAny(of: 9) == nil)
    }
  }

  @Suite("Where stubs are written", .timeLimit(.minutes(5)))
  struct Places {
    @Test("on one line", .mocked { Stub(.get, "/a", .status(204)) }) func one() {}  // issue: on one line

    @Test(
      "with constants and a loop",
      .mocked {
        // Stub(.get, "/b/1") is not this one.
        Stub(.get, "/b", .status(204))  // issue: with constants and a loop
        for number in 1...2 { Stub(.get, "/b/\(number)", .status(204)) }
      })
    func loop() {}  // issue: the loop

    @Test("without braces", .mocked)  // issue: without braces
    func withoutBraces() async {
      _ = await UserClient(session: .mocked).nameIfAny(of: 1)
    }

    @Test("in a trait made elsewhere", .twoStubs)  // issue: a miss in a trait made elsewhere
    func elsewhere() async {
      _ = await UserClient(session: .mocked).nameIfAny(of: 1)
    }
  }

  @Suite("Without a scope", .serialized, .timeLimit(.minutes(5)))
  struct Outside {
    @Test("outside of a scope")  // issue: outside of a scope
    func outside() async {
      #expect(await UserClient(session: .mocked).nameIfAny(of: 1) == nil)
    }

    @Test(  // issue: a detached task
      "a detached task", .mocked { Stub(.get, "https://api.example.com/users/1", .text("Ada")).optional })
    func detached() async {
      let name = await Task.detached { await UserClient(session: .mocked).nameIfAny(of: 1) }.value
      #expect(name == nil)
    }

    @Test("after the end")  // issue: after the end
    func afterTheEnd() async {
      let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
      var left: Task<String?, Never>?
      withMock {
        Stub(.get, "https://api.example.com/users/1", .text("Ada")).optional
      } operation: {
        left = Task {
          for await _ in stream {}
          return await UserClient(session: .mocked).nameIfAny(of: 1)
        }
      }
      continuation.finish()
      let name = await left?.value
      #expect(name == nil)
    }
  }
}

extension Trait where Self == MockTrait {
  fileprivate static var twoStubs: Self {
    .mocked {
      Stub(.get, "/c", .status(204))  // issue: elsewhere, first
      Stub(.get, "/d", .status(204))  // issue: elsewhere, second
    }
  }
}

enum Fixtures {
  /// Set in the processes that run the fixtures.
  static let variable = "WAYLAY_TESTING_FIXTURES"

  static let areEnabled = ProcessInfo.processInfo.environment[variable] != nil
}
