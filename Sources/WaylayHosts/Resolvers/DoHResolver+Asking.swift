extension DoHResolver {
  /// Puts questions, all at once, and waits for their answers; once there are addresses to dial, not for long.
  func ask(_ questions: [DNSQuestion], for findings: inout DoHFindings) async throws {
    let known = findings
    findings = try await withThrowingTaskGroup(of: (DNSQuestion, Result<DNSAnswer, HostError>)?.self) { group in
      for question in questions {
        group.addTask { (question, await self.outcome(of: question)) }
      }
      defer { group.cancelAll() }
      var findings = known
      var isHurried = false
      while true {
        if findings.hasAddresses, !isHurried {
          isHurried = true
          group.addTask {
            try await self.clock.sleep(self.options.patience)
            return nil
          }
        }
        guard let (question, result) = try await group.next() ?? nil else { break }
        findings.add(result, to: question)
        if questions.allSatisfy({ findings.answers[$0] != nil }) { break }
      }
      return findings
    }
    try Task.checkCancellation()
  }

  private func outcome(of question: DNSQuestion) async -> Result<DNSAnswer, HostError> {
    do {
      return .success(try await answer(to: question))
    } catch let error as HostError {
      return .failure(error)
    } catch {
      return .failure(
        HostError(.resolverFailed, "\(name) did not answer: \(error)", host: question.name.description, underlying: error))
    }
  }

  /// Asks at one address of the server after the other, from the one that answered last.
  private func answer(to question: DNSQuestion) async throws -> DNSAnswer {
    guard !addresses.isEmpty else { return try await answer(to: question, at: nil) }
    let first = preferred.withLock { $0 }
    var failure: (any Error)?
    for offset in addresses.indices {
      try Task.checkCancellation()
      let index = (first + offset) % addresses.count
      do {
        let answer = try await answer(to: question, at: addresses[index])
        if offset > 0 { preferred.withLock { $0 = index } }
        return answer
      } catch {
        failure = failure ?? error
      }
    }
    throw failure ?? CancellationError()
  }

  /// Asks at one address, for a limited time.
  private func answer(to question: DNSQuestion, at address: HostAddress?) async throws -> DNSAnswer {
    try await withThrowingTaskGroup(of: DNSAnswer.self) { group in
      group.addTask { try await self.exchange(question, at: address) }
      group.addTask {
        try await self.clock.sleep(self.options.timeout)
        throw HostError(
          .resolverTimedOut, "\(self.name)\(address.map { " at \($0)" } ?? "") did not answer within \(self.options.timeout).",
          host: question.name.description)
      }
      defer { group.cancelAll() }
      guard let answer = try await group.next() else { throw CancellationError() }
      return answer
    }
  }
}
