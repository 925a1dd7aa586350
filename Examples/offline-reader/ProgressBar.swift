import Foundation

/// A bar that grows; on a terminal only.
final class ProgressBar {
  private let label: String
  private let total: Int
  private var done = 0
  private let isTerminal = isatty(STDOUT_FILENO) == 1
  private static let width = 30

  init(_ label: String, of total: Int) {
    self.label = label
    self.total = max(1, total)
  }

  func step() {
    done += 1
    guard isTerminal else { return }
    let filled = Self.width * done / total
    write(
      "\r\(label) [" + String(repeating: "#", count: filled) + String(repeating: " ", count: Self.width - filled)
        + "] \(done)/\(total)")
  }

  func end() {
    if isTerminal { write("\n") } else { print("\(label) \(done)/\(total)") }
  }

  private func write(_ text: String) {
    FileHandle.standardOutput.write(Data(text.utf8))
  }
}
