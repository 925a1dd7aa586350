/// What is known of a host so far, from the answers to several questions.
struct DoHFindings: Sendable {
  let query: HostQuery
  let name: DNSName
  /// The name that the host's HTTPS records have.
  let serviceName: DNSName
  private(set) var answers: [DNSQuestion: Result<DNSAnswer, HostError>] = [:]
  private var asked: Set<DNSQuestion> = []

  /// The most names that HTTPS records may lead to.
  private static let maximumTargets = 3
  /// An answer of which a part is missing is not kept for long.
  private static let incompleteTimeToLive: UInt32 = 30

  init(_ query: HostQuery) throws {
    self.query = query
    name = try DNSName(query.host.description)
    serviceName = try DNSName(service: query.host.description, port: query.port)
  }

  mutating func add(_ result: Result<DNSAnswer, HostError>, to question: DNSQuestion) {
    answers[question] = result
  }

  /// What is to be asked next: at first for the host itself, then for the names that its HTTPS records lead to.
  mutating func questions(services: Bool) -> [DNSQuestion] {
    var wanted: [DNSQuestion] = []
    if asked.isEmpty {
      wanted = addressQuestions(name) + (services ? [DNSQuestion(name: serviceName, type: .https)] : [])
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

  /// Whether there is something to dial.
  var hasAddresses: Bool { !addresses(of: name).isEmpty }

  private func addressQuestions(_ name: DNSName) -> [DNSQuestion] {
    [DNSQuestion(name: name, type: .aaaa), DNSQuestion(name: name, type: .a)]
  }

  private func answer(_ name: DNSName, _ type: DNSRecord.Kind) -> DNSAnswer? {
    try? answers[DNSQuestion(name: name, type: type)]?.get()
  }

  private func addresses(of name: DNSName) -> [HostAddress] {
    addressQuestions(name).flatMap { answer($0.name, $0.type)?.addresses ?? [] }
  }

  /// Whether a name is the host, or what its aliases lead to.
  private func isOwn(_ target: DNSName) -> Bool {
    target == name || addressQuestions(name).contains { answer($0.name, $0.type)?.name == target }
  }

  /// The services of the host; those of another name where an HTTPS record says so.
  private func services() -> [(owner: DNSName, binding: ServiceBinding)] {
    guard let answer = answer(serviceName, .https) else { return [] }
    let own = answer.services
    if let alias = own.first(where: \.isAlias) {
      let found = self.answer(alias.target, .https)?.services.filter { !$0.isAlias } ?? []
      // Without services of its own, the other name is a host with addresses and nothing else.
      return found.isEmpty
        ? [(alias.target, ServiceBinding(priority: 1, target: .root))] : found.map { (alias.target, $0) }
    }
    return own.map { (answer.name == serviceName ? name : answer.name, $0) }
  }

  private func candidates() -> [HostResolution.Candidate] {
    var candidates: [HostResolution.Candidate] = []
    func add(_ address: HostAddress, port: Int?, protocols: [String]) {
      let port = port == query.port ? nil : port
      // More help nobody, and whoever answers with a thousand means harm.
      guard candidates.count < HostResolution.mostCandidates else { return }
      guard !candidates.contains(where: { $0.address == address && $0.port == port }) else { return }
      candidates.append(HostResolution.Candidate(address, port: port, protocols: protocols))
    }
    for (owner, binding) in services() where binding.isUsable {
      // Over QUIC alone: nothing here speaks it.
      guard binding.protocols.contains(where: { $0 == "h2" || $0 == "http/1.1" }) else { continue }
      let target = binding.target == .root ? owner : binding.target
      for address in addresses(of: isOwn(target) ? name : target) + binding.hints {
        add(address, port: binding.port, protocols: binding.protocols)
      }
    }
    // The host itself comes last: a client falls back to it (RFC 9460, section 3).
    for address in addresses(of: name) { add(address, port: nil, protocols: []) }
    return candidates
  }

  /// What the answers say in sum.
  func resolution(source: String) throws -> HostResolution {
    let candidates = candidates()
    guard !candidates.isEmpty else { throw failure(source) }
    let used = answers.values.compactMap { try? $0.get() }.filter { !$0.records.isEmpty }
    let isComplete = addressQuestions(name).allSatisfy { answer($0.name, $0.type) != nil }
    let seconds = min(used.map(\.timeToLive).min() ?? 0, isComplete ? 86_400 : Self.incompleteTimeToLive)
    return HostResolution(candidates, timeToLive: .seconds(seconds), source: source)
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
