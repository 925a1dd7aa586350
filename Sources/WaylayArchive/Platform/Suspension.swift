import Foundation

/// Closes a store before the system suspends the app: an idle connection holds locks, and iOS ends an app that is
/// suspended with one in a shared container (0xdead10cc). Elsewhere nothing is suspended so.
final class Suspension: Sendable {
  #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
    private let end = DispatchSemaphore(value: 0)

    init(_ suspend: @escaping @Sendable () -> Void) {
      // Called a second time when the time in the background is over, while the first call waits.
      ProcessInfo.processInfo.performExpiringActivity(withReason: "An archive is open.") { [end] isExpired in
        guard isExpired else { return end.wait() }
        suspend()
        end.signal()
      }
    }

    deinit { end.signal() }
  #else
    init(_ suspend: @escaping @Sendable () -> Void) {}
  #endif
}
