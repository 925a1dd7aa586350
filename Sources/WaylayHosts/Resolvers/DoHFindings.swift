/// The answers about a host so far, and the questions that remain.
struct DoHFindings: Sendable {
  let query: HostAuthority
  let name: DNSName
  /// The name of the host's HTTPS records.
  let serviceName: DNSName
  private(set) var answers: [DNSQuestion: Result<DNSReply, HostError>] = [:]
  private var asked: Set<DNSQuestion> = []

  /// The maximum number of other names to follow from HTTPS records.
  private static let maximumTargets = 3
  /// The lifetime of an incomplete answer, in seconds.
  private static let incompleteTimeToLive: UInt32 = 30

  init(_ query: HostAuthority) throws {
    self.query = query
    name = try DNSName(query.host.description)
    serviceName = try DNSName(service: query.host.description, port: query.port)
  }

  mutating func add(_ result: Result<DNSReply, HostError>, to question: DNSQuestion) {
    answers[question] = result
  }

  /// The next questions: first about the host itself, then about the names that its HTTPS records point to.
  mutating func questions() -> [DNSQuestion] {
    var wanted: [DNSQuestion] = []
    if asked.isEmpty {
      wanted = addressQuestions(name) + [DNSQuestion(name: serviceName, type: .https)]
    } else {
      let bindings = answer(serviceName, .https)?.services.filter(\.isUsable) ?? []
      for binding in bindings.prefix(Self.maximumTargets) where binding.target != .root && !isOwn(binding.target) {
        wanted +=
          addressQuestions(binding.target) + (binding.isAlias ? [DNSQuestion(name: binding.target, type: .https)] : [])
      }
    }
    wanted = wanted.filter { !asked.contains($0) }
    asked.formUnion(wanted)
    return wanted
  }

  /// Whether there is an address to dial.
  var hasAddresses: Bool { !addresses(of: name).isEmpty }

  private func addressQuestions(_ name: DNSName) -> [DNSQuestion] {
    [DNSQuestion(name: name, type: .aaaa), DNSQuestion(name: name, type: .a)]
  }

  private func answer(_ name: DNSName, _ type: DNSRecord.Kind) -> DNSReply? {
    try? answers[DNSQuestion(name: name, type: type)]?.get()
  }

  private func addresses(of name: DNSName) -> [HostAddress] {
    addressQuestions(name).flatMap { answer($0.name, $0.type)?.addresses ?? [] }
  }

  /// Whether a name is the host itself, or the end of its alias chain.
  private func isOwn(_ target: DNSName) -> Bool {
    target == name || addressQuestions(name).contains { answer($0.name, $0.type)?.name == target }
  }

  /// The services of the host; for an alias record, those of its target.
  private func services() -> [(owner: DNSName, binding: ServiceBinding)] {
    guard let answer = answer(serviceName, .https) else { return [] }
    let own = answer.services
    if let alias = own.first(where: \.isAlias) {
      let found = self.answer(alias.target, .https)?.services.filter { !$0.isAlias } ?? []
      // An alias target without services is a plain host with addresses.
      return found.isEmpty
        ? [(alias.target, ServiceBinding(priority: 1, target: .root))] : found.map { (alias.target, $0) }
    }
    return own.map { (answer.name == serviceName ? name : answer.name, $0) }
  }

  /// The addresses of the services in their order, then those of the host itself, to which a client falls back (RFC
  /// 9460, section 3).
  private func addresses() -> [HostAddress] {
    // Services over QUIC alone are skipped: no transport here supports it.
    let usable = services().filter {
      $0.binding.isUsable && $0.binding.protocols.contains { $0 == "h2" || $0 == "http/1.1" }
    }
    let targets = usable.map { $0.binding.target == .root ? $0.owner : $0.binding.target }
    let all = targets.flatMap { addresses(of: isOwn($0) ? name : $0) } + addresses(of: name)
    var seen: Set<HostAddress> = []
    // Limits the count: more addresses are of no use, and a server that returns a thousand is hostile.
    return Array(all.filter { seen.insert($0).inserted }.prefix(HostResolution.mostCandidates))
  }

  /// The combined result of the answers.
  func resolution(source: String) throws -> HostResolution {
    let addresses = addresses()
    guard !addresses.isEmpty else { throw failure(source) }
    let used = answers.values.compactMap { try? $0.get() }.filter { !$0.records.isEmpty }
    let isComplete = addressQuestions(name).allSatisfy { answer($0.name, $0.type) != nil }
    let seconds = min(used.map(\.timeToLive).min() ?? 0, isComplete ? 86_400 : Self.incompleteTimeToLive)
    return HostResolution(addresses, timeToLive: .seconds(seconds), source: source)
  }

  /// Why there is no address.
  private func failure(_ source: String) -> HostError {
    let results = addressQuestions(name).map { answers[$0] }
    let found = results.compactMap { try? $0?.get() }
    if found.count == results.count || found.contains(where: \.isNameMissing) {
      let seconds = found.map(\.timeToLive).min() ?? 0
      let reason = found.contains(where: \.isNameMissing) ? "does not exist" : "has no address"
      return HostError(
        .noSuchHost, "\(source) says that \(query.host) \(reason).", host: query.host.description,
        timeToLive: .seconds(seconds))
    }
    for case .failure(let error)? in results.reversed() { return error }
    return HostError(.resolverTimedOut, "\(source) did not answer in time.", host: query.host.description)
  }
}
