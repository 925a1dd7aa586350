/// Returns a closure as it is. `WaylayTesting` declares this symbol once more, for closures that are not escaping.
///
/// Testing hands a trait the rest of a test as a closure that may not escape, but for what it calls after, on the heap. A
/// run of a test that never ends can be left behind only if it is in a task of its own, which wants one that may.
@_silgen_name("waylay_testing_escaping")
package func _escaping(
  _ function: @concurrent @escaping @Sendable () async throws -> Void
) -> @concurrent @Sendable () async throws -> Void { function }
