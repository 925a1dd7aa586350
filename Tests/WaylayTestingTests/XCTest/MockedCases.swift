import WaylayTesting
import XCTest

// Tests of XCTest. In the processes that `XCTestReportTests` starts they make mistakes on purpose, and it reads what
// XCTest prints. A comment `issue:` marks the line at which an issue is expected.

/// A case whose every test method runs in a scope.
final class SurroundedCase: XCTestCase {
  private var nameInSetUp: String?

  override func invokeTest() {
    withMock {  // issue: surrounded
      Stub(.get, "https://api.example.com/users/1", .text("Ada"))
    } operation: {
      super.invokeTest()
    }
  }

  override func setUp() async throws {
    nameInSetUp = await UserClient(session: .mocked).nameIfAny(of: 1)
  }

  func testWaits() async {
    XCTAssertEqual(nameInSetUp, "Ada")
    let name = await UserClient(session: .mocked).nameIfAny(of: Fixtures.areEnabled ? 2 : 1)
    XCTAssertEqual(name, Fixtures.areEnabled ? nil : "Ada")
  }

  func testDoesNotWait() {
    XCTAssertEqual(nameInSetUp, "Ada")
    XCTAssertEqual(MockInterceptor.current.requests.count, 1)
    let session = URLSession.mocked
    let answered = expectation(description: "answered")
    session.dataTask(with: UserClient.url(1)) { data, _, _ in
      XCTAssertEqual(data, Data("Ada".utf8))
      answered.fulfill()
    }.resume()
    wait(for: [answered], timeout: 120)
  }
}

/// Cases that open a scope for a part of a test, or end one in their tear-down.
final class PartlyMockedCase: XCTestCase {
  func testUnused() async throws {
    try await withMock {
      Stub(.get, "https://api.example.com/users/1", .text("Ada"))
      if Fixtures.areEnabled {
        Stub(.get, "https://api.example.com/users/2", .text("Grace"))  // issue: unused
      }
    } operation: {
      let name = try await UserClient(session: .mocked).name(of: 1)
      XCTAssertEqual(name, "Ada")
    }
  }

  func testTearDown() async throws {
    let scope = MockScope(teardown: { self.addTeardownBlock($0) }) {  // issue: tear-down
      Stub(.get, "https://api.example.com/users/1", .text("Ada"))
    }
    let client = UserClient(session: scope.session)
    let name = try await client.name(of: 1)
    XCTAssertEqual(name, "Ada")
    if Fixtures.areEnabled { _ = await client.nameIfAny(of: 2) }
  }

  func testOutside() async {
    guard Fixtures.areEnabled else { return }
    let name = await UserClient(session: .mocked).nameIfAny(of: 1)
    XCTAssertNil(name)
  }

  func testIsFine() async throws {
    try await withMock {
      Stub(.get, "https://api.example.com/users/1", .text("Ada"))
    } operation: {
      let name = try await UserClient(session: .mocked).name(of: 1)
      XCTAssertEqual(name, "Ada")
    }
  }
}
