#if !canImport(Darwin)
  import AppleCore
  package import Foundation
  package import FoundationNetworking

  /// A model of Apple's loading system, for protocol classes: it drives them as the documentation says, and checks each
  /// call they make.
  ///
  /// Nothing in it is Apple's; what it does where the documentation leaves it open is the least comfortable choice:
  /// `canInit` is asked on several threads and more often than objects are made, objects are made on another thread
  /// than they are started on, run loops run in a mode of their own.
  package final class AppleLoadingSystem: Sendable {
    private let classes: [AnyClassBox]
    private let runLoops: [ModelRunLoop]
    /// Whether it asks no protocol class, as the loader does that is not the classic one.
    private let isDeaf: Bool
    private let requestTimeout: TimeInterval
    private let sent = Locked<[URL]>([])

    /// - Parameter classes: The protocol classes of a session's configuration, in its order.
    package init(_ classes: [URLProtocol.Type], isDeaf: Bool = false, requestTimeout: TimeInterval = 60) {
      self.classes = classes.map { AnyClassBox(type: $0) }
      self.isDeaf = isDeaf
      self.requestTimeout = requestTimeout
      runLoops = ModelRunLoop.Habit.allCases.map { ModelRunLoop($0) }
    }

    /// The loader that a session of a configuration has.
    package convenience init(_ configuration: URLSessionConfiguration) {
      self.init(
        (configuration.protocolClasses ?? []).compactMap { $0 as? URLProtocol.Type },
        isDeaf: !configuration.usesClassicLoadingMode, requestTimeout: configuration.timeoutIntervalForRequest)
    }

    /// How long a task may go without a word: the session's timeout, or that of its request.
    func timeout(of request: URLRequest) -> TimeInterval {
      request.timeoutInterval == 60 ? requestTimeout : request.timeoutInterval
    }

    /// What went to the network past all protocol classes.
    package var sentToNetwork: [URL] { sent.withLock { $0 } }

    /// The network's answer to a request that no class has taken.
    func network(_ request: URLRequest, _ outcome: inout Outcome) {
      guard let url = request.url, isDeaf else { return outcome.error = URLError(.unsupportedURL) }
      sent.withLock { $0.append(url) }
      guard url.port != 1 else { return outcome.error = URLError(.cannotConnectToHost) }
      outcome.response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
      outcome.body = Data("network".utf8)
    }

    deinit {
      for runLoop in runLoops { runLoop.end() }
    }

    /// Loads a request as a data task would, with an app that does what is planned.
    package func load(_ request: URLRequest, _ plan: AppPlan = AppPlan()) async -> Outcome {
      var (outcome, hops) = await ModelTask(self, plan).run(request)
      outcome.violations = hops.flatMap(\.violations)
      if await !areFreed(hops) { outcome.violations.append(.neverFreed) }
      return outcome
    }

    /// Whether the protocol objects go away, as they must once they were stopped and nobody runs in them.
    private func areFreed(_ hops: [ModelHop]) async -> Bool {
      // Below the time limits of the tests; other tests of the process can keep the tasks of a load waiting for long.
      let deadline = ContinuousClock.now + .seconds(300)
      while hops.contains(where: { $0.freed != nil }) {
        guard ContinuousClock.now < deadline else { return false }
        await Task.yield()
      }
      return true
    }

    func runLoop(_ seed: UInt64) -> ModelRunLoop { runLoops[Int(seed % UInt64(runLoops.count))] }

    /// Asks each class in turn, several times and at once.
    func protocolClass(for request: URLRequest, asking times: Int) async -> URLProtocol.Type? {
      guard !isDeaf else { return nil }
      for candidate in classes {
        let answers = await withTaskGroup(of: Bool.self, returning: [Bool].self) { group in
          // Without the values of the app's task, which threads of the system do not have.
          for _ in 0..<times { group.addTask { await Task.detached { candidate.type.canInit(with: request) }.value } }
          return await group.reduce(into: []) { $0.append($1) }
        }
        if answers.contains(true) { return candidate.type }
      }
      return nil
    }
  }

  /// Unchecked: a class does not change.
  private struct AnyClassBox: @unchecked Sendable {
    let type: URLProtocol.Type
  }
#endif
