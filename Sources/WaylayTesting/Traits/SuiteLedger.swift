import IssueReporting
import WaylayMocks

/// Which stubs of a suite's trait were of use, over all tests of one run of the suite.
final class SuiteLedger: Sendable {
  /// A stub, each time it is made: a loop makes several on one line.
  private struct Key: Hashable {
    var location: MockSourceLocation
    var description: String
  }

  /// The ledgers of the suites round the current task, by trait.
  @TaskLocal private static var ledgers: [ObjectIdentifier: SuiteLedger] = [:]

  private let uses = Locked<[Key: Int]>([:])

  /// The ledger of a suite's trait; `nil` for a trait that stands on a test itself.
  static func current(of trait: MockTrait.Identity) -> SuiteLedger? { ledgers[ObjectIdentifier(trait)] }

  /// Runs the tests of a suite, and warns of stubs that none of them used.
  static func open(
    for trait: MockTrait.Identity, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    // A nested suite inherits the trait: its tests count for the suite that the trait stands on.
    guard current(of: trait) == nil else { return try await function() }
    let ledger = SuiteLedger()
    var open = ledgers
    open[ObjectIdentifier(trait)] = ledger
    try await $ledgers.withValue(open) { try await function() }
    ledger.report()
  }

  /// Adds the stubs to one test's mock. Those that do not say whether they are required are the suite's matter, not the
  /// test's.
  ///
  /// - Returns: What writes down, at the end of the test, how often they were used.
  func enter(_ stubs: [Stub], into mock: MockInterceptor) -> @Sendable () -> Void {
    let handles = stubs.compactMap { stub -> (Key, StubHandle)? in
      guard stub.requirement == nil else {
        mock.add(stub)
        return nil
      }
      return (Key(location: stub.location, description: stub.description), mock.add(stub.optional))
    }
    return {
      self.uses.withLock { uses in
        for (key, handle) in handles { uses[key, default: 0] += handle.count }
      }
    }
  }

  private func report() {
    for (stub, count) in uses.withLock({ $0 }) where count == 0 {
      IssueReport.report(
        """
        No test of this suite used the stub \(stub.description) in this run. Remove the stub, or mark it .optional. If \
        every test must use it, mark it .required.
        """, severity: .warning, at: stub.location)
    }
  }
}
