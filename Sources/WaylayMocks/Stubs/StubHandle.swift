/// A handle for stubs added to a mock, which counts them, gives their calls and removes them.
///
/// ```swift
/// let outage = mock.add(Stub(.get, "/users/:id") { .status(503) })
/// await client.refresh()
/// #expect(outage.count == 1)
/// outage.remove()
/// ```
public struct StubHandle: Sendable {
  let mock: MockInterceptor
  let entries: [StubEntry]

  /// The number of times the stubs have answered.
  public var count: Int { mock.state.withLock { _ in entries.reduce(0) { $0 + $1.uses } } }

  /// The requests they have answered, oldest first.
  public var calls: [RecordedCall] {
    let numbers = Set(entries.map(\.number))
    return mock.calls.filter { call in call.number.map { numbers.contains($0) } ?? false }
  }

  /// Removes the stubs. A request that has already been matched is still answered; unused stubs are no longer an issue.
  public func remove() {
    mock.remove(entries)
  }
}
