import Foundation
import TestSupport
import Testing
import WaylayTesting

/// Why a scope lets its session go instead of invalidating it.
@Suite(
  "Foundation on Linux: an invalidated session", .enabled(if: Platform.isLinux, "a fact of Foundation on Linux"),
  .timeLimit(.minutes(10)))
struct InvalidatedSessionFact {
  @Test("U17: making a task in an invalidated session ends the process", .exitTest)
  func makingATask() async {
    await #expect(processExitsWith: .failure) {
      Process.limit(isToFail: true)
      let session = URLSession(configuration: .ephemeral)
      session.invalidateAndCancel()
      _ = session.dataTask(with: URLRequest(url: URL(fileURLWithPath: "/")))
    }
  }
}
