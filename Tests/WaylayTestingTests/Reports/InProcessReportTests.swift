import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayTesting

/// The same reports, seen in this process.
@Suite("An issue at a scope's end", .timeLimit(.minutes(5)))
struct InProcessReportTests {
  @Test("names the request, and comes once for each")
  func misses() async {
    let reports = await collectReports {
      await withMock {
        Stub(.get, "https://api.example.com/users/1", .text("Ada")).optional
      } operation: {
        let client = UserClient(session: .mocked)
        _ = await client.nameIfAny(of: 2)
        _ = await client.nameIfAny(of: 3)
      }
    }
    #expect(reports.count == 2)
    #expect(reports.first?.text.contains("https://api.example.com/users/2") == true)
    #expect(reports.last?.text.contains("https://api.example.com/users/3") == true)
  }

  @Test("is not made when unmatched requests may pass")
  func passThrough() async throws {
    let origin = try await TestOrigin.start()
    try await withMock(.init(unmatched: .passThrough)) {
    } operation: {
      let (data, _) = try await URLSession.mocked.data(from: origin.url("/hello"))
      #expect(data == Data("hello".utf8))
    }
    await origin.stop()
  }

  @Test("names URLSession.shared, which the code used in place of the mocked session, and says what to do")
  func shared() async throws {
    let origin = try await TestOrigin.start()
    let reports = try await collectReports {
      try await withMock {
        Stub(.get, "https://api.example.com/users/1", .text("Ada"))
      } operation: {
        _ = try await URLSession.shared.data(from: origin.url("/hello?token=pl4nted"))
      }
    }
    await origin.stop()
    let text = reports.map(\.text).joined()
    #expect(text.contains("URLSession.shared was used once in this test, first for GET"))
    #expect(text.contains("intercepting: [.shared]"))
    #expect(!text.contains("pl4nted"))
  }

  @Test("comes for a broken stub, at the stub's line")
  func broken() async {
    let reports = await collectReports {
      await withMock {
        Stub(.get, "https://api.example.com/users/1", .status(99))
      } operation: {
        _ = await UserClient(session: .mocked).nameIfAny(of: 1)
      }
    }
    #expect(reports.map(\.line) == [#line - 5])
  }

  @Test("outside of a scope a request fails with a clear error, and nothing is sent")
  func outside() async throws {
    let origin = try await TestOrigin.start()
    var cause: WaylayError?
    await withKnownIssue {
      do {
        _ = try await URLSession.mocked.data(from: origin.url("/hello"))
      } catch let error as URLError {
        cause = error.userInfo[NSUnderlyingErrorKey] as? WaylayError
      }
    }
    #expect(cause?.code == .outsideMockScope)
    #expect(cause?.message.contains("withMock") == true)
    #expect(origin.requests.isEmpty)
    await origin.stop()
  }
}
