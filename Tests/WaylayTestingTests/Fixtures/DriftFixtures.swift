import Foundation
import Testing
import WaylayTesting

/// A test with a cassette of an origin that another process runs: see `DriftReportTests`.
@Suite("Drift", .enabled(if: Fixtures.areEnabled))
struct DriftFixtures {
  static let origin = ProcessInfo.processInfo.environment["WAYLAY_DRIFT_ORIGIN"].flatMap { URL(string: $0) }

  @Test("reads a user", .cassette(ProcessInfo.processInfo.environment["WAYLAY_DRIFT_CASSETTE"]))
  func user() async throws {
    let (data, _) = try await URLSession.mocked.data(from: #require(Self.origin))
    #expect(!data.isEmpty)
  }
}
