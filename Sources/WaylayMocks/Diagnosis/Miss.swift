/// A request that no stub answered, and what came nearest to it.
struct Miss {
  let report: String

  init(_ facts: RequestFacts, _ spent: [Spent], in mock: MockInterceptor) {
    report = "no stub is for \(facts.method) \(facts.url.url.absoluteString)"
  }
}
