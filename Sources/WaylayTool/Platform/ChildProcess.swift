#if CommandLineTool
  import Foundation
  import WaylayCore

  /// A program that this one runs, with its own standard input and output.
  final class ChildProcess: Sendable {
    private let id: pid_t
    /// Whether the identifier may belong to another process by now.
    private let isReaped = Locked(false)

    /// Starts a program that is found as `env` finds it, which exits with 127 if there is none.
    ///
    /// The child inherits no blocked signal, and SIGPIPE terminates it. Of the descriptors, it has standard input, output
    /// and error: a process that it leaves behind would keep the port of a listener.
    init(_ command: [String], environment: [String: String]) throws {
      // The kernel reaps a child itself where SIGCHLD is ignored, which is inherited.
      signal(SIGCHLD, SIG_DFL)
      var flags = Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF)
      #if canImport(Darwin)
        var attributes: posix_spawnattr_t?
        var actions: posix_spawn_file_actions_t?
        flags |= Int16(POSIX_SPAWN_CLOEXEC_DEFAULT)
      #else
        var attributes = posix_spawnattr_t()
        var actions = posix_spawn_file_actions_t()
        // SwiftNIO opens its sockets without `FD_CLOEXEC`.
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
          if let descriptor = Int32(name), descriptor > 2 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        }
      #endif
      posix_spawnattr_init(&attributes)
      posix_spawn_file_actions_init(&actions)
      defer {
        posix_spawnattr_destroy(&attributes)
        posix_spawn_file_actions_destroy(&actions)
      }
      // Duplicate each descriptor onto itself, so that the child inherits it. A closed descriptor would fail the call.
      for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) >= 0 {
        posix_spawn_file_actions_adddup2(&actions, descriptor, descriptor)
      }
      var (none, pipe) = (sigset_t(), sigset_t())
      sigemptyset(&none)
      sigemptyset(&pipe)
      sigaddset(&pipe, SIGPIPE)
      posix_spawnattr_setsigmask(&attributes, &none)
      posix_spawnattr_setsigdefault(&attributes, &pipe)
      posix_spawnattr_setflags(&attributes, flags)
      let program = "/usr/bin/env"
      var arguments = ([program] + command).map { strdup($0) } + [nil]
      var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
      defer { for string in arguments + variables { free(string) } }
      var child: pid_t = 0
      let code = posix_spawn(&child, program, &actions, &attributes, &arguments, &variables)
      guard code == 0 else { throw SystemError("posix_spawn", program, code: code) }
      id = child
    }

    /// Sends a signal, unless the child was reaped.
    func send(_ signal: Int32) { isReaped.withLock { if !$0 { kill(id, signal) } } }

    /// Waits for the child alone, not for the processes that it leaves behind.
    ///
    /// - Returns: The exit status, or 128 and the number of the signal that terminated it.
    func waitUntilExit() async -> Int32 {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread { [self] in
          var info = siginfo_t()
          while waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
          let status = isReaped.withLock { isReaped in
            isReaped = true
            var status: Int32 = 0
            while waitpid(id, &status, 0) < 0 { if errno != EINTR { return Int32(127 << 8) } }
            return status
          }
          let signal = status & 0x7F
          continuation.resume(returning: signal == 0 ? status >> 8 & 0xFF : 128 + signal)
        }
      }
    }
  }
#endif
