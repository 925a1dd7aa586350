extension BootstrapLoader {
  typealias Answer = (body: Data, response: InterceptedResponse)

  /// How long an address has to be connected before the next one is tried beside it.
  private static let stagger: Duration = .milliseconds(250)
  /// How long an address that has the question may be silent before the next one is asked beside it.
  private var silence: Duration { attemptLimit / 3 }

  private enum Signal: Sendable {
    case timer
    case ended(Int, Result<Answer, any Error>)
  }

  /// The whole answer of the first address that gives one.
  ///
  /// The next address is tried beside the others after 250 ms, or at once when one fails. The first that is connected
  /// and verified gets the question; when that is silent for a third of its time another one gets it too, which is
  /// harmless: it is the same server's.
  ///
  /// - Throws: ``HostError/Code/resolverFailed`` or ``HostError/Code/resolverTimedOut`` when none does.
  func load(_ request: URLRequest) async throws -> Answer {
    guard !endpoints.isEmpty else { return try await attempt(request, at: nil) }
    let hasGates = transport.capabilities.contains(.gates)
    return try await withThrowingTaskGroup(of: Signal.self) { group in
      defer { group.cancelAll() }
      var waiting = ranked()
      var running = 0
      var gate = hasGates ? DialGate() : nil
      var lastStart: Duration?
      var hasRetried = false
      var failures: [(index: Int, error: HostError)] = []
      func start(_ index: Int, isFresh: Bool = false) {
        // The question may be put once more: whoever has claimed the gate is silent, or has failed.
        if gate?.isClaimed == true { gate = DialGate() }
        running += 1
        lastStart = clock.time()
        group.addTask { [gate] in
          do {
            return .ended(index, .success(try await attempt(request, at: index, gate: gate, isFresh: isFresh)))
          } catch {
            return .ended(index, .failure(error))
          }
        }
      }
      func wait(_ time: Duration) {
        group.addTask { [clock] in
          try? await clock.sleep(time)
          return .timer
        }
      }
      while true {
        if running == 0 {
          guard !waiting.isEmpty else { throw Self.failure(failures, endpoints, request) }
          start(waiting.removeFirst())
          wait(Self.stagger)
        }
        switch try await group.next() {
        case nil: throw Self.failure(failures, endpoints, request)
        case .timer:
          let isAsked = gate?.isClaimed == true
          guard let last = lastStart, running > 0 else { continue }
          let due = last + (isAsked ? silence : Self.stagger)
          if clock.time() < due {
            wait(due - clock.time())
          } else if !waiting.isEmpty {
            start(waiting.removeFirst())
            wait(Self.stagger)
          } else if isAsked, !hasRetried, gate?.isClaimedOnKeptConnection == true, endpoints.count == 1 {
            hasRetried = true
            start(0, isFresh: true)
          }
        case .ended(let index, .success(let answer)):
          remember(index, hasAnswered: true)
          return answer
        case .ended(let index, .failure(let error)):
          running -= 1
          try Task.checkCancellation()
          let error = error as? HostError ?? HostError(.resolverFailed, "\(error)", underlying: error)
          if (error.underlying as? TransportError)?.code == .cancelled {
            // Another one was connected first; this one is as good.
            waiting.append(index)
            continue
          }
          remember(index, hasAnswered: false)
          failures.append((index, error))
          if !waiting.isEmpty, gate?.isClaimed != true || running == 0 {
            start(waiting.removeFirst())
            wait(Self.stagger)
          }
        }
      }
    }
  }

  private static func failure(
    _ failures: [(index: Int, error: HostError)], _ endpoints: [HostEndpoint], _ request: URLRequest
  ) -> HostError {
    if endpoints.count == 1, let only = failures.first?.error { return only }
    let story = failures.map { "\(endpoints[$0.index]): \($0.error.message)" }.joined(separator: "; ")
    return HostError(.resolverFailed, "no address of \(request.url?.host ?? "") answered: \(story)")
  }
}
