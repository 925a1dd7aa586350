import Foundation
import TestSupport
import Testing
import WaylayTesting
import XCTest

#if AsyncHTTPClient
  import AsyncHTTPClient
  import NIOCore
  import WaylayAsyncHTTPClient
#endif

// The tests that the README and the articles on mocks show or describe.

struct Greeter: Sendable {
  let session: URLSession

  func greeting(for id: Int) async throws -> String {
    guard let url = URL(string: "https://api.example.com/users/\(id)") else { throw URLError(.badURL) }
    let user = try await JSONDecoder().decode([String: String].self, from: session.data(from: url).0)
    return "Hello, \(user["name"] ?? "you")!"
  }
}

@Test(.mocked { Stub(.get, "https://api.example.com/users/:id", .json(["name": "Ada"])) })
func greetsByName() async throws {
  let greeter = Greeter(session: .mocked)
  #expect(try await greeter.greeting(for: 42) == "Hello, Ada!")
}

@Test(.mocked { Stub(.get, "https://api.example.com/users/:id", .json(["name": "Ada"])) })
func readsTheName() async throws {
  let url = try #require(URL(string: "https://api.example.com/users/42"))
  let (data, _) = try await URLSession.mocked.data(from: url)
  #expect(try JSONDecoder().decode([String: String].self, from: data) == ["name": "Ada"])
}

struct User: Codable, Equatable, Sendable {
  var id: Int
  var name: String
}

struct UserClient: Sendable {
  var session: URLSession = .shared

  func user(_ id: Int) async throws -> User {
    guard let url = URL(string: "https://api.example.com/users/\(id)") else { throw URLError(.badURL) }
    let (data, response) = try await session.data(from: url)
    guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
    return try JSONDecoder().decode(User.self, from: data)
  }
}

extension UserClient {
  func create(_ name: String) async throws {
    guard let url = URL(string: "https://api.example.com/users") else { throw URLError(.badURL) }
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.httpBody = try JSONEncoder().encode(["name": name])
    _ = try await session.data(for: request)
  }
}

@Test(.mocked { Stub(.get, "https://api.example.com/users/:id", .json(User(id: 42, name: "Ada"))) })
func loadsAUser() async throws {
  let user = try await UserClient(session: .mocked).user(42)
  #expect(user.name == "Ada")
}

@Test(
  .mocked {
    Stub(.get, "https://api.example.com/users/42", .status(503), .json(User(id: 42, name: "Ada")))
  })
func secondAttempt() async throws {
  let client = UserClient(session: .mocked)
  await #expect(throws: URLError.self) { _ = try await client.user(42) }
  let user = try await client.user(42)
  #expect(user.name == "Ada")
}

@Test(.mocked { Stub(.post, "https://api.example.com/users", .status(201)) })
func sendsTheName() async throws {
  try await UserClient(session: .mocked).create("Ada")
  let sent = try MockInterceptor.current.requests(.post, "/users").only().json([String: String].self)
  #expect(sent == ["name": "Ada"])
  MockInterceptor.current.verifyNothingElse(besides: [RequestPattern(.post, "/users")])
}

@Suite(.mocked { Stub(.get, "https://api.example.com/users/:id", .json(User(id: 1, name: "Ada"))) })
struct UserTests {
  @Test func theSuitesUser() async throws {
    let user = try await UserClient(session: .mocked).user(1)
    #expect(user.name == "Ada")
  }

  @Test(.mocked { Stub(.get, "https://api.example.com/users/2", .status(404)) })
  func nobody() async {
    await #expect(throws: URLError.self) { _ = try await UserClient(session: .mocked).user(2) }
  }
}

@Test func comesBackOnline() async throws {
  await withMock {
    Stub(.get, "https://api.example.com/users/1", .error(.notConnectedToInternet))
  } operation: {
    await #expect(throws: URLError.self) { _ = try await UserClient(session: .mocked).user(1) }
  }
  try await withMock {
    Stub(.get, "https://api.example.com/users/1", .json(User(id: 1, name: "Ada")))
  } operation: {
    let user = try await UserClient(session: .mocked).user(1)
    #expect(user.name == "Ada")
  }
}

@Test(.mocked { Stub(.get, "https://api.example.com/users/1", .json(User(id: 1, name: "Ada"))) })
func inADetachedTask() async throws {
  let scope = try #require(MockScope.current)
  let user = try await Task.detached {
    try await MockScope.$current.withValue(scope) { try await UserClient(session: .mocked).user(1) }
  }.value
  #expect(user.name == "Ada")
}

final class UserClientTests: XCTestCase {
  override func invokeTest() {
    withMock {
      Stub(.get, "https://api.example.com/users/1", .json(User(id: 1, name: "Ada")))
    } operation: {
      super.invokeTest()
    }
  }

  func testName() async throws {
    let user = try await UserClient(session: .mocked).user(1)
    XCTAssertEqual(user.name, "Ada")
  }
}

final class ScopedUserClientTests: XCTestCase {
  func testInSetUp() async throws {
    let scope = MockScope(teardown: { self.addTeardownBlock($0) }) {
      Stub(.get, "https://api.example.com/users/1", .json(User(id: 1, name: "Ada")))
    }
    let user = try await UserClient(session: scope.session).user(1)
    XCTAssertEqual(user.name, "Ada")
  }
}

@Test(
  .mocked {
    Stub(.any) { request in
      guard request.url.path == "/users/1" else { throw URLError(.badURL) }
      return .text(#"{"id":1,"name":"Ada"}"#).field("Content-Type", "application/json")
    }
  })
func oneHandler() async throws {
  let user = try await UserClient(session: .mocked).user(1)
  #expect(user.name == "Ada")
}

@Test(
  .mocked(.init(clock: MockClock(isAutomatic: true))) {
    Stub(.get, "https://api.example.com/slow", .text("done").delay(.seconds(30)))
  })
func takesNoTime() async throws {
  let url = try #require(URL(string: "https://api.example.com/slow"))
  let (data, _) = try await URLSession.mocked.data(from: url)
  #expect(data == Data("done".utf8))
}

@Test func looksInBetween() async throws {
  let clock = MockClock()
  try await withMock(.init(clock: clock)) {
    Stub(.get, "https://api.example.com/slow", .text("done").delay(.seconds(30)))
  } operation: {
    let url = try #require(URL(string: "https://api.example.com/slow"))
    async let answer = URLSession.mocked.data(from: url)
    try await clock.waitForSleepers()
    clock.advance(by: .seconds(30))
    let (data, _) = try await answer
    #expect(data == Data("done".utf8))
  }
}

extension Stub {
  static func signedIn(as user: User) -> [Stub] {
    [
      Stub(.get, "https://api.example.com/session", .json(user)).optional,
      Stub(.get, "https://api.example.com/flags", .json(["new-cart": false])).optional,
    ]
  }
}

@Suite(.mocked { Stub.signedIn(as: User(id: 1, name: "Ada")) })
struct CartTests {
  @Test(.mocked { Stub(.get, "https://api.example.com/users/1", .json(User(id: 1, name: "Ada"))) })
  func owner() async throws {
    let user = try await UserClient(session: .mocked).user(1)
    #expect(user.name == "Ada")
  }
}

@Suite(.sharedSession)
struct HardWiredTests {
  @Test(
    .mocked(intercepting: [.shared]) {
      Stub(.get, "https://api.example.com/users/1", .json(User(id: 1, name: "Ada")))
    })
  func hardWired() async throws {
    let user = try await UserClient().user(1)
    #expect(user.name == "Ada")
  }
}

@Test(
  .mocked { Stub(.get, "https://api.example.com/users/1", .json(["id": 1, "name": "Ada"])) },
  .exploringFaults(limit: 200))
func survives() async throws {
  let (data, _) = try await URLSession.mocked.data(from: URL(string: "https://api.example.com/users/1")!)
  #expect(!data.isEmpty)
}

// The file of this cassette is in the folder Cassettes.
@Test(.cassette("user"))
func showsAUser() async throws {
  let user = try await UserClient(session: .mocked).user(42)
  #expect(user.name == "Ada")
}

#if AsyncHTTPClient
  struct Weather: Sendable {
    let client: InterceptedHTTPClient

    func today() async throws -> String {
      let request = HTTPClientRequest(url: "https://weather.example.com/today")
      let response = try await client.execute(request, timeout: .seconds(30))
      return String(buffer: try await response.body.collect(upTo: 1 << 20))
    }
  }

  @Test(.mocked { Stub(.get, "https://weather.example.com/today", .text("rain")) })
  func saysWhatTheSkyDoes() async throws {
    #expect(try await Weather(client: .mocked).today() == "rain")
  }
#endif
