#if canImport(FoundationNetworking)
  import ArgumentParser
  import Foundation
  import TestOrigin
  import WaylayCore

  /// Processes that end while connections with TLS are open (U19), and how each ended.
  @main
  struct Exits: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "exits",
      abstract: "Runs processes that end in the middle of loads, and counts those that crash or take too long.",
      discussion: """
        Each has 24 loads from a server with TLS that drips, and ends within 150 ms. Exits with 1 when one of them does \
        not end with the code 0.
        """)

    @Option(help: "How many processes of each kind.") var runs = 10_000
    @Option(help: "How many of them at once.") var atOnce = 4
    @Option(help: "Only kinds of this name: \(Ending.allCases.map(\.rawValue).joined(separator: ", ")).") var only:
      [Ending] = []
    @Flag(help: "Let the processes print how they crash.") var showsCrashes = false
    @Option(help: .hidden) var ending: Ending?
    @Option(help: .hidden) var url = ""
    @Option(help: .hidden) var authority = ""
    @Option(help: .hidden) var delay = 0

    func run() async throws {
      if let ending { return try await end(ending) }
      let authority = try TestAuthority()
      var tls = TestOrigin.TLS(authority: authority)
      tls.applicationProtocols = ["http/1.1"]
      let origin = try await TestOrigin.start(tls: tls)
      let plain = try await TestOrigin.start()
      for origin in [origin, plain] { origin.keepsLog = false }
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("exits-\(UUID().uuidString).pem")
      try Data(authority.pem.utf8).write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      var failures = 0
      for ending in only.isEmpty ? Ending.allCases : only {
        let wrong = await crashes(ending, (ending == .fork ? plain : origin).url("/chunks/1000?pause=3"), file)
        print("\(ending.rawValue)  \(runs) processes, \(wrong.count) of them wrong \(Set(wrong))")
        fflush(nil)
        failures += wrong.count
      }
      for origin in [origin, plain] { await origin.stop() }
      if failures > 0 { throw ExitCode(1) }
    }

    /// Runs the processes of one kind, and says how those ended that did not end well.
    private func crashes(_ ending: Ending, _ url: URL, _ authority: URL) async -> [String] {
      await withTaskGroup(of: String?.self) { group in
        var wrong: [String] = []
        for number in 0..<runs {
          if number >= atOnce, let fault = await group.next() ?? nil { wrong.append(fault) }
          group.addTask {
            await run(ending, url, authority, delay: number * 37 % 150)
          }
        }
        for await fault in group { if let fault { wrong.append(fault) } }
        return wrong
      }
    }

    private func run(_ ending: Ending, _ url: URL, _ authority: URL, delay: Int) async -> String? {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      process.arguments = [
        "--ending", ending.rawValue, "--url", url.absoluteString, "--authority", authority.path, "--delay", "\(delay)",
      ]
      if !showsCrashes {
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        process.standardError = FileHandle.nullDevice
      }
      let began = ContinuousClock.now
      return await withCheckedContinuation { continuation in
        process.terminationHandler = { process in
          let code = process.terminationStatus
          let isCrash = process.terminationReason == .uncaughtSignal
          let seconds = began.duration(to: .now) / .seconds(1)
          continuation.resume(
            returning: isCrash
              ? "signal \(code)" : code != 0 ? "code \(code)" : seconds > 20 ? "\(Int(seconds)) s" : nil)
        }
        do { try process.run() } catch { continuation.resume(returning: "\(error)") }
      }
    }

    // MARK: In the process that ends

    private func end(_ ending: Ending) async throws {
      // Registered before anything of libcurl: called after all of it.
      if ending == .late { atexit { Late.load() } }
      var options = CurlTransport.Options()
      options.additionalAuthorities = [try Data(contentsOf: URL(fileURLWithPath: authority))]
      options.maximumConnectionsPerHost = 24
      let isDue = Locked(false)
      // What tells the time is called on the thread of the loop, too.
      let clock = TimerClock(
        now: {
          if ending == .loop, isDue.withLock({ $0 }), Thread.isLoop { Foundation.exit(0) }
          return TimerClock.system.now()
        }, schedule: TimerClock.system.schedule)
      guard let url = URL(string: url) else { throw ValidationError("no URL") }
      let registry = InterceptorRegistry(
        clock: clock, transport: CurlTransport(configuration: .ephemeral, options: options), configuration: .ephemeral
      ) { LoopGuard() }
      if ending == .nested { atexit { Foundation.exit(0) } }
      let session = URLSession(configuration: .ephemeral.intercepted(by: registry))
      for _ in 0..<24 {
        switch ending {
        case .session: session.dataTask(with: url).resume()
        default: Task { for try await _ in try await registry.load(URLRequest(url: url)).body {} }
        }
      }
      Late.registry.withLock { $0 = registry }
      try await Task.sleep(for: .milliseconds(delay))
      switch ending {
      case .direct, .session, .nested, .late: Foundation.exit(0)
      case .thread: Thread.detachNewThread { Foundation.exit(0) }
      case .loop: isDue.withLock { $0 = true }
      case .signal:
        signal(SIGUSR1) { _ in Foundation.exit(0) }
        kill(getpid(), SIGUSR1)
      case .fork:
        // Not to be called by its name in Swift: the child may do little, and ends at once.
        let fork = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> Int32).self)
        let child = fork()
        guard child > 0 else { Foundation.exit(0) }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        Foundation.exit(status == 0 ? 0 : 3)
      }
      try await Task.sleep(for: .seconds(30))
      _exit(4)
    }
  }

  /// How a process ends.
  enum Ending: String, CaseIterable, ExpressibleByArgument {
    /// With direct loads under way.
    case direct
    /// With tasks of an intercepted session under way.
    case session
    /// By another thread than the main one.
    case thread
    /// By the thread that has the connections.
    case loop
    /// By a signal handler, in the middle of whatever the thread is at.
    case signal
    /// By a handler of the end that ends the process.
    case nested
    /// A handler that comes last loads once more, and has to be told that this is the end.
    case late
    /// A child first, which has been made by `fork` and has none of the threads. Without TLS: OpenSSL's own end waits
    /// in the child for a lock of a thread that was not copied, 3 times in 300.
    case fork
  }

  /// A load when all is over.
  enum Late {
    static let registry = Locked<InterceptorRegistry?>(nil)

    static func load() {
      let isOver = DispatchSemaphore(value: 0)
      guard let registry = registry.withLock({ $0 }), let url = URL(string: "https://127.0.0.1:1/") else { return }
      Task {
        _ = try? await registry.data(for: URLRequest(url: url))
        isOver.signal()
      }
      if isOver.wait(timeout: .now() + 10) == .timedOut { _exit(5) }
    }
  }

  extension Thread {
    /// Whether the calling thread is the one of a loop.
    fileprivate static var isLoop: Bool {
      (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)) == "waylay-curl\n"
    }
  }
#else
  /// The loading system has the connections on Apple platforms: there is nothing to run.
  @main
  enum Exits {
    static func main() {}
  }
#endif
