import Foundation
import TestOrigin
import WaylayCore

/// One exchange: what is asked, and what is wrong with what came of it.
struct Exchange {
  /// A request of an exchange.
  struct Question {
    var request: URLRequest
    var range: String?
    var hasCondition = false
    /// Whether only the archive is asked.
    var isProbe = false
  }

  let plan: Plan
  let site: Site
  let client: Client
  let base: URL

  /// Runs it.
  ///
  /// - Returns: What was wrong, one line for each request; and how many questions an archive answered without its
  ///   origin.
  func run() async -> (faults: [String], probes: Int, hits: Int) {
    defer { site.end(plan.number) }
    guard case .archive = plan.theme else {
      site.begin(plan.number, round: 0)
      let outcome = await client.outcome(of: request(), plan.way, isArchived: false)
      guard plan.way != .dropped else { return ([], 0, 0) }
      let judge = Judge(plan: plan, played: site.played(plan.number), round: 0)
      return (judge.fault(in: outcome).map { [$0] } ?? [], 0, 0)
    }
    var faults: [String] = []
    var (probes, hits) = (0, 0)
    for (round, question) in questions().enumerated() {
      site.begin(plan.number, round: round)
      let outcome = await client.outcome(of: question.request, plan.way, isArchived: true)
      let judge = Judge(plan: plan, played: site.played(plan.number), round: round)
      if let fault = judge.fault(in: outcome, to: question) { faults.append("round \(round): \(fault)") }
      guard question.isProbe else { continue }
      probes += 1
      if case .answer = outcome { hits += 1 }
    }
    return (faults, probes, hits)
  }

  private func request() -> URLRequest {
    var request = URLRequest(url: base.appendingPathComponent(plan.path))
    request.httpMethod = plan.method
    if plan.method == "POST" { request.httpBody = Data("a body".utf8) }
    return request
  }

  /// What an archive is asked, one after the other; in the end without the origin.
  private func questions() -> [Question] {
    var dice = Dice(plan.seed, plan.number, 7)
    let tag = Page(plan.seed, plan.number, version: 0).tag
    var questions = (0..<dice.roll(1...3)).map { round in
      var question = Question(request: request())
      switch dice.roll(20) {
      case 0..<5: question.range = range(&dice)
      case 5 where round > 0:
        question.request.setValue(dice.pick([tag, "*", "\"other\""]), forHTTPHeaderField: "If-None-Match")
        question.hasCondition = true
      case 6, 7: question.request.cachePolicy = .reloadIgnoringLocalCacheData
      case 8: question.request.httpMethod = "HEAD"
      default: break
      }
      return question
    }
    questions.append(Question(request: request(), isProbe: true))
    if dice.chance(50) { questions.append(Question(request: request(), range: range(&dice), isProbe: true)) }
    return questions.map { question in
      var question = question
      if let range = question.range { question.request.setValue(range, forHTTPHeaderField: "Range") }
      if question.isProbe { question.request.cachePolicy = .returnCacheDataDontLoad }
      return question
    }
  }

  private func range(_ dice: inout Dice) -> String {
    let start = dice.roll(1_500)
    return switch dice.roll(8) {
    case 0: "bytes=\(start)-"
    case 1: "bytes=-\(start)"
    case 2: "bytes=0-"
    case 3: "bytes=0-0"
    case 4: "bytes=\(start)-9223372036854775807"
    default: "bytes=\(start)-\(start + dice.roll(1_000))"
    }
  }
}
