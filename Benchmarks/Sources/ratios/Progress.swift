import Foundation

/// How far a run has come, on standard error: on a terminal one line that is written over, else a line for each tenth.
enum Progress {
  private static let isTerminal = isatty(STDERR_FILENO) == 1

  static func show(_ what: String, _ done: Int, of total: Int) {
    let text = "\(what): \(done) of \(total) rounds"
    if isTerminal {
      write("\r\(text)\u{1B}[K" + (done == total ? "\n" : ""))
    } else if total > 0, done == total || done % max(1, total / 10) == 0 {
      write("\(text)\n")
    }
  }

  private static func write(_ text: String) {
    FileHandle.standardError.write(Data(text.utf8))
  }
}
