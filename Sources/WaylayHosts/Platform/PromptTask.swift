// In a separate file for its platform condition.
extension ThrowingTaskGroup where ChildTaskResult: Sendable {
  /// Adds a task that starts on the current thread, if the system supports it, which saves a context switch.
  mutating func addPromptTask(_ work: sending @escaping @isolated(any) () async throws -> ChildTaskResult) {
    #if canImport(Darwin)
      addTask(operation: work)
    #else
      addImmediateTask(operation: work)
    #endif
  }
}
