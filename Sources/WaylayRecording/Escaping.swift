/// Returns the closure unchanged. `WaylayTesting` declares the same symbol with a non-escaping parameter.
///
/// Testing passes the rest of a test to a trait as a non-escaping closure, which is nevertheless allocated on the heap.
/// To abandon a run of a test that never ends, it has to run in a separate task, which takes an escaping closure.
@_silgen_name("waylay_testing_escaping")
package func _escaping(
  _ function: @concurrent @escaping @Sendable () async throws -> Void
) -> @concurrent @Sendable () async throws -> Void { function }
