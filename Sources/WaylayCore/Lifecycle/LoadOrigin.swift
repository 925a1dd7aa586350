/// Which loads the current code is inside of, for code that goes on in a task which is no child of the current one.
///
/// Without it the loop guard would take a load that is made there for one that comes from outside (rule 7).
package struct LoadOrigin: Sendable {
  private let lineage: Lineage?

  /// Where the current task is.
  package init() {
    lineage = Lineage.current
  }

  /// Runs an operation as if it were there.
  package func run<Value>(_ operation: () async throws -> Value) async rethrows -> Value {
    try await Lineage.$current.withValue(lineage, operation: operation)
  }
}
