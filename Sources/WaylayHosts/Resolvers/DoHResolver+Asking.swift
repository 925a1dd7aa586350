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
      return .success(try await exchange(question))
    } catch let error as HostError {
      return .failure(error)
    } catch {
      return .failure(
        HostError(
          .resolverFailed, "\(name) did not answer: \(error.redacted)", host: question.name.description,
          underlying: error))
    }
  }
}
