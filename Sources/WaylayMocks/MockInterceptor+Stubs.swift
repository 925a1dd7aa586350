extension MockInterceptor {
  /// Adds a stub, which takes precedence over the existing ones. Requests in progress are not affected.
  @discardableResult
  public func add(_ stub: Stub) -> StubHandle {
    StubHandle(mock: self, entries: add([stub]))
  }

  /// Adds stubs, which take precedence over the existing ones; later stubs take precedence over earlier ones. Stubs
  /// with a limited count (`.once`, `.times`) for the same requests answer in the order they are written.
  @discardableResult
  public func add(@StubBuilder _ stubs: () throws -> [Stub]) rethrows -> StubHandle {
    StubHandle(mock: self, entries: add(try stubs()))
  }

  /// Adds a list of stubs, with a handle for each.
  package func handles(of stubs: [Stub]) -> [StubHandle] {
    add(stubs).map { StubHandle(mock: self, entries: [$0]) }
  }

  /// Removes the stubs of several handles at once.
  package func remove(_ handles: [StubHandle]) { remove(handles.flatMap(\.entries)) }

  /// Removes all stubs. Requests that have already been matched are still answered.
  public func removeAll() {
    state.withLock { state in
      for entry in state.entries { entry.isRemoved = true }
      state.forgetRemovedStubs()
      state.entries = []
      state.index = StubIndex()
    }
  }

  /// Clears the history, the issues and the counts. The stubs stay and start over: one that was used up answers again.
  public func reset() {
    state.withLock { state in
      for entry in state.entries { entry.reset() }
      state.clearHistory()
    }
  }

  @discardableResult
  func add(_ stubs: [Stub]) -> [StubEntry] {
    let orders = stubs.asWritten
    return state.withLock { state in
      let first = state.nextNumber
      return stubs.enumerated().map { position, stub in
        let order = orders[position].map { StubEntry.Order(number: first + $0.last, followers: $0.followers) }
        let entry = StubEntry(stub, number: state.nextNumber, order: order)
        state.nextNumber += 1
        state.entries.append(entry)
        // A stub with a mistake in its pattern matches nothing; a mistake in a response is reported when it is sent.
        if entry.canMatch { state.index.insert(entry) }
        if entry.isInline { state.mayRespondInline = true }
        return entry
      }
    }
  }

  fileprivate func remove(_ entries: [StubEntry]) {
    state.withLock { state in
      let removed = Set(entries.filter { !$0.isRemoved }.map { ObjectIdentifier($0) })
      guard !removed.isEmpty else { return }
      state.entries.removeAll { removed.contains(ObjectIdentifier($0)) }
      // Rebuild the index if many stubs are removed, because each single removal searches it.
      let isFew = removed.count < 16
      for entry in entries where !entry.isRemoved {
        entry.isRemoved = true
        if isFew { state.index.remove(entry) }
      }
      if !isFew { state.index = StubIndex(of: state.entries) }
      state.forgetRemovedStubs()
    }
  }
}

extension [Stub] {
  /// Groups stubs with limited counts and equal patterns. Each gets the position of the group's last stub and its
  /// distance from the end of the group, so that the stubs of a group answer in the order in which they are written.
  fileprivate var asWritten: [Int: (last: Int, followers: Int)] {
    var groups: [String: [Int]] = [:]
    for (position, stub) in enumerated() where stub.life.maximum != nil {
      groups["\(stub.life.priority) \(stub.pattern.method ?? "*") \(stub.pattern.url.description)", default: []].append(
        position)
    }
    var places: [Int: (last: Int, followers: Int)] = [:]
    for similar in groups.values where similar.count > 1 {
      for group in Dictionary(grouping: similar, by: { self[$0].pattern.conditions.map(\.identity) }).values
      where group.count > 1 {
        for (place, position) in group.enumerated() {
          places[position] = (group[group.count - 1], group.count - 1 - place)
        }
      }
    }
    return places
  }
}

/// A handle for stubs added to a mock, which counts them, gives their requests and removes them.
///
/// ```swift
/// let outage = mock.add(Stub(.get, "/users/:id", .status(503)))
/// await client.refresh()
/// #expect(outage.count == 1)
/// outage.remove()
/// ```
public struct StubHandle: Sendable {
  let mock: MockInterceptor
  let entries: [StubEntry]

  /// The number of times the stubs have answered.
  public var count: Int { mock.state.withLock { _ in entries.reduce(0) { $0 + $1.uses } } }

  /// Whether the report of an unmatched request names one of them.
  package var isReported: Bool { entries.contains { entry in entry.isReported.withLock { $0 } } }

  /// The requests they have answered, oldest first.
  public var requests: [MockRequest] {
    let numbers = Set(entries.map(\.number))
    return mock.received.filter { request in
      guard let record = request.record, record.isOwn, let stub = record.stub else { return false }
      return numbers.contains(stub.number)
    }
  }

  /// Removes the stubs. A request that has already been matched is still answered; unused stubs are no longer an issue.
  public func remove() {
    mock.remove(entries)
  }
}
