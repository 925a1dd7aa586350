import Foundation
import WaylayCore

/// Says whether an outcome is one that what was played allows.
struct Judge {
  let plan: Plan
  let played: [Site.Played]
  let round: Int

  // MARK: Without an archive

  /// What is wrong with the outcome of the one request of an exchange.
  func fault(in outcome: Outcome) -> String? {
    guard let last = played.last else {
      if case .failure(.networkConnectionLost, _) = outcome, plan.method == "POST" { return nil }
      // What came behind an earlier answer, too late to be seen before the connection was used again, and is refused as
      // the answer to this.
      if case .failure(.badServerResponse, _) = outcome { return nil }
      return "\(outcome.text) to a request that never came"
    }
    switch outcome {
    case .odd(let what): return what
    case .failure(let code, _):
      if mayFail(played, code) { return nil }
      return "\(outcome.text) for \(last.reply.text)"
    case .answer(let status, let body, let fields, let path):
      if let fault = identity(status, body, fields, path) { return fault }
      if isNothingHere(status, body) { return nil }
      guard last.reply.verdict != .wrong else { return "\(outcome.text) for \(last.reply.text)" }
      return matches(last.reply, status, body) ? nil : "\(outcome.text) for \(last.reply.text)"
    }
  }

  private func mayFail(_ played: [Site.Played], _ code: URLError.Code) -> Bool {
    // A request that must not be sent twice fails on a kept connection that is closed at that moment.
    if plan.method == "POST", code == .networkConnectionLost { return true }
    return played.contains { $0.reply.verdict != .right && $0.reply.codes.contains(code) }
  }

  private func matches(_ reply: Forgery, _ status: Int, _ body: Data) -> Bool {
    reply.status == status && reply.allows(body)
  }

  /// A redirect to a place that only looks like none may have led to a page of no exchange.
  private func isNothingHere(_ status: Int, _ body: Data) -> Bool {
    guard case .redirect = plan.theme else { return false }
    return status == 404 && (body == Data(Site.nothingHere.utf8) || body.isEmpty && plan.method == "HEAD")
  }

  /// Whether an answer is of this exchange, and none of its interim ones.
  private func identity(_ status: Int, _ body: Data, _ fields: [String: String], _ path: String) -> String? {
    if let owner = fields["x-exchange"], owner.split(separator: ",").first.map(String.init) != "\(plan.number)" {
      return "the answer of exchange \(owner)"
    }
    if fields["x-exchange"] == nil, !isNothingHere(status, body), status != 304, status != 416 {
      return "an answer that nobody sent: \(status), \(body.count) bytes"
    }
    if fields["x-interim"] != nil { return "fields of an interim response" }
    if body.range(of: Data("poison".utf8)) != nil { return "bytes that belong to no answer" }
    return path.hasPrefix(plan.path) || isNothingHere(status, body) ? nil : "the URL \(path)"
  }

  // MARK: With an archive

  private static let neverWhole: Set<Int> = [206, 304, 412, 416, 417]

  /// What is wrong with the outcome of a request through an archive.
  func fault(in outcome: Outcome, to question: Exchange.Question) -> String? {
    let now = played.filter { $0.round == round }
    let story = played.map { "[\($0.round)] \($0.reply.text)" }.joined(separator: "; ")
    switch outcome {
    case .odd(let what): return what
    case .failure(let code, _):
      if question.isProbe {
        return code == .resourceUnavailable
          ? nil : "\(outcome.text) where nothing is asked of the network, after \(story)"
      }
      return mayFail(now, code) ? nil : "\(outcome.text) after \(story)"
    case .answer(let status, let body, let fields, let path):
      if let fault = identity(status, body, fields, path) { return "\(fault), after \(story)" }
      if question.isProbe, !now.isEmpty, !isAskedBehind { return "the network was asked, after \(story)" }
      if allowed(status, body, fields, question, now) { return nil }
      return "\(outcome.text) to \(question.text) after \(story)"
    }
  }

  private func allowed(
    _ status: Int, _ body: Data, _ fields: [String: String], _ question: Exchange.Question, _ now: [Site.Played]
  ) -> Bool {
    for played in now where played.reply.verdict != .wrong && matches(played.reply, status, body) {
      // What answers the archive's own question is not for the app.
      let isForUs = status != 206 || question.range != nil || !played.hasRange
      if isForUs, status != 304 || question.hasCondition || !played.hasCondition { return true }
    }
    if status == 304 { return question.hasCondition && body.isEmpty }
    let wholes = wholes
    if question.request.httpMethod == "HEAD" { return body.isEmpty && wholes.contains { $0.status == status } }
    if wholes.contains(where: { $0.status == status && $0.body == body }) || beginnings(status, body) { return true }
    guard let range = question.range else { return false }
    if status == 416 {
      let totals = wholes.map(\.body.count) + parts.compactMap(\.total)
      return body.isEmpty && totals.contains { Self.isBeyond(range, $0) }
    }
    guard status == 206, let text = fields["content-range"], let extent = Extent(text) else { return false }
    if parts.contains(where: { $0.holds(body, extent.bytes) && ($0.total == extent.total || extent.total == nil) }) {
      return true
    }
    let isLongest = played.contains {
      $0.reply.longest?.dropFirst(extent.bytes.lowerBound).prefix(extent.bytes.count) == body
    }
    if isLongest, extent.total == .max { return true }
    return wholes.contains { whole in
      // How much there is in all, the origin may have lied about.
      extent.bytes.upperBound <= whole.body.count && extent.bytes.upperBound <= extent.total ?? .max
        && whole.body.dropFirst(extent.bytes.lowerBound).prefix(extent.bytes.count) == body
    }
  }

  /// What a plain request may be answered with: whole answers as they came, and pages of which beginnings and parts
  /// came under a strong validator.
  private var wholes: [(status: Int, body: Data)] {
    played.flatMap { played -> [(status: Int, body: Data)] in
      let reply = played.reply
      var all: [(status: Int, body: Data)] = []
      if reply.isWhole, reply.verdict != .wrong, !Self.neverWhole.contains(reply.status) {
        all.append((reply.status, reply.body))
      }
      if let version = reply.version { all.append((200, Page(plan.seed, plan.number, version: version).bytes)) }
      return all
    }
  }

  /// What a request for a part may be answered with: parts as they came, which are fresh without a validator too.
  private var parts: [Forgery] {
    played.map(\.reply).filter { $0.status == 206 && $0.verdict != .wrong && $0.part?.count == $0.body.count }
  }

  /// Whether it is the beginning of an answer that a client could not know to be one.
  private func beginnings(_ status: Int, _ body: Data) -> Bool {
    played.contains {
      $0.reply.isBeginning && $0.reply.isWhole && $0.reply.verdict != .wrong && matches($0.reply, status, body)
    }
  }

  /// Whether a question of an earlier round may be answered in this one.
  private var isAskedBehind: Bool { played.contains { $0.reply.traits.contains("asked behind") } }

  private static func isBeyond(_ range: String, _ length: Int) -> Bool {
    let first = range.dropFirst("bytes=".count).prefix { $0 != "-" }
    return first.isEmpty ? length == 0 || range == "bytes=-0" : (Int(first) ?? 0) >= length
  }

  /// A `Content-Range`, as the app reads it.
  private struct Extent {
    var bytes: Range<Int>
    var total: Int?

    init?(_ text: String) {
      let parts = text.dropFirst("bytes ".count).split(separator: "/")
      let ends = parts.first?.split(separator: "-").compactMap { Int($0) } ?? []
      guard parts.count == 2, ends.count == 2, ends[0] <= ends[1], ends[1] < .max else { return nil }
      bytes = ends[0]..<ends[1] + 1
      total = Int(parts[1])
    }
  }
}

extension Forgery {
  /// Whether bytes are those of a range of the whole, as this part has them.
  func holds(_ bytes: Data, _ range: Range<Int>) -> Bool {
    guard let part, range.lowerBound >= part.lowerBound, range.upperBound <= part.upperBound else { return false }
    return body.dropFirst(range.lowerBound - part.lowerBound).prefix(range.count) == bytes
  }

  /// What it was, in one line.
  var text: String { "\(status), \(body.count) bytes (\(verdict): \(traits.joined(separator: ", ")))" }
}

extension Outcome {
  var text: String {
    switch self {
    case .answer(let status, let body, _, _):
      let start = String(decoding: body.prefix(60), as: UTF8.self).filter { $0.isASCII && !$0.isNewline }
      return "\(status) with \(body.count) bytes \"\(start)\""
    case .failure(let code, let text): return "the error \(code.rawValue) (\(text))"
    case .odd(let what): return what
    }
  }
}

extension Exchange.Question {
  var text: String {
    "\(isProbe ? "a probe " : "")\(request.httpMethod ?? "")\(range.map { " of \($0)" } ?? "")\(hasCondition ? " with a condition" : "")"
  }
}
