/// A moment of the wall clock, in whole milliseconds since 1970: ages are counted in it without rounding and without
/// floating point.
struct CacheTime: Hashable, Comparable, Sendable {
  /// Milliseconds since the beginning of 1970, UTC.
  var milliseconds: Int64
  /// The same moment on a clock that nobody sets, in milliseconds since whenever; `nil` for a moment that another
  /// process saw.
  ///
  /// It says how long ago something of this process was when the wall clock has been set back meanwhile. Not part of
  /// what a moment is: two are the same when the wall clock says so.
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

  /// The clock of the machine.
  static var now: CacheTime {
    var now = CacheTime(Date())
    now.steady = Int64(clamping: DispatchTime.now().uptimeNanoseconds / 1_000_000)
    return now
  }

  /// The whole seconds since 1970, as an HTTP date has them.
  var seconds: Int64 {
    let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    return remainder < 0 ? quotient - 1 : quotient
  }

  var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

  /// Milliseconds since an earlier moment; never less than none, because a clock that was set back does not make
  /// anything younger, and never less than have passed on the steady clock.
  func milliseconds(since earlier: CacheTime) -> Int64 {
    let byWall = max(0, milliseconds.saturating(subtracting: earlier.milliseconds))
    guard let steady, let then = earlier.steady else { return byWall }
    return max(byWall, steady.saturating(subtracting: then))
  }

  /// Whether the moment cannot be placed: the wall clock says that it is still to come, and no steady clock saw it.
  ///
  /// A few seconds are what clocks are adjusted by all the time; they make nobody older or younger than he looks.
  func isUnplaced(at now: CacheTime) -> Bool {
    guard steady == nil || now.steady == nil else { return false }
    return milliseconds.saturating(subtracting: now.milliseconds) > Self.adjustment
  }

  private static let adjustment: Int64 = 5000

  static func == (left: CacheTime, right: CacheTime) -> Bool { left.milliseconds == right.milliseconds }

  func hash(into hasher: inout Hasher) { hasher.combine(milliseconds) }

  static func < (left: CacheTime, right: CacheTime) -> Bool { left.milliseconds < right.milliseconds }
}
