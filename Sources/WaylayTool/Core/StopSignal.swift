#if CommandLineTool
  import Foundation
  import WaylayCore

  /// The pipe written by the signal handler, which may do little else (async-signal safety).
  private nonisolated(unsafe) var stopPipe: Int32 = -1

  /// Waits for SIGINT or SIGTERM.
  struct StopSignal {
    private let readEnd: Int32

    /// Installs the handlers: from now on, these signals do not terminate the program.
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

    /// Calls a closure with the received signal, on a separate thread.
    func onStop(_ body: @escaping @Sendable (Int32) -> Void) {
      let end = readEnd
      Thread.detachNewThread {
        // The program may have been started with blocked signals: unblock them in this thread.
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        var byte: UInt8 = 0
        while WaylayCore.read(end, &byte, 1) < 0, errno == EINTR {}
        body(Int32(byte))
      }
    }

    /// Returns after one of the signals.
    func wait() async {
      await withCheckedContinuation { continuation in onStop { _ in continuation.resume() } }
    }
  }

  /// Removes drafts of files when a signal terminates the program.
  enum Drafts {
    static let watch: Void = StopSignal().onStop { number in
      AtomicFile.removeDrafts()
      // Terminate as by the default action. Exit explicitly in case no thread accepts the signal.
      signal(number, SIG_DFL)
      kill(getpid(), number)
      sleep(1)
      _exit(128 + number)
    }
  }
#endif
