import Foundation

/// Where loads get the time from, and who wakes them; tests bring a clock of their own.
package struct LoadClock: Sendable {
  /// Nanoseconds since whenever.
  package let now: @Sendable () -> UInt64
  /// Calls back at the given time, or a little later.
  package let schedule: @Sendable (_ deadline: UInt64, _ wake: @escaping @Sendable () -> Void) -> Void

  package init(
    now: @escaping @Sendable () -> UInt64,
    schedule: @escaping @Sendable (_ deadline: UInt64, _ wake: @escaping @Sendable () -> Void) -> Void
  ) {
    self.now = now
    self.schedule = schedule
  }

  /// The machine's clock.
  package static let system: LoadClock = {
    let queue = DispatchQueue(label: "waylay.timeouts")
    return LoadClock(now: { DispatchTime.now().uptimeNanoseconds }) { deadline, wake in
      queue.asyncAfter(deadline: DispatchTime(uptimeNanoseconds: deadline), execute: wake)
    }
  }()
}
