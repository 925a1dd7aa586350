// A file of its own for its condition on the platform.
extension ThrowingTaskGroup where ChildTaskResult: Sendable {
  /// Adds a task that begins on this thread, where the system can do that: it saves a wait for another one.
  mutating func addPromptTask(_ work: sending @escaping @isolated(any) () async throws -> ChildTaskResult) {
    #if canImport(Darwin)
      addTask(operation: work)
    #else
      addImmediateTask(operation: work)
    #endif
  }
}
