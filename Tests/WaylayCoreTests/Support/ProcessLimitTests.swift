#if os(Linux) || os(macOS)
  import Foundation
  import TestSupport
  import Testing

  /// The time limits of tests do not end the child of an exit test.
  @Suite("The time that an exit test has", .timeLimit(.minutes(5)))
  struct ProcessLimitTests {
    @Test(
      "ends a process that waits for what never happens, so that its test fails, whichever end it expects", .exitTest)
    func ends() async {
      await #expect(processExitsWith: .signal(SIGALRM)) {
        Process.limit(seconds: 1)
        await Event().wait()
      }
      await #expect(processExitsWith: .success) {
        Process.limit(seconds: 1, isToFail: true)
        await Event().wait()
      }
    }
  }
#endif
