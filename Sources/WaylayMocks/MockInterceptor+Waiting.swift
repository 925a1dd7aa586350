extension MockInterceptor {
  /// Waits until the mock has received the given number of requests matching a pattern; earlier requests count.
  ///
  /// ```swift
  /// model.save()   // starts a task of its own
  /// let call = try await mock.waitForCall(to: RequestPattern(.post, "/orders"))
  /// #expect(try call.json(Order.self).id == 42)
  /// ```
  ///
  /// - Parameters:
  ///   - pattern: The requests.
  ///   - count: The expected number.
  ///   - timeout: How long to wait.
  ///   - clock: The clock to wait on; to test a timeout, pass your own.
  ///   - fileID: The file to report the failure at: the caller's.
  ///   - filePath: The path of that file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Returns: The last of the requests.
  /// - Throws: ``MockError/Code/callMissing`` after the timeout, with the requests that came instead;
  ///   `CancellationError`.
  @discardableResult
  public func waitForCall(
    to pattern: RequestPattern, count: Int = 1, timeout: Duration = .seconds(10),
    clock: any Clock<Duration> = ContinuousClock(),
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) async throws -> RecordedCall {
    let location = MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    if let problem = pattern.problems.first { throw problem.located(at: location) }
    guard count > 0 else {
      throw MockError(
        .invalidCount, "waitForCall(count: \(count)): there is nothing to wait for. Use a count of at least 1.",
        location: location)
    }
    return try await withThrowingTaskGroup(of: RecordedCall?.self) { group in
      group.addTask { try await self.call(count, to: pattern) }
      group.addTask {
        try await clock.sleep(for: timeout)
        return nil
      }
      defer { group.cancelAll() }
      guard let call = try await group.next() ?? nil else { throw self.missing(count, pattern, timeout, location) }
      return call
    }
  }

  /// Waits for requests with the given method for the given URL.
  @discardableResult
  public func waitForCall(
    to method: HTTPRequest.Method, _ url: some URLPatternConvertible, count: Int = 1, timeout: Duration = .seconds(10),
    clock: any Clock<Duration> = ContinuousClock(), fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) async throws -> RecordedCall {
    try await waitForCall(
      to: RequestPattern(method, url), count: count, timeout: timeout, clock: clock, fileID: fileID, filePath: filePath,
      line: line,
      column: column)
  }

  /// Waits for a matching call, woken by each that comes.
  private func call(_ count: Int, to pattern: RequestPattern) async throws -> RecordedCall {
    var seen = 0
    var found = 0
    while true {
      try Task.checkCancellation()
      let new = state.withLock { Array($0.calls.dropFirst(seen)) }
      seen += new.count
      for call in new where pattern.matches(call.facts) {
        found += 1
        if found == count { return call }
      }
      // A history that has been forgotten is news as well.
      await state.wait(at: \.waiters) { [seen] in $0.calls.count != seen }
    }
  }

  private func missing(
    _ count: Int, _ pattern: RequestPattern, _ timeout: Duration, _ location: MockSourceLocation
  ) -> MockError {
    let calls = calls
    let matching = calls.filter { pattern.matches($0.facts) }.count
    let report = reporting {
      "\(pattern) was requested \(matching) of \(count) times within \(timeout).\n" + Self.list(calls)
    }
    return MockError(.callMissing, report, location: location)
  }

  /// What was asked, for a report.
  static func list(_ calls: [RecordedCall]) -> String {
    guard !calls.isEmpty else { return "No requests were made." }
    let lines = calls.suffix(20).enumerated().map { "  \(calls.count - min(20, calls.count) + $0 + 1). \($1)" }
    return "Requests made:\n" + lines.joined(separator: "\n")
  }
}
