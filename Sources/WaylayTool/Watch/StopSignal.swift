import Foundation
import WaylayCore

/// Where a signal that ends the program is written to: all that may be done in its handler.
private nonisolated(unsafe) var stopPipe: Int32 = -1

/// Waits for SIGINT or SIGTERM.
final class StopSignal: Sendable {
  private let ends: [Int32]

  /// From now on these signals do not end the program by themselves.
  init() {
    var ends: [Int32] = [-1, -1]
    _ = pipe(&ends)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    self.ends = ends
    stopPipe = ends[1]
    for number in [SIGINT, SIGTERM] {
      signal(number) { _ in
        var byte: UInt8 = 0
        _ = Foundation.write(stopPipe, &byte, 1)
      }
    }
  }

  /// Returns when one has come, or ``end()`` was called.
  func wait() async {
    let end = ends[0]
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        var byte: UInt8 = 0
        while Foundation.read(end, &byte, 1) < 0, errno == EINTR {}
        continuation.resume()
      }
    }
  }

  /// Has ``wait()`` return.
  func end() {
    var byte: UInt8 = 0
    _ = Foundation.write(ends[1], &byte, 1)
  }
}
