import Foundation
import TestSupport
import Testing
import WaylayTesting

@Suite("A session that is kept after its scope", .timeLimit(.minutes(5)))
struct LateUseTests {
  /// Code under test that makes its session once.
  private final class Client: Sendable {
    private let session = Locked<URLSession?>(nil)

    func name(of id: Int) async -> String? {
      let session = session.withLock { kept in
        let session = kept ?? URLSession.mocked
        kept = session
        return session
      }
      return await UserClient(session: session).nameIfAny(of: id)
    }
  }

  @Test(
    "is reported as that in the scope where it is used, with how often, and not as an unused stub",
    .enabled(if: Platform.isLinux, "Apple's loading system does not say in which task a request was made"))
  func reported() async throws {
    let client = Client()
    let first: UInt = #line + 1
    await withMock {
      Stub(.get, "https://api.example.com/users/1", .text("Ada"))
    } operation: {
      #expect(await client.name(of: 1) == "Ada")
    }
    let reports = await collectReports {
      await withMock {
        Stub(.get, "https://api.example.com/users/1", .text("Grace"))
      } operation: {
        for _ in 0..<3 { #expect(await client.name(of: 1) == nil) }
      }
    }
    #expect(reports.count == 1)
    let issue = try #require(reports.first).text
    #expect(issue.contains("was used 3 times after its scope ended"))
    #expect(issue.contains("LateUseTests.swift:\(first)"))
    #expect(!issue.contains("was never used"))
  }
}
