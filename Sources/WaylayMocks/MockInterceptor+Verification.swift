import IssueReporting

extension MockInterceptor {
  /// Waits until the mock has received the given number of requests matching a pattern; earlier requests count.
  ///
  /// ```swift
  /// model.save()   // starts a task of its own
  /// let order = try await mock.waitForRequest(.post, "/orders")
  /// #expect(try order.json(Order.self).id == 42)
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
  /// - Throws: `MockError.requestMissing` after the timeout, with the requests that came instead;
  ///   `CancellationError`.
  @discardableResult
  public func waitForRequest(
    _ pattern: RequestPattern, count: Int = 1, timeout: Duration = .seconds(10),
    clock: any Clock<Duration> = ContinuousClock(),
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) async throws -> MockRequest {
    let location = MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    if let problem = pattern.problems.first { throw problem.located(at: location) }
    guard count > 0 else {
      throw MockError(
        .invalidCount, "waitForRequest(count: \(count)): there is nothing to wait for. Use a count of at least 1.",
        location: location)
    }
    guard let request = try await clock.value(within: timeout, of: { try await self.request(count, matching: pattern) })
    else { throw missing(count, pattern, timeout, location) }
    return request
  }

  /// Waits for requests with the given method for the given URL.
  @discardableResult
  public func waitForRequest(
    _ method: HTTPRequest.Method, _ url: some URLPatternConvertible, count: Int = 1, timeout: Duration = .seconds(10),
    clock: any Clock<Duration> = ContinuousClock(), fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) async throws -> MockRequest {
    try await waitForRequest(
      RequestPattern(method, url), count: count, timeout: timeout, clock: clock, fileID: fileID, filePath: filePath,
      line: line,
      column: column)
  }

  /// Waits for matching request number `count`; each new request wakes the task.
  private func request(_ count: Int, matching pattern: RequestPattern) async throws -> MockRequest {
    var seen = 0
    var clearings = 0
    var found = 0
    while true {
      try Task.checkCancellation()
      let (new, forgotten, cleared) = state.withLock { state in
        (Array(state.requests.dropFirst(max(0, seen - state.forgotten))), state.forgotten, state.clearings)
      }
      // Clearing the history resets the count.
      if cleared != clearings { (clearings, found) = (cleared, 0) }
      seen = max(seen, forgotten) + new.count
      for request in new where pattern.matches(request.facts) {
        found += 1
        if found == count { return request }
      }
      await state.wait(at: \.waiters) { [seen] in $0.forgotten + $0.requests.count != seen }
    }
  }

  private func missing(
    _ count: Int, _ pattern: RequestPattern, _ timeout: Duration, _ location: MockSourceLocation
  ) -> MockError {
    let requests = received
    let matching = requests.filter { pattern.matches($0.facts) }.count
    let report = reporting {
      "\(pattern) was requested \(matching) of \(count) times within \(timeout).\n" + Self.list(requests)
    }
    return MockError(.requestMissing, report, location: location)
  }

  /// The requests received, for a report.
  static func list(_ requests: [MockRequest]) -> String {
    guard !requests.isEmpty else { return "No requests were made." }
    let lines = requests.suffix(20).enumerated().map { "  \(requests.count - min(20, requests.count) + $0 + 1). \($1)" }
    return "Requests made:\n" + lines.joined(separator: "\n")
  }
}

extension MockInterceptor {
  /// Reports a failure of the running test unless requests matching a pattern came the given number of times; the
  /// report lists the requests received and how they differ.
  ///
  /// ```swift
  /// mock.verify(.post, "/orders", count: 1)
  /// mock.verify(RequestPattern(.post, "/orders").where(.field("X-Tenant", "acme")), count: 0)
  /// ```
  ///
  /// - Parameters:
  ///   - pattern: The requests.
  ///   - count: The expected number; `nil` for at least one.
  ///   - fileID: The file to report the failure at: the caller's.
  ///   - filePath: The path of that file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  public func verify(
    _ pattern: RequestPattern, count: Int? = nil, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line,
    column: UInt = #column
  ) {
    guard let message = reporting({ disagreement(with: pattern, count: count) }) else { return }
    reportIssue(message, fileID: fileID, filePath: filePath, line: line, column: column)
  }

  /// Reports a failure of the running test unless requests with that method for that URL came the given number of
  /// times.
  public func verify(
    _ method: HTTPRequest.Method, _ url: some URLPatternConvertible, count: Int? = nil, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) {
    verify(RequestPattern(method, url), count: count, fileID: fileID, filePath: filePath, line: line, column: column)
  }

  /// Reports a failure of the running test unless requests for these patterns came in this order; other requests may
  /// come in between.
  public func verifyOrder(
    _ patterns: [RequestPattern], fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line,
    column: UInt = #column
  ) {
    guard let message = reporting({ disagreement(withOrder: patterns) }) else { return }
    reportIssue(message, fileID: fileID, filePath: filePath, line: line, column: column)
  }

  /// Reports a failure of the running test if requests came that match none of these patterns; without patterns, if any
  /// came.
  ///
  /// ```swift
  /// mock.verifyNothingElse(besides: [RequestPattern(.post, "/orders")])
  /// ```
  ///
  /// - Parameters:
  ///   - patterns: The requests that are allowed but not required.
  ///   - fileID: The file to report the failure at: the caller's.
  ///   - filePath: The path of that file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  public func verifyNothingElse(
    besides patterns: [RequestPattern] = [], fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line,
    column: UInt = #column
  ) {
    guard let message = reporting({ disagreement(withNothingBesides: patterns) }) else { return }
    reportIssue(message, fileID: fileID, filePath: filePath, line: line, column: column)
  }

  func disagreement(withNothingBesides patterns: [RequestPattern]) -> String? {
    if let problem = patterns.flatMap(\.problems).first { return problem.message }
    let others = received.filter { request in
      let facts = request.facts
      return !patterns.contains { $0.matches(facts) }
    }
    guard !others.isEmpty else { return nil }
    let besides = patterns.map(\.description).joined(separator: " and ")
    let wanted = patterns.isEmpty ? "Expected no requests" : "Expected no requests besides \(besides)"
    let count = others.count == 1 ? "one was" : "\(others.count) were"
    let lines = others.prefix(20).map { "  \($0)" } + (others.count > 20 ? ["  …"] : [])
    return "\(wanted), but \(count) made:\n" + lines.joined(separator: "\n")
  }

  /// The failure message if the number of a pattern's requests is wrong.
  func disagreement(with pattern: RequestPattern, count: Int?) -> String? {
    if let problem = pattern.problems.first { return problem.message }
    let requests = received
    let found = requests.filter { pattern.matches($0.facts) }.count
    if let count, found == count { return nil }
    if count == nil, found > 0 { return nil }
    let wanted = count.map { "\($0)" } ?? "at least 1"
    var parts = ["\(pattern) was requested \(found) \(found == 1 ? "time" : "times"), expected \(wanted)."]
    if found == 0, let nearest = Self.nearest(to: pattern, among: requests) { parts.append(nearest) }
    parts.append(Self.list(requests))
    return parts.joined(separator: "\n")
  }

  func disagreement(withOrder patterns: [RequestPattern]) -> String? {
    if let problem = patterns.flatMap(\.problems).first { return problem.message }
    let requests = received
    var rest = requests[...]
    for (position, pattern) in patterns.enumerated() {
      guard let index = rest.firstIndex(where: { pattern.matches($0.facts) }) else {
        let before = position == 0 ? "" : " after \(patterns[position - 1])"
        let came = position > 0 && requests.contains { pattern.matches($0.facts) }
        let plain = came ? "\(pattern) came before \(patterns[position - 1]).\n" : ""
        return plain
          + "\(pattern) was not requested\(before), as number \(position + 1) of \(patterns.count) in the expected order.\n"
          + Self.list(requests)
      }
      rest = rest[(index + 1)...]
    }
    return nil
  }

  /// The request closest to a pattern, and its differences.
  static func nearest(to pattern: RequestPattern, among requests: [MockRequest]) -> String? {
    let compared = requests.map { request in (request, request.facts) }
      .map { request, facts in (request, facts, pattern.mismatches(facts)) }
    guard let (request, facts, mismatches) = compared.min(by: { $0.2.distance < $1.2.distance }) else { return nil }
    guard !mismatches.isEmpty else {
      return "Nearest: \(request)"
        + (request.stubLocation.map { ", which the stub at \($0) answered" } ?? ", which matches")
    }
    // Only for the nearest one are the secrets that it repeats looked for.
    let lines = facts.reporting {
      mismatches.map { "    \($0.aspect): expected \($0.texts.expected), but was \($0.texts.actual)" }
    }
    return "Nearest: \(request)\n" + lines.joined(separator: "\n")
  }
}
