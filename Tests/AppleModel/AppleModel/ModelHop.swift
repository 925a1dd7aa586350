#if !canImport(Darwin)
  import AppleCore
  import Foundation

  /// One protocol object of a task, and its client, which checks every call.
  final class ModelHop: NSObject, URLProtocolClient, ModelClient, @unchecked Sendable {
    let task: ModelTask
    private let runLoop: ModelRunLoop
    private let contract = Locked(Contract())
    // Unchecked: does not change once it is made.
    private var clock: ModelClock?
    // Unchecked: the rest is used on the run loop's thread only, once it is made.
    private var object: URLProtocol?
    private(set) weak var freed: URLProtocol?
    private var modes: Set<ModelRunLoop.Mode> = []
    private var hasStarted = false

    /// Made on whatever thread, and not on the client's.
    init(_ task: ModelTask, _ request: URLRequest, by protocolClass: URLProtocol.Type, on runLoop: ModelRunLoop) {
      self.task = task
      self.runLoop = runLoop
      super.init()
      let object = protocolClass.init(request: request, cachedResponse: nil, client: self)
      self.object = object
      clock = ModelPatience.clock(of: object)
      freed = object
    }

    var violations: [Violation] { contract.withLock { $0.violations } }

    private func onRunLoop(_ work: @escaping @Sendable () -> Void) {
      runLoop.perform(in: [.standard, .private], work)
    }

    func start() {
      onRunLoop {
        // Cancelled before it began: the object is dropped.
        guard !self.contract.withLock({ $0.isStopped }) else { return }
        self.modes = [.standard, self.runLoop.currentMode]
        self.hasStarted = true
        self.object?.startLoading()
      }
    }

    var owner: any AnyObject & Sendable { task }

    /// The app does not follow the redirect.
    func refused() { onRunLoop { self.contract.withLock { $0.refused() } } }

    /// A second passes, as soon as the object waits for one.
    func tick() async { await clock?.tick() }

    func note(_ violation: Violation) { contract.withLock { $0.note(violation) } }

    /// Stops the object on its thread, at the latest when its load has ended; then it is let go.
    func stop(_ then: @escaping @Sendable () -> Void) {
      onRunLoop {
        let isFirst = self.contract.withLock { contract in
          defer { contract.isStopped = true }
          return !contract.isStopped
        }
        if isFirst, self.hasStarted { self.object?.stopLoading() }
        self.object = nil
        then()
      }
    }

    /// Checks where a call comes from, and then its place in the order; whether it may go on to the app.
    private func check(_ caller: URLProtocol, _ order: (inout Contract) -> Bool) -> Bool {
      let current = ModelRunLoop.current
      let isMode = current.map { modes.contains($0.currentMode) } ?? true
      return contract.withLock { contract in
        if current !== runLoop {
          contract.note(.onAnotherThread)
        } else {
          if !isMode { contract.note(.inAnotherMode) }
          if caller !== object, !contract.isStopped { contract.note(.byAnotherObject) }
        }
        return order(&contract)
      }
    }

    func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse) {
      guard check(`protocol`, { $0.redirect() }) else { return }
      task.tell(.redirected(request, redirectResponse), from: self)
    }

    func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {}

    func urlProtocol(
      _ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
      if check(`protocol`, { $0.response() }) { task.tell(.response(response), from: self) }
    }

    func urlProtocol(_ protocol: URLProtocol, didLoad data: Data) {
      if check(`protocol`, { $0.data() }) { task.tell(.data(data), from: self) }
    }

    func urlProtocolDidFinishLoading(_ protocol: URLProtocol) {
      if check(`protocol`, { $0.end(isFailure: false) }) { task.tell(.ended(nil), from: self) }
    }

    func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error) {
      if check(`protocol`, { $0.end(isFailure: true) }) { task.tell(.ended(error), from: self) }
    }

    func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
      if check(`protocol`, { $0.ask(ObjectIdentifier(challenge)) }) { task.tell(.challenge(challenge), from: self) }
    }

    func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {
      if check(`protocol`, { $0.withdraw(ObjectIdentifier(challenge)) }) { task.tell(.withdrawn, from: self) }
    }

    /// The app answers a challenge through its sender, on whatever thread this is.
    func answer(_ challenge: URLAuthenticationChallenge, _ say: (any URLAuthenticationChallengeSender) -> Void) {
      contract.withLock { $0.answered(ObjectIdentifier(challenge)) }
      if let sender = challenge.sender { say(sender) }
    }
  }
#endif
