import Foundation
package import Testing
import WaylayCore
package import WaylayHAR

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

#if os(Linux) || os(macOS)
  /// A Chromium without a window, in a process of its own, driven by its DevTools protocol through two pipes.
  ///
  /// It ends in each case: when a test closes it, when a test takes longer than ``limit``, and, because it goes when
  /// its pipe is closed, when the tests' process ends. Whoever waits for an answer then gets an error.
  package final class Browser: Sendable {
    /// How long one may live.
    package static let limit = Duration.seconds(300)

    /// The program, where one is installed.
    package static let path: String? = {
      let environment = ProcessInfo.processInfo.environment
      if let path = environment["WAYLAY_CHROMIUM"] { return access(path, X_OK) == 0 ? path : nil }
      let folders = (environment["PATH"] ?? "").split(separator: ":").map(String.init)
      let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
      let paths = names.flatMap { name in folders.map { "\($0)/\(name)" } }
      return (paths + ["/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"]).first { access($0, X_OK) == 0 }
    }()

    package struct Failure: Error, CustomStringConvertible {
      package let description: String
      package init(_ description: String) { self.description = description }
    }

    /// Told of what the browser says unasked: the session, the event and its parameters.
    package typealias Listener = @Sendable (_ session: String?, _ event: String, _ parameters: JSONValue) -> Void

    private struct State {
      var listener: Listener?
      var last = 0
      var waiting: [Int: CheckedContinuation<JSONValue, any Error>] = [:]
      var isOver = false
      var watchdog: Task<Void, Never>?
    }

    private let state = Locked(State())
    private let process: pid_t
    private let commands: Int32
    private let profile: URL

    /// Starts one, by a command that runs what comes after it where there is one.
    package init(_ more: [String] = [], environment: [String: String] = [:], in place: [String] = []) throws {
      guard let path = Self.path else { throw Failure("no Chromium is installed") }
      profile = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-browser-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: profile, withIntermediateDirectories: true)
      let answers: Int32
      let command = place + [path]
      (process, commands, answers) = try Self.spawn(
        command[0],
        command.dropFirst() + [
          "--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
          "--no-first-run",
          "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
          "--mute-audio",
          "--user-data-dir=\(profile.path)", "--window-size=1400,900",
        ] + more + ["about:blank"], environment)
      Thread.detachNewThread { [self] in read(answers) }
      let watchdog = Task { [weak self] in
        try? await Task.sleep(for: Self.limit)
        if !Task.isCancelled { self?.close() }
      }
      state.withLock { $0.watchdog = watchdog }
    }

    /// Ends it. May be called more than once.
    package func close() {
      let watchdog = state.withLock { state -> Task<Void, Never>? in
        guard !state.isOver else { return nil }
        state.isOver = true
        // It is the leader of a group: those that it has started go with it.
        kill(-process, SIGKILL)
        closeFile(commands)
        return state.watchdog
      }
      watchdog?.cancel()
    }

    /// Gives a page to a closure, and ends the browser whatever it does.
    package static func withPage<Result>(
      _ more: [String] = [], environment: [String: String] = [:], in place: [String] = [],
      _ body: (Page) async throws -> Result
    ) async throws -> Result {
      let browser = try Browser(more, environment: environment, in: place)
      defer { browser.close() }
      let target = try await browser.call("Target.createTarget", ["url": "about:blank"])["targetId"]?.string ?? ""
      let session = try await browser.call("Target.attachToTarget", ["targetId": target, "flatten": true])["sessionId"]?
        .string
      let page = Page(browser: browser, session: session ?? "")
      try await page.call("Page.enable")
      return try await body(page)
    }

    /// Sends a command and returns its result.
    package func call(
      _ method: String, _ parameters: [String: Any] = [:], session: String? = nil
    ) async throws -> JSONValue {
      let id = state.withLock {
        $0.last += 1
        return $0.last
      }
      var command: [String: Any] = ["id": id, "method": method, "params": parameters]
      command["sessionId"] = session
      let data = try JSONSerialization.data(withJSONObject: command)
      return try await withCheckedThrowingContinuation { continuation in
        let isOpen = state.withLock { state -> Bool in
          guard !state.isOver else { return false }
          state.waiting[id] = continuation
          return true
        }
        guard isOpen else { return continuation.resume(throwing: Failure("the browser has ended")) }
        write(data + [0])
      }
    }

    private func write(_ data: Data) {
      data.withUnsafeBytes { bytes in
        var sent = 0
        while sent < bytes.count {
          let count = writeFile(commands, bytes.baseAddress! + sent, bytes.count - sent)
          if count < 0, errno == EINTR { continue }
          guard count > 0 else { return }
          sent += count
        }
      }
    }

    /// Hands out answers until the browser is gone, on a thread of its own.
    private func read(_ file: Int32) {
      var rest = Data()
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        let count = readFile(file, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { break }
        rest.append(contentsOf: buffer[..<count])
        while let end = rest.firstIndex(of: 0) {
          receive(Data(rest[rest.startIndex..<end]))
          rest = Data(rest[(end + 1)...])
        }
      }
      closeFile(file)
      close()
      let waiting = state.withLock { state in
        defer { state.waiting = [:] }
        return state.waiting.values
      }
      for continuation in waiting {
        continuation.resume(throwing: Failure("the browser ended, or was ended after \(Self.limit)"))
      }
      var status: Int32 = 0
      while waitpid(process, &status, 0) < 0, errno == EINTR {}
      try? FileManager.default.removeItem(at: profile)
    }

    /// Calls a closure for each event from now on.
    package func listen(_ listener: @escaping Listener) { state.withLock { $0.listener = listener } }

    private func receive(_ message: Data) {
      guard let json = try? JSONValue(parsing: message) else { return }
      if let event = json["method"]?.string {
        state.withLock { $0.listener }?(json["sessionId"]?.string, event, json["params"] ?? nil)
      }
      guard let id = json["id"]?.int else { return }
      let continuation = state.withLock { $0.waiting.removeValue(forKey: id) }
      if let problem = json["error"] {
        continuation?.resume(throwing: Failure(problem["message"]?.string ?? "the browser refused"))
      } else {
        continuation?.resume(returning: json["result"] ?? nil)
      }
    }

    /// Starts it with descriptor 3 to read from and 4 to write to, and none else.
    private static func spawn(
      _ path: String, _ arguments: [String], _ environment: [String: String]
    ) throws -> (process: pid_t, write: Int32, read: Int32) {
      let (inner, outer) = (try pipe(), try pipe())
      defer {
        closeFile(inner.read)
        closeFile(outer.write)
      }
      let nothing = Program.File.open("/dev/null", O_RDWR)
      let process = try Program(path: path).spawn(
        arguments, environment, files: [nothing, nothing, nothing, .copy(inner.read), .copy(outer.write)],
        leadsGroup: true)
      return (process, inner.write, outer.read)
    }

    /// A pipe whose ends are well above those that the browser gets, and which no other program inherits.
    private static func pipe() throws -> (read: Int32, write: Int32) {
      var ends: [Int32] = [0, 0]
      guard makePipe(&ends) else { throw Failure("no pipe can be made: error \(errno)") }
      return try {
        defer { for end in ends { closeFile(end) } }
        let high = ends.map { fcntl($0, F_DUPFD_CLOEXEC, 64) }
        guard high.allSatisfy({ $0 >= 0 }) else { throw Failure("no pipe can be made: error \(errno)") }
        return (high[0], high[1])
      }()
    }
  }

  // Functions of the system whose names methods of the browser have too.
  private func closeFile(_ file: Int32) { _ = close(file) }
  private func makePipe(_ ends: inout [Int32]) -> Bool { pipe(&ends) == 0 }
  private func readFile(_ file: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(file, bytes, count)
  }
  private func writeFile(_ file: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int { write(file, bytes, count) }

  /// One page of a browser.
  package struct Page: Sendable {
    package let browser: Browser
    package let session: String

    @discardableResult
    package func call(_ method: String, _ parameters: [String: Any] = [:]) async throws -> JSONValue {
      try await browser.call(method, parameters, session: session)
    }

    /// Opens an address, and waits until the page that is there says that it is ready.
    package func open(_ url: String) async throws {
      let answer = try await call("Page.navigate", ["url": url])
      if let problem = answer["errorText"]?.string { throw Browser.Failure("\(url): \(problem)") }
      try await until("document.documentElement.dataset.ready === 'true'")
    }

    /// The value of an expression, which may be a promise.
    @discardableResult
    package func evaluate(_ script: String) async throws -> JSONValue {
      let answer = try await call(
        "Runtime.evaluate", ["expression": script, "awaitPromise": true, "returnByValue": true])
      if let problem = answer["exceptionDetails"] {
        throw Browser.Failure(
          problem["exception"]?["description"]?.string ?? problem["text"]?.string ?? "the script failed")
      }
      return answer["result"]?["value"] ?? nil
    }

    /// Expects an element to say something.
    package func expect(_ text: String, in id: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
      let all = try await evaluate("document.getElementById('\(id)').innerText").string ?? ""
      #expect(all.contains(text), sourceLocation: sourceLocation)
    }

    /// Waits until an expression is true, two minutes at most.
    package func until(_ condition: String) async throws {
      try await evaluate(
        """
        new Promise((done, fail) => {
          const end = performance.now() + 120000;
          const look = () => {
            let isTrue = false;
            try { isTrue = (\(condition)); } catch {}
            if (isTrue) done(true);
            else if (performance.now() > end) {
              fail(new Error('not within two minutes: ' + \(Self.literal(condition)) + '; the page says: ' +
                document.body.innerText.slice(0, 600)));
            } else setTimeout(look, 10);
          };
          look();
        })
        """)
    }

    /// Writes into the filter, as a person does.
    package func filter(_ text: String) async throws {
      try await evaluate(
        """
        (() => { const field = document.getElementById('query'); field.value = \(Self.literal(text));
        field.dispatchEvent(new Event('input', { bubbles: true })); })()
        """)
    }

    /// Presses a key.
    package func press(_ key: String) async throws {
      try await evaluate(
        """
        document.dispatchEvent(new KeyboardEvent('keydown', { key: \(Self.literal(key)), bubbles: true, cancelable: \
        true }))
        """
      )
    }

    /// A text as a literal of JavaScript.
    package static func literal(_ text: String) -> String {
      (try? JSONEncoder().encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "''"
    }
  }
#endif
