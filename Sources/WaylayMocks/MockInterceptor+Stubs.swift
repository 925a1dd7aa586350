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

  /// Adds stubs while `operation` runs.
  ///
  /// ```swift
  /// try mock.withStubs { Stub(.get, "/users/:id") { .status(503) } } operation: {
  ///   #expect(throws: ServerIsDown.self) { try client.load() }
  /// }
  /// ```
  ///
  /// Required stubs that stay unused become ``issues``. The stubs belong to the whole mock: everything that runs at the
  /// same time sees them.
  public func withStubs<Result>(
    @StubBuilder _ stubs: () throws -> [Stub], operation: () throws -> Result
  ) rethrows -> Result {
    let entries = add(try stubs())
    defer { retire(entries) }
    return try operation()
  }

  /// Adds stubs while `operation` runs.
  public func withStubs<Result>(
    @StubBuilder _ stubs: () throws -> [Stub], operation: () async throws -> Result
  ) async rethrows -> Result {
    let entries = add(try stubs())
    defer { retire(entries) }
    return try await operation()
  }

  /// Removes all stubs. Requests that have already been matched are still answered.
  public func removeAll() {
    state.withLock { state in
      for entry in state.entries { entry.isRemoved = true }
      state.entries = []
      state.index = StubIndex()
    }
  }

  /// Clears the history, the issues, the counts and the states of scenarios. The stubs stay and start over: one that
  /// was used up answers again.
  public func reset() {
    state.withLock { state in
      for entry in state.entries { entry.reset() }
      state.calls = []
      state.issues = []
      state.scenarios = [:]
    }
  }

  /// Returns the current state of a scenario: its first state until a stub has led to another.
  public func state(of scenario: Scenario) -> String? {
    state.withLock { $0.scenarios[scenario.name] } ?? scenario.states.first
  }

  /// Puts a scenario into a state.
  ///
  /// - Throws: ``MockError/Code/unknownState`` if the scenario has no such state.
  public func setState(
    _ name: String, of scenario: Scenario, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line,
    column: UInt = #column
  ) throws {
    guard scenario.states.contains(name) else {
      throw MockError(
        .unknownState, scenario.unknown(name),
        location: MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
    }
    state.withLock { $0.scenarios[scenario.name] = name }
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
        // A stub that is wrong matches nothing; a wrong answer is found out when it is given.
        if entry.canMatch { state.index.insert(entry) }
        return entry
      }
    }
  }

  func remove(_ entries: [StubEntry]) {
    state.withLock { $0.remove(entries) }
  }

  private func retire(_ entries: [StubEntry]) {
    let (ended, calls) = state.withLock { state in
      let ended = entries.filter { !$0.isRemoved }.map { ($0.stub, $0.uses) }
      state.remove(entries)
      return (ended, state.calls)
    }
    let found = issues(of: ended, calls)
    state.withLock { $0.issues += found }
  }
}

extension MockInterceptor.State {
  fileprivate mutating func remove(_ entries: [StubEntry]) {
    let removed = Set(entries.filter { !$0.isRemoved }.map { ObjectIdentifier($0) })
    guard !removed.isEmpty else { return }
    self.entries.removeAll { removed.contains(ObjectIdentifier($0)) }
    for entry in entries where !entry.isRemoved {
      entry.isRemoved = true
      index.remove(entry)
    }
  }
}

extension [Stub] {
  /// Which of the stubs are for the same requests, and end: of each its place in that group, which goes where its last
  /// one is. Whoever writes several answers for one request one below the other wants them in that order.
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

extension Stub {
  /// Whether the mistakes in it, if any, are in its answers alone.
  var canMatch: Bool {
    pattern.problems.isEmpty && !problems.contains { $0.code == .unknownState || $0.code == .invalidCount }
  }
}
