/// A wall clock time in whole milliseconds since 1970, so that ages are exact.
struct CacheTime: Hashable, Comparable, Sendable {
  /// Milliseconds since the beginning of 1970, UTC.
  var milliseconds: Int64
  /// The same time on a monotonic clock in milliseconds; `nil` for a time read by another process.
  ///
  /// It gives the true age within a process after the wall clock was set back. Equality ignores it.
  var steady: Int64?

  init(milliseconds: Int64, steady: Int64? = nil) {
    self.milliseconds = milliseconds
    self.steady = steady
  }

  init(seconds: Int64) { milliseconds = seconds.saturating(multipliedBy: 1000) }

  init(_ date: Date) {
    let milliseconds = (date.timeIntervalSince1970 * 1000).rounded(.down)
    self.milliseconds = Int64(exactly: milliseconds) ?? (milliseconds > 0 ? .max : .min)
  }

  /// The current time.
  static var now: CacheTime {
    var now = CacheTime(Date())
    now.steady = Int64(clamping: DispatchTime.now().uptimeNanoseconds / 1_000_000)
    return now
  }

  /// The whole seconds since 1970, as in an HTTP date.
  var seconds: Int64 {
    let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    return remainder < 0 ? quotient - 1 : quotient
  }

  var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

  /// The milliseconds since an earlier time: never negative, so that setting the clock back does not make a response
  /// younger, and at least the time elapsed on the monotonic clock.
  func milliseconds(since earlier: CacheTime) -> Int64 {
    let byWall = max(0, milliseconds.saturating(subtracting: earlier.milliseconds))
    guard let steady, let then = earlier.steady else { return byWall }
    return max(byWall, steady.saturating(subtracting: then))
  }

  /// Whether the age is unknown: the time is in the future, and no monotonic clock is available for both times.
  ///
  /// A few seconds are tolerated, because clocks are adjusted by that much regularly.
  func isUnplaced(at now: CacheTime) -> Bool {
    guard steady == nil || now.steady == nil else { return false }
    return milliseconds.saturating(subtracting: now.milliseconds) > Self.adjustment
  }

  private static let adjustment: Int64 = 5000

  static func == (left: CacheTime, right: CacheTime) -> Bool { left.milliseconds == right.milliseconds }

  func hash(into hasher: inout Hasher) { hasher.combine(milliseconds) }

  static func < (left: CacheTime, right: CacheTime) -> Bool { left.milliseconds < right.milliseconds }
}
