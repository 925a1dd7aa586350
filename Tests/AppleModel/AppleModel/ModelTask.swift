#if !canImport(Darwin)
  import AppleCore
  package import Foundation
  package import FoundationNetworking

  /// What the app of a load does while it runs, decided before it starts.
  package struct AppPlan: Sendable {
    package enum Answer: Sendable, CaseIterable { case credential, twice, without, cancel, byDefault, reject, never }
    package enum Cancelling: Sendable, CaseIterable { case inside, elsewhere, atOnce }
    /// What the loading system does about a refused redirect: ends the task with it by itself; waits for the object's
    /// response, without end; or does that, and takes a failure of the object for the task's.
    package enum Loader: Sendable, CaseIterable { case kind, hanging, failing }
    /// What kind of task the app has made.
    package enum Form: Sendable, CaseIterable { case delegate, handler, download }

    package init() {}

    /// The event at which the task is cancelled, counted from 0; none for never.
    package var cancelsAt: Int?
    package var cancelling = Cancelling.inside
    /// The event at which the task is suspended, to be resumed a little later.
    package var suspendsAt: Int?
    package var answer = Answer.credential
    package var followsRedirects = true
    package var loader = Loader.kind
    package var form = Form.delegate
    /// Where the length of a body is that its app knows: in the request, with the task alone, or in neither.
    package enum Length: Sendable, CaseIterable { case field, task, neither }
    package var length = Length.field
    /// Seconds that the app thinks about each redirect, with its request in hand.
    package var secondsToFollow = 0
    /// Whether it follows with a request of its own, and whether it keeps the one that it has refused.
    package var followsByOwnRequest = false
    package var keepsRefused = false
    /// How often `canInit` is asked before an object is made, each time on another thread.
    package var questions = 1
    package var seed: UInt64 = 0
  }

  /// What the app of a load has seen at its end.
  package struct Outcome: Sendable {
    package var response: HTTPURLResponse?
    package var body = Data()
    package var error: (any Error)?
    package var wasCancelled = false
    package var hops = 0
    package var challenges = 0
    package var violations: [Violation] = []
    /// Things the app has been told while its task was suspended.
    package var toldWhileSuspended = 0
    /// Seconds that passed after redirects.
    package var seconds = 0
  }

  enum Event: Sendable {
    case redirected(URLRequest, URLResponse)
    case response(URLResponse)
    case data(Data)
    case challenge(URLAuthenticationChallenge)
    case withdrawn
    case ended((any Error)?)
  }

  /// A task of the model: its protocol objects one after another, what the app is told, and what the app does.
  final class ModelTask: Sendable {
    private struct State {
      var outcome = Outcome()
      var hop: ModelHop?
      var hops: [ModelHop] = []
      var isSuspended = false
      var held: [(Event, ModelHop)] = []
      var isDelivering = false
      var events = 0
      var isCancelled = false
      var isDone = false
      /// The redirect that the app has refused, while its response is waited for.
      var refused: URLResponse?
      /// The seconds that pass until the object says something.
      var time: Task<Void, Never>?
      /// A refused request that the app keeps.
      var kept: URLRequest?
      /// What a completion handler gets, and the file of a download.
      var collected = Data()
      var file: URL?
    }

    private let system: AppleLoadingSystem
    private let plan: AppPlan
    private let state = Locked(State())
    private let done = Promise<Void>()

    init(_ system: AppleLoadingSystem, _ plan: AppPlan) {
      self.system = system
      self.plan = plan
    }

    func run(_ request: URLRequest) async -> (Outcome, [ModelHop]) {
      if plan.cancelsAt == 0, plan.cancelling == .atOnce {
        // `resume` and `cancel` cross.
        DispatchQueue.global().async { self.cancel() }
      }
      await begin(request)
      // A load that never ends is over when its test is, by its time limit.
      await withTaskCancellationHandler {
        try? await done.value()
      } onCancel: {
        done.settle(.failure(CancellationError()))
      }
      var (outcome, hops, collected, file) = state.withLock { ($0.outcome, $0.hops, $0.collected, $0.file) }
      if let kept = state.withLock({ $0.kept.take() }) { ModelPatience.release(kept) }
      outcome.body += collected
      if let file {
        outcome.body += (try? Data(contentsOf: file)) ?? Data()
        try? FileManager.default.removeItem(at: file)
      }
      return (outcome, hops)
    }

    /// A protocol class sees any body as a stream.
    private func streaming(_ request: URLRequest) -> URLRequest {
      var request = request
      let field = request.value(forHTTPHeaderField: "Content-Length")
      // Of a request that a redirect has made the loading system knows no more than that says.
      let isFirst = state.withLock { $0.hops.isEmpty }
      let length = field.flatMap { Int($0) } ?? (isFirst ? request.httpBody?.count : nil)
      if let data = request.httpBody { request.httpBodyStream = InputStream(data: data) }
      guard request.httpBodyStream != nil, let length else {
        return RequestProperty.setting([ModelPatience.length: nil], in: request)
      }
      // A length that is wrong is always said.
      let place = plan.length == .neither && request.value(forHTTPHeaderField: "X-Broken") != nil ? .field : plan.length
      request.setValue(place == .field ? "\(length)" : nil, forHTTPHeaderField: "Content-Length")
      return RequestProperty.setting([ModelPatience.length: place == .task ? length : nil], in: request)
    }

    /// Asks the classes, and starts an object of the one that takes the request.
    private func begin(_ request: URLRequest) async {
      let request = streaming(request)
      guard let protocolClass = await system.protocolClass(for: request, asking: plan.questions) else {
        return finish { self.system.network(request, &$0) }
      }
      let canonical = protocolClass.canonicalRequest(for: request)
      let hop = ModelHop(self, canonical, by: protocolClass, on: system.runLoop(plan.seed))
      let isCancelled = state.withLock { state in
        state.outcome.hops += 1
        state.hop = hop
        state.hops.append(hop)
        return state.isCancelled
      }
      hop.start()
      // It has been cancelled while there was nothing to stop.
      if isCancelled { stopAndFinish(hop) }
    }

    // MARK: The app

    func cancel() {
      let hop = state.withLock { state -> ModelHop? in
        guard !state.isCancelled, !state.isDone else { return nil }
        state.isCancelled = true
        state.outcome.wasCancelled = true
        return state.hop
      }
      if let hop { stopAndFinish(hop) }
    }

    private func stopAndFinish(_ hop: ModelHop) {
      hop.stop { self.finish { _ in } }
    }

    private func finish(_ change: @Sendable (inout Outcome) -> Void) {
      let isFirst = state.withLock { state in
        guard !state.isDone else { return false }
        state.isDone = true
        state.time?.cancel()
        change(&state.outcome)
        return true
      }
      if isFirst { done.settle(.success(())) }
    }

    // MARK: What protocol objects tell

    func tell(_ event: Event, from hop: ModelHop) {
      state.withLock { state in
        state.held.append((event, hop))
        state.time?.cancel()
      }
      deliver()
    }

    /// Hands on what is held, in order, unless the task is suspended.
    private func deliver() {
      while true {
        let next = state.withLock { state -> (Event, ModelHop, Int)? in
          guard !state.isDelivering, !state.isSuspended, !state.held.isEmpty else { return nil }
          state.isDelivering = true
          let (event, hop) = state.held.removeFirst()
          defer { state.events += 1 }
          return (event, hop, state.events)
        }
        guard let (event, hop, number) = next else { return }
        // After a cancellation the app hears of that alone.
        if !state.withLock({ $0.isCancelled }) { act(on: event, from: hop, number) }
        state.withLock { $0.isDelivering = false }
      }
    }

    private func act(on event: Event, from hop: ModelHop, _ number: Int) {
      state.withLock { if $0.isSuspended { $0.outcome.toldWhileSuspended += 1 } }
      if number == plan.cancelsAt {
        switch plan.cancelling {
        case .inside, .atOnce: cancel()
        case .elsewhere: DispatchQueue.global().async { self.cancel() }
        }
      }
      if number == plan.suspendsAt { suspend() }
      switch event {
      case .response(let response):
        state.withLock { state in
          state.outcome.response = response as? HTTPURLResponse
          state.refused = nil
        }
      case .data(let data): receive(data)
      case .withdrawn: break
      case .challenge(let challenge): answer(challenge, hop)
      case .redirected(let request, let response):
        if RequestProperty.isMisused(in: request) { hop.note(.propertyMisused) }
        guard !plan.followsRedirects else { return follow(request, after: hop) }
        if plan.keepsRefused { state.withLock { $0.kept = request } } else { ModelPatience.release(request) }
        guard plan.loader == .kind else {
          state.withLock { $0.refused = response }
          hop.refused()
          return pass(Int.max, of: request, hop) { _ in }
        }
        state.withLock { $0.outcome.response = response as? HTTPURLResponse }
        hop.stop { self.finish { _ in } }
      case .ended(let error):
        let isSilent = state.withLock { state in
          if state.refused == nil || plan.loader == .failing { state.outcome.error = error }
          return state.refused != nil && plan.loader == .hanging
        }
        if isSilent { hop.note(.silenceAfterRefusal) }
        hop.stop { self.finish { _ in } }
      }
    }

    /// The app follows a redirect when it has thought about it.
    private func follow(_ request: URLRequest, after hop: ModelHop) {
      pass(plan.secondsToFollow, of: request, hop) { isTimedOut in
        ModelPatience.release(request)
        guard !isTimedOut else { return }
        hop.stop { Task { await self.begin(self.plan.followsByOwnRequest ? self.ownRequest(request) : request) } }
      }
    }

    /// Lets seconds pass, until the object says something. A task that goes without a word for its timeout fails.
    private func pass(
      _ seconds: Int, of request: URLRequest, _ hop: ModelHop, _ then: @escaping @Sendable (_ isTimedOut: Bool) -> Void
    ) {
      let timeout = Int(system.timeout(of: request))
      let isPassing = state.withLock { state in
        guard state.held.isEmpty, !state.isCancelled, !state.isDone else { return false }
        state.time = Task {
          for _ in 0..<min(seconds, timeout) {
            await hop.tick()
            guard !Task.isCancelled else { break }
            self.state.withLock { $0.outcome.seconds += 1 }
          }
          let isTimedOut = seconds >= timeout && !Task.isCancelled
          if isTimedOut { hop.stop { self.finish { $0.error = URLError(.timedOut) } } }
          then(isTimedOut)
        }
        return true
      }
      if !isPassing { then(false) }
    }

    /// A request that an app makes anew: what it knows of it is in it, and nothing else.
    private func ownRequest(_ request: URLRequest) -> URLRequest {
      guard let url = request.url else { return request }
      var own = URLRequest(url: url)
      (own.httpMethod, own.allHTTPHeaderFields) = (request.httpMethod, request.allHTTPHeaderFields)
      if let body = request.httpBody { own.httpBody = body } else { own.httpBodyStream = request.httpBodyStream }
      return own
    }

    /// The body on its way to a delegate, a completion handler or a file.
    private func receive(_ data: Data) {
      switch plan.form {
      case .delegate: state.withLock { $0.outcome.body += data }
      case .handler: state.withLock { $0.collected += data }
      case .download:
        let url = state.withLock { state -> URL in
          let url = state.file ?? FileManager.default.temporaryDirectory.appendingPathComponent("model-\(UUID())")
          state.file = url
          return url
        }
        if !FileManager.default.fileExists(atPath: url.path) {
          _ = FileManager.default.createFile(atPath: url.path, contents: nil)
        }
        guard let handle = try? FileHandle(forWritingTo: url) else { return }
        _ = try? handle.seekToEnd()
        try? handle.write(contentsOf: data)
        try? handle.close()
      }
    }

    private func suspend() {
      state.withLock { $0.isSuspended = true }
      Task {
        for _ in 0..<Int(plan.seed % 5) { await Task.yield() }
        state.withLock { $0.isSuspended = false }
        deliver()
      }
    }

    private func answer(_ challenge: URLAuthenticationChallenge, _ hop: ModelHop) {
      state.withLock { $0.outcome.challenges += 1 }
      let credential = URLCredential(user: "user", password: "password", persistence: .none)
      let answer = plan.answer
      let asked = Asked(challenge: challenge)
      guard answer != .never else { return DispatchQueue.global().async { self.cancel() } }
      DispatchQueue.global().async {
        hop.answer(asked.challenge) { sender in
          switch answer {
          case .credential, .twice: sender.use(credential, for: asked.challenge)
          case .without: sender.continueWithoutCredential(for: asked.challenge)
          case .cancel: sender.cancel(asked.challenge)
          case .byDefault: sender.performDefaultHandling(for: asked.challenge)
          case .reject: sender.rejectProtectionSpaceAndContinue(with: asked.challenge)
          case .never: break
          }
        }
      }
      guard answer == .twice else { return }
      DispatchQueue.global().async { hop.answer(asked.challenge) { $0.use(credential, for: asked.challenge) } }
    }
  }

  /// Unchecked: a challenge does not change.
  private struct Asked: @unchecked Sendable {
    let challenge: URLAuthenticationChallenge
  }
#endif
