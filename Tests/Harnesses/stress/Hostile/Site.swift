import Foundation
import TestOrigin
import WaylayCore

/// The server's side: decides what is said, and remembers it for those who judge what came of it.
final class Site: Sendable {
  /// A reply that was given, and what was asked.
  struct Played: Sendable {
    let reply: Forgery
    /// Which request of the exchange it answered.
    let round: Int
    let hasRange: Bool
    let hasCondition: Bool
    /// Whether it leads somewhere else, where the answer is to be had.
    let redirects: Bool
  }

  private struct State {
    var rounds: [Int: Int] = [:]
    var played: [Int: [Played]] = [:]
  }

  private let seed: UInt64
  private let state = Locked(State())
  /// Where it listens, which redirects name.
  let port = Locked(0)

  init(seed: UInt64) {
    self.seed = seed
  }

  /// The exchange is at its request of that number.
  func begin(_ number: Int, round: Int) {
    state.withLock { $0.rounds[number] = round }
  }

  /// What was said in an exchange so far.
  func played(_ number: Int) -> [Played] {
    state.withLock { $0.played[number] ?? [] }
  }

  /// Forgets an exchange that is over.
  func end(_ number: Int) {
    state.withLock { state in
      state.rounds[number] = nil
      state.played[number] = nil
    }
  }

  /// The text of a page that no exchange has.
  static let nothingHere = "nothing here"

  /// What is said to a request.
  func script(_ request: ScriptedOrigin.Request) -> ScriptedOrigin.Script {
    let parts = request.target.split(separator: "/", omittingEmptySubsequences: true).map { $0.prefix { $0 != "?" } }
    guard let number = parts.first.flatMap({ Int($0) }), let round = state.withLock({ $0.rounds[number] }) else {
      return ScriptedOrigin.Script(
        "HTTP/1.1 404 None\r\nContent-Length: \(Self.nothingHere.utf8.count)\r\n\r\n\(Self.nothingHere)")
    }
    let hasCondition = ["If-None-Match", "If-Modified-Since"].contains { request[$0] != nil }
    let (reply, redirects) = reply(Plan(seed, number), to: request, round, isLanding: parts.dropFirst().first == "land")
    let played = Played(
      reply: reply, round: round, hasRange: request["Range"] != nil, hasCondition: hasCondition, redirects: redirects)
    state.withLock { $0.played[number, default: []].append(played) }
    return reply.script
  }

  private func reply(_ plan: Plan, to request: ScriptedOrigin.Request, _ round: Int, isLanding: Bool) -> (Forgery, Bool)
  {
    let isKnown = request["Authorization"] != nil
    let dice = Dice(seed, plan.number, 2 + round, isLanding ? 1 : isKnown ? 2 : 0)
    var forge = Forge(dice, method: request.method, exchange: plan.number)
    let page = Page(seed, plan.number, version: 0)
    switch plan.theme {
    case .answer: return (forge.answer(forge.status(), page.bytes), false)
    case .nothing: return (forge.nothing(), false)
    case .challenge:
      return (isKnown && forge.dice.chance(60) ? forge.answer(200, page.bytes) : forge.challenge(page), false)
    case .redirect(let kind):
      return isLanding
        ? (forge.answer(forge.status(), page.bytes), false) : (forge.redirect(kind, page, port.withLock { $0 }), true)
    case .archive: return (forge.archived(seed, plan.number, round, request), false)
    }
  }
}
