import WaylayMocks

/// The common exchanges of the runs of a test without a fault.
struct FaultBaseline: Sendable {
  /// A part of a request: its method and GraphQL operations, a segment of its path, an item of its query.
  struct Part: Sendable, Hashable {
    let name: String
    /// `nil` if runs differ.
    var value: String?
  }

  /// The patterns of requests that the test declares as safe.
  let safe: [RequestPattern]
  /// The parts of each exchange of the first run.
  private var patterns: [[Part]] = []
  private var runs: [[FaultRun.Exchange]] = []

  init(safe: [RequestPattern]) { self.safe = safe }

  var exchanges: [FaultRun.Exchange] { runs.first ?? [] }

  /// An exchange of the first run, as it is found in other runs.
  func exchange(_ index: Int) -> FaultRun.Exchange {
    var exchange = exchanges[index]
    exchange.key = patterns[index]
    exchange.occurrence = patterns[..<index].count { $0 == exchange.key }
    return exchange
  }

  /// An exchange of a run that makes a request.
  func exchange(_ request: MockRequest, at time: Duration) -> FaultRun.Exchange {
    let operations = request.graphQLOperations
    let parts = Self.parts(of: request, operations ?? [])
    let readsOnly = operations?.allSatisfy { $0.hasPrefix("query") || $0.hasPrefix("subscription") } == true
    return FaultRun.Exchange(
      request: request.request, parts: parts, key: key(of: parts),
      isRepeatable: request.request.isIdempotent || readsOnly || safe.contains { request.matches($0) }, at: time)
  }

  /// How many times an effect is requested by exchanges, of which those with one `Idempotency-Key` count once.
  static func effects(of exchanges: [FaultRun.Exchange]) -> Int {
    let unsafe = exchanges.filter { !$0.isRepeatable }
    return unsafe.count { $0.idempotencyKey == nil } + Set(unsafe.compactMap(\.idempotencyKey)).count
  }

  /// The largest measure of exchanges with a key, over all runs.
  func most(_ key: [Part], _ measure: ([FaultRun.Exchange]) -> Int) -> Int {
    runs.map { run in measure(run.filter { self.key(of: $0.parts) == key }) }.max() ?? 0
  }

  /// Adds a run without a fault.
  ///
  /// - Returns: Whether it differs from the runs before it.
  @discardableResult mutating func add(_ run: [FaultRun.Exchange]) -> Bool {
    runs.append(run)
    guard runs.count > 1 else {
      patterns = run.map(\.parts)
      return true
    }
    var rest = run.map(\.parts)
    var differing: [Int] = []
    for index in patterns.indices.sorted(by: { Self.openness(patterns[$0]) < Self.openness(patterns[$1]) }) {
      if let same = rest.firstIndex(where: { Self.matches(patterns[index], $0) }) {
        rest.remove(at: same)
      } else {
        differing.append(index)
      }
    }
    let before = patterns
    for index in differing.sorted() {
      let pattern = patterns[index]
      let similar = rest.indices.filter { rest[$0].map(\.name) == pattern.map(\.name) }
      let other = similar.max { rest[$0].agreement(with: pattern) < rest[$1].agreement(with: pattern) }
      guard let other else { continue }
      patterns[index] = zip(pattern, rest.remove(at: other)).map { $0 == $1 ? $0 : Part(name: $0.name, value: nil) }
    }
    return patterns != before
  }

  private func key(of parts: [Part]) -> [Part] {
    patterns.filter { Self.matches($0, parts) }.min { Self.openness($0) < Self.openness($1) } ?? parts
  }

  private static func matches(_ pattern: [Part], _ parts: [Part]) -> Bool {
    pattern.count == parts.count
      && zip(pattern, parts).allSatisfy { $0.name == $1.name && ($0.value == nil || $0.value == $1.value) }
  }

  private static func openness(_ pattern: [Part]) -> Int { pattern.count { $0.value == nil } }

  private static func parts(of request: MockRequest, _ operations: [String]) -> [Part] {
    let url = request.url.absoluteString.prefix { $0 != "#" }
    let path = url.prefix { $0 != "?" }
    let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst(3)
    let items = url.dropFirst(path.count + 1).split(separator: "&").map { item in
      // The order of items may be that of a dictionary.
      let name = item.prefix { $0 != "=" }
      return Part(name: name.count < item.count ? "?\(name)" : "?", value: String(item))
    }
    return [Part(name: ([request.method] + operations).joined(separator: " "), value: "")]
      + segments.map { Part(name: "/", value: String($0)) } + items.sorted { $0.name < $1.name }
  }
}

extension [FaultBaseline.Part] {
  fileprivate func agreement(with other: Self) -> Int { zip(self, other).count { $0 == $1 } }
}
