import Foundation

/// Closes a store before the system suspends the app: an idle connection holds locks, and iOS ends an app that is
/// suspended with a lock in a shared container (0xdead10cc). A no-op on other platforms.
final class Suspension: Sendable {
  private let end = DispatchSemaphore(value: 0)

  init(_ suspend: @escaping @Sendable () -> Void) {
    #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
      // The system calls the closure a second time when the time in the background ends, while the first call waits.
      ProcessInfo.processInfo.performExpiringActivity(withReason: "An archive is open.") { [end] isExpired in
        guard isExpired else { return end.wait() }
        suspend()
        end.signal()
      }
    #endif
  }

  deinit { end.signal() }
}
