#if CommandLineTool
  import Foundation
  import WaylayCore

  /// Where a signal that ends the program is written to: all that may be done in its handler.
  private nonisolated(unsafe) var stopPipe: Int32 = -1

  /// Waits for SIGINT or SIGTERM.
  struct StopSignal {
    private let readEnd: Int32

    /// From now on these signals do not end the program by themselves.
    init() {
      var ends: [Int32] = [-1, -1]
      _ = pipe(&ends)
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      (readEnd, stopPipe) = (ends[0], ends[1])
      for number in [SIGINT, SIGTERM] {
        signal(number) { number in
          var byte = UInt8(truncatingIfNeeded: number)
          _ = WaylayCore.write(stopPipe, &byte, 1)
        }
      }
    }

    /// Calls a closure, on a thread of its own, with the signal that has come.
    func onStop(_ body: @escaping @Sendable (Int32) -> Void) {
      let end = readEnd
      Thread.detachNewThread {
        // The program may have been started with its signals blocked: this thread takes them.
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        var byte: UInt8 = 0
        while WaylayCore.read(end, &byte, 1) < 0, errno == EINTR {}
        body(Int32(byte))
      }
    }

    /// Returns when one has come.
    func wait() async {
      await withCheckedContinuation { continuation in onStop { _ in continuation.resume() } }
    }
  }

  /// The drafts of files, which go with a program that is ended while it writes them.
  enum Drafts {
    static let watch: Void = StopSignal().onStop { number in
      AtomicFile.removeDrafts()
      // As it would have ended without all this. This thread may not be one that takes signals.
      signal(number, SIG_DFL)
      kill(getpid(), number)
      sleep(1)
      _exit(128 + number)
    }
  }
#endif
