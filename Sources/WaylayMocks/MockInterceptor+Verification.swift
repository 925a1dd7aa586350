import IssueReporting

extension MockInterceptor {
  /// Reports a failure of the running test unless requests matching a pattern came the given number of times; the
  /// report lists the requests received and how they differ.
  ///
  /// ```swift
  /// mock.verify(.post, "/orders", count: 1)
  /// mock.verify(RequestPattern(.post, "/orders").header("X-Tenant", "acme"), count: 0)
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
    let others = calls.filter { call in
      let facts = call.facts
      return !patterns.contains { $0.matches(facts) }
    }
    guard !others.isEmpty else { return nil }
    let besides = patterns.map(\.description).joined(separator: " and ")
    let wanted = patterns.isEmpty ? "Expected no requests" : "Expected no requests besides \(besides)"
    let count = others.count == 1 ? "one was" : "\(others.count) were"
    let lines = others.prefix(20).map { "  \($0)" } + (others.count > 20 ? ["  …"] : [])
    return "\(wanted), but \(count) made:\n" + lines.joined(separator: "\n")
  }

  /// What is wrong with the number of a pattern's requests.
  func disagreement(with pattern: RequestPattern, count: Int?) -> String? {
    if let problem = pattern.problems.first { return problem.message }
    let calls = calls
    let found = calls.filter { pattern.matches($0.facts) }.count
    if let count, found == count { return nil }
    if count == nil, found > 0 { return nil }
    let wanted = count.map { "\($0)" } ?? "at least 1"
    var parts = ["\(pattern) was requested \(found) \(found == 1 ? "time" : "times"), expected \(wanted)."]
    if found == 0, let nearest = Self.nearest(to: pattern, among: calls) { parts.append(nearest) }
    parts.append(Self.list(calls))
    return parts.joined(separator: "\n")
  }

  func disagreement(withOrder patterns: [RequestPattern]) -> String? {
    if let problem = patterns.flatMap(\.problems).first { return problem.message }
    let calls = calls
    var rest = calls[...]
    for (position, pattern) in patterns.enumerated() {
      guard let index = rest.firstIndex(where: { pattern.matches($0.facts) }) else {
        let before = position == 0 ? "" : " after \(patterns[position - 1])"
        let came = position > 0 && calls.contains { pattern.matches($0.facts) }
        let plain = came ? "\(pattern) came before \(patterns[position - 1]).\n" : ""
        return plain
          + "\(pattern) was not requested\(before), as number \(position + 1) of \(patterns.count) in the expected order.\n"
          + Self.list(calls)
      }
      rest = rest[(index + 1)...]
    }
    return nil
  }

  /// The call that comes nearest to a pattern, and how it differs.
  static func nearest(to pattern: RequestPattern, among calls: [RecordedCall]) -> String? {
    let candidates = calls.map { ($0, pattern.mismatches($0.facts)) }
    guard let (call, mismatches) = candidates.min(by: { $0.1.distance < $1.1.distance }) else { return nil }
    guard !mismatches.isEmpty else {
      return "Nearest: \(call)" + (call.stubLocation.map { ", which the stub at \($0) answered" } ?? ", which matches")
    }
    let lines = mismatches.map { "    \($0.aspect): expected \($0.expected), but was \($0.actual)" }
    return "Nearest: \(call)\n" + lines.joined(separator: "\n")
  }
}
