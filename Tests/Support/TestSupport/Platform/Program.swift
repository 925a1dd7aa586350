package import Foundation
import WaylayCore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

#if os(Linux) || os(macOS)
  /// A program that was built beside the tests, run in a process of its own.
  ///
  /// Not by Foundation's `Process`: with some 1 350 descriptors open, as when a thousand tests run, it reads beyond the
  /// end of its buffer (U18).
  package struct Program: Sendable {
    /// Where it is.
    package let path: String

    /// The program of that name.
    package init(_ name: String) {
      path = Self.folder.appendingPathComponent(name).path
    }

    /// The program at a path.
    package init(path: String) {
      self.path = path
    }

    #if canImport(Darwin)
      /// Where products are: beside the bundle of tests, which another program has loaded.
      private static let folder: URL = {
        var image = Dl_info()
        guard dladdr(#dsohandle, &image) != 0, let name = image.dli_fname else { return Bundle.main.bundleURL }
        var url = URL(fileURLWithPath: String(cString: name))
        while url.pathExtension != "xctest", url.pathComponents.count > 1 { url.deleteLastPathComponent() }
        return url.deletingLastPathComponent()
      }()
    #else
      /// Where products are: beside the bundle of tests, which is this program, or in the folder `WAYLAY_PROGRAMS`.
      private static let folder =
        ProcessInfo.processInfo.environment["WAYLAY_PROGRAMS"].map { URL(fileURLWithPath: $0) }
        ?? URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    #endif

    /// This very bundle of tests, where it is a program, as on Linux. On Apple platforms another program loads it.
    package static let tests: Program? = {
      let path = URL(fileURLWithPath: CommandLine.arguments[0])
      return path.pathExtension == "xctest" ? Program(path: path.path) : nil
    }()

    /// Runs it to its end, and returns how it ended and what it printed.
    ///
    /// - Parameters:
    ///   - arguments: What comes after its name.
    ///   - environment: Variables beside those of this process.
    ///   - errors: A file for what it prints to standard error; with the other output unless told otherwise.
    ///   - limit: When it is killed.
    /// - Returns: The exit code, or the signal that ended it as a negative number; both outputs as they came.
    package func run(
      _ arguments: [String] = [], environment: [String: String] = [:], errors: URL? = nil,
      limit: Duration = .seconds(600)
    ) async throws -> (code: Int32, output: String) {
      try await Self.withTemporaryFile { output in
        let process = try spawn(arguments, environment, printingTo: output.path, errors?.path)
        let status = await withCheckedContinuation { continuation in
          // A thread of its own: those of tasks are few, and the one that has to wait is not one that others wait for.
          Thread.detachNewThread {
            // It is killed only while its number is its own: until it is known to have ended, and before it is reaped.
            let hasEnded = Locked(false)
            let end = DispatchWorkItem { hasEnded.withLock { if !$0 { _ = kill(process, SIGKILL) } } }
            DispatchQueue.global().asyncAfter(
              deadline: .now() + .nanoseconds(Int(limit / .nanoseconds(1))), execute: end)
            var info = siginfo_t()
            while waitid(P_PID, id_t(process), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
            hasEnded.withLock { $0 = true }
            end.cancel()
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
            continuation.resume(returning: status)
          }
        }
        let signal = status & 0x7F
        let text = try String(contentsOf: output, encoding: .utf8)
        Recording.note(text)
        return (signal == 0 ? status >> 8 & 0xFF : -signal, text)
      }
    }

    /// Starts it, with none of this process's descriptors but the two that it prints to.
    private func spawn(
      _ arguments: [String], _ environment: [String: String], printingTo output: String, _ errors: String?
    ) throws -> pid_t {
      let files: [File] = [
        .open("/dev/null", O_RDONLY), .open(output, O_WRONLY | O_CREAT | O_APPEND),
        errors.map { .open($0, O_WRONLY | O_CREAT | O_APPEND) } ?? .copy(1),
      ]
      return try spawn(arguments, environment, files: files)
    }

    /// What a program has as one of its descriptors.
    package enum File {
      /// A file at a path, with flags.
      case open(String, Int32)
      /// One of this process's descriptors, or, for a number below its own, one of those that it has by then.
      case copy(Int32)
    }

    /// Starts it and does not wait for it: its caller has to, by `waitpid`.
    ///
    /// - Parameters:
    ///   - arguments: What comes after its name.
    ///   - environment: Variables beside those of this process.
    ///   - files: Its descriptors, from 0; it has no others.
    ///   - leadsGroup: Whether it is the leader of a group, with which it can be ended.
    package func spawn(
      _ arguments: [String], _ environment: [String: String] = [:], files: [File], leadsGroup: Bool = false
    ) throws -> pid_t {
      #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
      #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
      #endif
      posix_spawn_file_actions_init(&actions)
      posix_spawnattr_init(&attributes)
      defer {
        posix_spawn_file_actions_destroy(&actions)
        posix_spawnattr_destroy(&attributes)
      }
      for (descriptor, file) in files.enumerated() {
        switch file {
        case .open(let path, let flags):
          posix_spawn_file_actions_addopen(&actions, Int32(descriptor), path, flags, 0o600)
        case .copy(let other): posix_spawn_file_actions_adddup2(&actions, other, Int32(descriptor))
        }
      }
      var flags: Int32 = leadsGroup ? Int32(POSIX_SPAWN_SETPGROUP) : 0
      #if canImport(Darwin)
        flags |= Int32(POSIX_SPAWN_CLOEXEC_DEFAULT)
      #else
        // In glibc 2.34 and later; its header does not show it to Swift.
        typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
        if let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") {
          _ = unsafeBitCast(symbol, to: CloseFrom.self)(&actions, Int32(files.count))
        }
      #endif
      posix_spawnattr_setflags(&attributes, Int16(flags))
      let environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0)=\($1)" }
      var strings = ([path] + arguments).map { strdup($0) } + [nil]
      var variables = environment.map { strdup($0) } + [nil]
      defer { for string in strings + variables { free(string) } }
      var process: pid_t = 0
      let code = posix_spawn(&process, path, &actions, &attributes, &strings, &variables)
      guard code == 0 else { throw CocoaError(.executableLoad, userInfo: [NSFilePathErrorKey: path, "errno": code]) }
      return process
    }

    /// Gives a path to a file that is removed afterwards.
    package static func withTemporaryFile<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-testing-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: file) }
      return try await body(file)
    }
  }
#endif
