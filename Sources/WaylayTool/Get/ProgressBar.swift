import Foundation

/// A bar on standard error, for a load that takes a while; on a terminal alone.
final class ProgressBar {
  private let expected: Int64?
  private let isShown: Bool
  private let start = ContinuousClock.now
  private var last: Duration = .zero
  private var isDrawn = false

  init(expected: Int64?, isShown: Bool) {
    self.expected = expected
    self.isShown = isShown && isatty(STDERR_FILENO) == 1
  }

  /// Draws it anew, some ten times a second, once half a second is over.
  func update(_ received: Int64) {
    guard isShown else { return }
    let elapsed = start.duration(to: .now)
    guard elapsed > .milliseconds(500), elapsed - last > .milliseconds(100) else { return }
    last = elapsed
    isDrawn = true
    FileHandle.standardError.write(Data(("\r\u{1B}[K" + Self.text(received, of: expected, in: elapsed)).utf8))
  }

  func end() {
    if isDrawn { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) }
  }

  /// What it says.
  static func text(_ received: Int64, of expected: Int64?, in elapsed: Duration) -> String {
    let seconds = max(elapsed / .seconds(1), 0.001)
    let speed = "\(size(Double(received) / seconds))/s"
    guard let expected, expected > 0 else { return "\(size(Double(received)))  \(speed)" }
    let share = min(max(Double(received) / Double(expected), 0), 1)
    let filled = Int(share * 30)
    let bar = String(repeating: "#", count: filled) + String(repeating: " ", count: 30 - filled)
    return "[\(bar)] \(Int(share * 100)) %  \(size(Double(received))) of \(size(Double(expected)))  \(speed)"
  }

  private static func size(_ bytes: Double) -> String {
    for (unit, name) in [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")] where bytes >= unit {
      return String(format: "%.1f", bytes / unit) + " " + name
    }
    return "\(Int(bytes)) bytes"
  }
}
