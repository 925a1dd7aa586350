#if !canImport(Darwin)
  import AppleCore
  import Foundation

  /// Many loads through an intercepted configuration, each with a server, an app and an order of things of its own; the
  /// same for the same seed, but for what threads make of it.
  package struct ModelRun: Sendable {
    package struct Report: Sendable {
      package var loads = 0
      package var cancelled = 0
      package var redirects = 0
      package var challenges = 0
      package var suspended = 0
      /// What servers of the inner sessions were sent, and how often a task of theirs was suspended and resumed.
      package var uploads = 0
      package var heldBack = 0
      /// What went wrong, with the number of the load.
      package var failures: [String] = []
    }

    private let loads: Int
    private let seed: UInt64
    private let atOnce = 24
    static let sessions = 2

    package init(loads: Int, seed: UInt64) {
      self.loads = loads
      self.seed = seed
    }

    package func callAsFunction() async -> Report {
      let ledger = InnerSession.Ledger()
      let registries = (0..<Self.sessions).map { number in
        InterceptorRegistry(transport: InnerSession.transport(InnerSession.Server(), ledger)) {
          ModelAnswers(session: number)
        }
      }
      let systems = registries.map { registry in
        let configuration = URLSessionConfiguration.ephemeral
        // As it may be one day by default.
        configuration.usesClassicLoadingMode = false
        return AppleLoadingSystem(configuration.intercepted(by: registry))
      }
      var report = await withTaskGroup(of: Report.self) { group in
        var report = Report()
        for number in 0..<loads {
          if number >= atOnce, let done = await group.next() { report.add(done) }
          group.addTask { await Self.load(number, seed: seed, systems) }
        }
        for await done in group { report.add(done) }
        return report
      }
      for registry in registries { registry.invalidate() }
      report.uploads = ledger.received.filter { $0.path.hasPrefix("/upload") }.count
      report.heldBack = ledger.suspensions
      if ledger.received.contains(where: \.isBroken) { report.failures.append("a body that failed looked complete") }
      if ledger.deepest > 1 { report.failures.append("suspensions were nested") }
      return report
    }

    /// One load, and whether its app saw what its server said.
    private static func load(_ number: Int, seed: UInt64, _ systems: [AppleLoadingSystem]) async -> Report {
      var random = SplitMix(state: seed &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
      let exchange = ModelExchange(number, &random)
      let plan = AppPlan(for: exchange, &random)
      let outcome = await systems[exchange.session].load(exchange.request, plan)
      var report = Report(loads: 1)
      report.cancelled = outcome.wasCancelled ? 1 : 0
      report.redirects = max(0, outcome.hops - 1)
      report.challenges = outcome.challenges
      report.suspended = plan.suspendsAt == nil ? 0 : 1
      var failures = outcome.violations.map(\.rawValue)
      if outcome.toldWhileSuspended > 0 { failures.append("the app heard of a suspended task") }
      if !outcome.wasCancelled, let wrong = exchange.difference(from: outcome, plan) { failures.append(wrong) }
      report.failures = failures.map { "load \(number) (\(exchange.kind), \(plan)): \($0)" }
      return report
    }
  }

  extension ModelRun.Report {
    fileprivate mutating func add(_ other: Self) {
      loads += other.loads
      cancelled += other.cancelled
      redirects += other.redirects
      challenges += other.challenges
      suspended += other.suspended
      failures += other.failures
    }
  }

  extension AppPlan {
    init(for exchange: ModelExchange, _ random: inout SplitMix) {
      self.init()
      seed = random.next()
      questions = Int.random(in: 1...3, using: &random)
      answer = Answer.allCases.randomElement(using: &random) ?? .credential
      followsRedirects = Int.random(in: 0..<8, using: &random) > 0
      loader = Loader.allCases.randomElement(using: &random) ?? .kind
      form = Form.allCases.randomElement(using: &random) ?? .delegate
      length = Length.allCases.randomElement(using: &random) ?? .field
      secondsToFollow = Int.random(in: 0..<4, using: &random) == 0 ? 3 : 0
      followsByOwnRequest = Bool.random(using: &random)
      keepsRefused = Int.random(in: 0..<4, using: &random) == 0
      if exchange.kind == .silent || Int.random(in: 0..<3, using: &random) == 0 {
        cancelsAt = exchange.kind == .silent ? 0 : Int.random(in: 0..<6, using: &random)
        cancelling = exchange.kind == .silent ? .atOnce : Cancelling.allCases.randomElement(using: &random) ?? .inside
      }
      if Int.random(in: 0..<5, using: &random) == 0 { suspendsAt = Int.random(in: 0..<4, using: &random) }
    }
  }

  /// The generator of Steele, Lea and Flood, 2014.
  package struct SplitMix: RandomNumberGenerator, Sendable {
    var state: UInt64

    package mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }
#endif
