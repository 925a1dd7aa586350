/// Runs `work` for so long at most, and cancels it then; `work` has to heed that.
func withTimeLimit<Value: Sendable>(
  _ limit: Duration, on clock: HostClock, else error: @autoclosure @Sendable () -> HostError,
  _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  try await withThrowingTaskGroup(of: Value?.self) { group in
    group.addTask { try await work() }
    group.addTask {
      try await clock.sleep(limit)
      return nil
    }
    defer { group.cancelAll() }
    // The group has children, so there is a first result.
    guard let value = try await group.next() ?? nil else { throw error() }
    return value
  }
}
