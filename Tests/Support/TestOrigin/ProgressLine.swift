import Foundation
import NIOConcurrencyHelpers

/// How far a long run has come, on standard error: on a terminal one line that is written over, else a line for each
/// tenth.
public final class ProgressLine: Sendable {
  private let title: String
  private let total: Int
  private let done = NIOLockedValueBox(0)
  private let isTerminal = isatty(STDERR_FILENO) == 1

  /// Begins at none.
  ///
  /// - Parameters:
  ///   - title: What is being done; the line says `title: 3 of 10`.
  ///   - total: How many steps there are.
  public init(_ title: String, of total: Int) {
    self.title = title
    self.total = total
  }

  /// One step more is done.
  public func advance() {
    done.withLockedValue { done in
      done += 1
      guard done == total || done % max(1, total / (isTerminal ? 200 : 10)) == 0 else { return }
      let line = "\(title): \(done) of \(total)"
      let text = isTerminal ? "\r\(line)\u{1B}[K" + (done == total ? "\n" : "") : "\(line)\n"
      // Nobody may read them any more.
      try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
  }
}
