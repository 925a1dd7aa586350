package import Foundation

#if os(Linux) || os(macOS)
  // What belongs to a whole process, hence for exit tests.
  extension Process {
    /// Ends the process with a message when a condition does not hold.
    package static func require(_ condition: Bool, _ message: @autoclosure () -> String) {
      guard !condition else { return }
      preconditionFailure(message())
    }

    /// Gives this process so long to end. The time limits of tests do not reach the child of an exit test, and what
    /// started it waits without an end.
    ///
    /// - Parameters:
    ///   - seconds: When it is ended by `SIGALRM`.
    ///   - isToFail: The test expects a failure, so one that is late ends well.
    package static func limit(seconds: UInt32 = 600, isToFail: Bool = false) {
      if isToFail { signal(SIGALRM) { _ in _exit(0) } }
      alarm(seconds)
    }

    /// Lets this process open so many files at once, as far as it may.
    package static func allowDescriptors(_ count: UInt) {
      var limit = rlimit()
      #if canImport(Glibc) && !canImport(Darwin)
        let files = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
      #else
        let files = RLIMIT_NOFILE
      #endif
      guard getrlimit(files, &limit) == 0, limit.rlim_cur < count else { return }
      limit.rlim_cur = min(rlim_t(count), limit.rlim_max)
      _ = setrlimit(files, &limit)
    }

    /// Lets this process write no file beyond so many bytes meanwhile: a write fails then, as on a full disk.
    @discardableResult
    package static func limitingFiles<Result>(toBytes count: UInt, _ body: () throws -> Result) rethrows -> Result {
      signal(SIGXFSZ, SIG_IGN)
      #if canImport(Glibc) && !canImport(Darwin)
        let size = __rlimit_resource_t(UInt32(RLIMIT_FSIZE.rawValue))
      #else
        let size = RLIMIT_FSIZE
      #endif
      var old = rlimit()
      require(getrlimit(size, &old) == 0, "the limit is unknown")
      var limit = rlimit(rlim_cur: rlim_t(count), rlim_max: old.rlim_max)
      require(setrlimit(size, &limit) == 0, "the limit is refused")
      defer { require(setrlimit(size, &old) == 0, "the limit stays") }
      return try body()
    }

    /// Reads a body of so many bytes.
    ///
    /// - Parameter check: Called with the number of bytes that have come.
    /// - Returns: The most that was resident meanwhile.
    package static func peak<Body: AsyncSequence>(
      reading body: Body, of size: Int, _ check: (Int) -> Void = { _ in }
    ) async throws -> Int where Body.Element == Data {
      var (received, most) = (0, 0)
      for try await chunk in body {
        received += chunk.count
        check(received)
        most = max(most, residentBytes)
      }
      require(received == size, "\(received) of \(size) bytes came")
      return most
    }

    #if !canImport(Darwin)
      /// Whether a condition on what only the kernel knows, which tells nobody of a change, holds within half a minute.
      package static func settles(_ condition: () throws -> Bool) async throws -> Bool {
        for _ in 0..<3_000 {
          if try condition() { return true }
          try await Task.sleep(for: .milliseconds(10))
        }
        return try condition()
      }

      /// Whether what is resident can be read, and is what the program uses: the address sanitizer keeps what has been
      /// freed.
      package static let measuresMemory = dlsym(nil, "__asan_init") == nil && dlsym(nil, "__tsan_init") == nil

      /// Bytes of this process in memory.
      package static var residentBytes: Int {
        let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE))) : 0
      }

      package static var openDescriptors: Int {
        get throws { try descriptors.count }
      }

      /// Of what is open, the sockets: unlike files and events, none is opened by the way and kept.
      package static var openSockets: Int {
        get throws { try descriptors.count { $0.contains("socket:") } }
      }

      /// What is open: the number and what it leads to, for a failure that says what has stayed.
      package static var descriptors: [String] {
        get throws {
          // Without timers: Dispatch opens one for each of its clocks when somebody first waits by it.
          try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { number in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
            return target.flatMap { $0 == "anon_inode:[timerfd]" ? nil : "\(number) \($0)" }
          }
        }
      }
    #else
      // There is no /proc: what measures memory is not run.
      package static let measuresMemory = false
      package static var residentBytes: Int { 0 }
    #endif

    /// Ends the process when a large transfer takes more memory than one of a quarter of its size.
    ///
    /// Servers and sockets take the same for both. 32 MiB are allowed, a third of the least difference:
    /// buffers are fuller on a busy machine.
    ///
    /// - Parameter peak: Transfers so many bytes, and returns the most that was resident meanwhile.
    package static func requireSameMemory(bySize peak: (Int) async throws -> Int) async rethrows {
      let size = Sizes.of(1 << 30, small: 128 << 20)
      let (less, more) = (try await peak(size / 4), try await peak(size))
      require(more - less < 32 << 20, "resident memory grew by \((more - less) >> 20) MiB")
    }
  }
#endif
