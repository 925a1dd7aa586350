import Dispatch
import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayTesting

/// Code under test that takes its session from nobody.
private enum HardWired {
  static func name(of id: Int) async throws -> String {
    let (data, _) = try await URLSession.shared.data(from: UserClient.url(id))
    return String(decoding: data, as: UTF8.self)
  }

  static func text(_ url: URL) async throws -> String {
    let (data, _) = try await URLSession.shared.data(from: url)
    return String(decoding: data, as: UTF8.self)
  }

  /// The same as older code does it: on a queue, with a completion handler.
  static func nameOnAQueue(of id: Int) async -> String? {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        URLSession.shared.dataTask(with: UserClient.url(id)) { data, _, _ in
          continuation.resume(returning: data.map { String(decoding: $0, as: UTF8.self) })
        }.resume()
      }
    }
  }
}

/// A client with a session of its own, which it shows to nobody.
///
/// Unchecked because classes may derive from it; what it holds never changes.
private class CatalogClient: @unchecked Sendable {
  private let session = URLSession(configuration: .default)

  func load(_ url: URL) async throws -> String {
    let (data, _) = try await session.data(from: url)
    return String(decoding: data, as: UTF8.self)
  }
}

private final class SpecialCatalogClient: CatalogClient, @unchecked Sendable {
  let name = "special"
}

private struct Screen {
  var client: CatalogClient? = SpecialCatalogClient()
  weak var parent: AnyObject?
}

private let catalog = CatalogClient()

private let onLinux: ConditionTrait = .enabled(
  if: Platform.isLinux, "Apple's sessions cannot be changed once they are made")

@Suite("Sessions that nobody passes", .sharedSession, .timeLimit(.minutes(10)))
struct HardWiredTests {
  @Test(
    "tests that run side by side, with different answers for one URL of the shared session, do not meet",
    .mocked(intercepting: [.shared]), arguments: 0..<12)
  func apart(_ number: Int) async throws {
    MockInterceptor.current.add { Stub(.get, "https://api.example.com/users/1", .text("\(number)")) }
    for _ in 0..<5 {
      let name = try await HardWired.name(of: 1)
      #expect(name == "\(number)")
    }
    let onAQueue = await HardWired.nameOnAQueue(of: 1)
    let detached = try await Task.detached { try await HardWired.name(of: 1) }.value
    #expect([onAQueue, detached] == ["\(number)", "\(number)"])
    #expect(MockInterceptor.current.requests.count == 7)
  }

  @Test(
    "what a test without a mock asks of the shared session goes its own way meanwhile",
    .enabled(if: Platform.isLinux, "Apple's loading system does not say in which task a request was made"),
    arguments: 0..<4)
  func neighbours(_ number: Int) async throws {
    try await withOrigin { origin in
      for _ in 0..<50 {
        let text = try await HardWired.text(origin.url("/hello"))
        #expect(text == "hello")
      }
      #expect(origin.requests.count == 50)
    }
  }

  @Test("the shared session is as before when the scope has ended")
  func restored() async throws {
    try await withOrigin { origin in
      try await withMock(intercepting: [.shared]) {
        Stub(.get, "/hello", .text("mocked"))
      } operation: {
        let text = try await HardWired.text(origin.url("/hello"))
        #expect(text == "mocked")
      }
      let text = try await HardWired.text(origin.url("/hello"))
      #expect(text == "hello")
      #expect(origin.requests.count == 1)
    }
  }

  @Test("uploads, downloads and what is not HTTP are answered, or do not leave")
  func kinds() async throws {
    let issues = await messages { () async throws in
      try await withMock(intercepting: [.shared]) {
        Stub(.post, "https://api.example.com/users") { request in .text("\(request.body.count) bytes") }
        Stub(.get, "https://api.example.com/file", .text("file"))
      } operation: {
        var request = URLRequest(url: URL(string: "https://api.example.com/users")!)
        request.httpMethod = "POST"
        let (answer, _) = try await URLSession.shared.upload(for: request, from: Data(count: 5))
        #expect(String(decoding: answer, as: UTF8.self) == "5 bytes")
        let (file, _) = try await URLSession.shared.download(from: URL(string: "https://api.example.com/file")!)
        #expect(try Data(contentsOf: file) == Data("file".utf8))
        await #expect(throws: URLError.self) {
          _ = try await URLSession.shared.data(from: URL(string: "ftp://api.example.com/x")!)
        }
      }
    }
    #expect(issues.count == 1)
    #expect(issues.first?.contains("ftp://api.example.com/x") == true)
  }

  @Test("a mock inside another one answers the shared session too, its stubs first")
  func nested() async throws {
    try await withMock(intercepting: [.shared]) {
      Stub(.get, "https://api.example.com/users/:id", .text("outer"))
    } operation: {
      try await withMock {
        Stub(.get, "https://api.example.com/users/1", .text("inner"))
      } operation: {
        let names = try await [HardWired.name(of: 1), HardWired.name(of: 2)]
        let onAQueue = await HardWired.nameOnAQueue(of: 1)
        #expect(names + [onAQueue] == ["inner", "outer", "inner"])
      }
      let after = try await HardWired.name(of: 1)
      #expect(after == "outer")
    }
  }

  @Test("a request of nobody's scope that no stub is for fails the test that has the session, and says what to do")
  func strays() async throws {
    let issues = await messages {
      await withMock(intercepting: [.shared]) {
      } operation: {
        let name = await HardWired.nameOnAQueue(of: 9)
        #expect(name == nil)
      }
    }
    #expect(issues.count == 1)
    let issue = try #require(issues.first)
    #expect(issue.contains("https://api.example.com/users/9"))
    #expect(
      issue.contains(
        "If a test that runs in parallel made the request, give that test `.mocked(intercepting: …)` as well"))
  }

  @Test("the same in the test's own task says no more than of any request", onLinux)
  func ownMiss() async {
    let issues = await messages {
      await withMock(intercepting: [.shared]) {
      } operation: {
        _ = try? await HardWired.name(of: 9)
      }
    }
    #expect(issues.count == 1)
    #expect(issues.first?.contains("in parallel") == false)
  }

  @Test("what a scope leaves running does not reach the network, and is reported", onLinux)
  func late() async throws {
    try await withOrigin { origin in
      let issues = await messages {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        var left: Task<WaylayError?, Never>?
        await withMock(intercepting: [.shared]) {
        } operation: {
          await Task.yield()
          left = Task {
            for await _ in stream {}
            do {
              _ = try await URLSession.shared.data(from: origin.url("/hello"))
              return nil
            } catch { return (error as? URLError)?.cause(as: WaylayError.self) }
          }
        }
        continuation.finish()
        let error = await left?.value
        #expect(error?.code == .outsideMockScope)
      }
      #expect(issues.count == 1)
      #expect(issues.first?.contains("after the end of its scope") == true)
      #expect(origin.requests.isEmpty)
    }
  }

  @Test(
    "a private session made from .default, in an object of the test's", onLinux)
  func ownSession() async throws {
    let client = SpecialCatalogClient()
    try await withMock(intercepting: URLSession.sessions(in: client)) {
      Stub(.get, "/items", .text("three"))
    } operation: {
      let text = try await client.load(try #require(URL(string: "https://catalog.example.com/items")))
      #expect(text == "three")
    }
  }

  @Test(
    "a private session of a singleton, by tests that take turns", onLinux,
    .mocked(intercepting: URLSession.sessions(in: catalog)), arguments: 0..<8)
  func singleton(_ number: Int) async throws {
    MockInterceptor.current.add { Stub(.get, "https://catalog.example.com/items", .text("\(number)")) }
    let url = try #require(URL(string: "https://catalog.example.com/items"))
    let text = try await catalog.load(url)
    let detached = try await Task.detached { try await catalog.load(url) }.value
    #expect([text, detached] == ["\(number)", "\(number)"])
  }

  @Test("sessions are found in optionals and in what a superclass holds; that there is none is an issue")
  func held() async {
    #expect(URLSession.sessions(in: Screen()).count == 1)
    #expect(URLSession.sessions(in: [Screen(), Screen()]).count == 2)
    let issues = await messages { #expect(URLSession.sessions(in: 7).isEmpty) }
    #expect(issues.count == 1)
    #expect(issues.first?.contains("No session was found in a Int") == true)
  }

  /// Somebody who has the shared session from now on, until what comes back beside it is finished.
  private static func holder() async -> (task: Task<Void, Never>, ending: AsyncStream<Void>.Continuation) {
    let (holding, isHolding) = AsyncStream.makeStream(of: Void.self)
    let (end, ending) = AsyncStream.makeStream(of: Void.self)
    let holder = Task.detached {
      await withMock(intercepting: [.shared]) {
      } operation: {
        isHolding.finish()
        for await _ in end {}
      }
    }
    for await _ in holding {}
    return (holder, ending)
  }

  @Test("who waits for a turn can be cancelled, and the next one has it when the first has ended")
  func cancelled() async throws {
    let (holder, ending) = await Self.holder()
    let waiter = Task.detached {
      await withMock(intercepting: [.shared]) {
      } operation: {
        await Task.yield()
        return Task.isCancelled
      }
    }
    let next = Task.detached {
      try await withMock(intercepting: [.shared]) {
        Stub(.get, "https://api.example.com/users/1", .text("Grace"))
      } operation: {
        try await HardWired.name(of: 1)
      }
    }
    waiter.cancel()
    #expect(await waiter.value)
    ending.finish()
    await holder.value
    let name = try await next.value
    #expect(name == "Grace")
  }

  @Test("code that cannot wait says who has the sessions")
  func synchronous() async throws {
    let (holder, ending) = await Self.holder()
    let issues = await messages {
      withMock(intercepting: [.shared]) {
      } operation: {
      }
    }
    ending.finish()
    await holder.value
    #expect(issues.count == 1)
    #expect(issues.first?.contains("HardWiredTests.swift:") == true)
    #expect(issues.first?.contains("await withMock(intercepting: …)") == true)
  }

  /// The issues that code reports, and those that it records in Testing itself, for lack of a place to report.
  private func messages(_ operation: () async throws -> Void) async -> [String] {
    let found = Locked<[String]>([])
    try? await withKnownIssue(isIntermittent: true) {
      let reports = try await collectReports(of: operation)
      found.withLock { $0 += reports.map(\.text) }
    } matching: { issue in
      found.withLock { $0.append(issue.comments.map(\.rawValue).joined()) }
      return true
    }
    return found.withLock { $0 }
  }
}
