import Foundation
import TestOrigin
import WaylayCore

@testable import WaylayArchive

/// One thing that an examiner asks of a cache: requests in order, what the origin would say to each, and what has to
/// come of it.
struct Question: Sendable {
  var title: String
  var steps: [Step]

  init(_ title: String, _ steps: Step...) {
    self.title = title
    self.steps = steps
  }

  struct Step: Sendable {
    var method = "GET"
    var path = "/"
    var fields: [String: String] = [:]
    var cachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
    /// Seconds before it.
    var wait: Int64 = 0
    var status = 200
    var reply: [(name: String, value: String)] = []
    /// How the body is sent; `nil` for the number of the step as text, with its length.
    var body: Reply.Body?
    var trailers: [(name: String, value: String)] = []
    var expected = Expected.network
    var expectedStatus: Int?
    /// Fields that the client gets; `nil` for one that it must not get.
    var expectedFields: [(name: String, value: String?)] = []
    /// The number of the step whose body the client gets, from 1.
    var expectedBody: Int?
    var expectedText: String?
    /// Fields that the origin sees; `nil` for one that it must not see.
    var sees: [(name: String, value: String?)] = []
  }

  enum Expected: Sendable {
    /// The origin is asked.
    case network
    /// It is not.
    case archive
  }
}

extension Question.Step {
  /// A request that the origin has to answer.
  static func asks(
    _ reply: [(name: String, value: String)] = [], status: Int = 200, _ change: (inout Self) -> Void = { _ in }
  ) -> Self {
    var step = Self(status: status, reply: reply)
    change(&step)
    return step
  }

  /// A request that must not reach the origin, and is answered with the body of a step.
  static func reuses(_ body: Int = 1, after wait: Int64 = 0, _ change: (inout Self) -> Void = { _ in }) -> Self {
    var step = Self(wait: wait, expected: .archive, expectedBody: body)
    change(&step)
    return step
  }

  /// A request that has to reach the origin with a condition, is answered 304, and the client with the body of a step.
  static func validates(
    _ body: Int = 1, after wait: Int64 = 0, _ reply: [(name: String, value: String)] = [],
    _ change: (inout Self) -> Void = { _ in }
  ) -> Self {
    var step = Self(wait: wait, status: 304, reply: reply, expectedStatus: 200, expectedBody: body)
    change(&step)
    return step
  }

  /// The same after so many seconds.
  func after(_ seconds: Int64) -> Self {
    var step = self
    step.wait = seconds
    return step
  }
}

extension Question {
  /// Asks it; what is wrong with the answers, in words.
  func faults(at site: Site, _ number: Int, by way: Way) async throws -> [String] {
    var faults: [String] = []
    let base = "/\(way)/\(number)"
    for (index, step) in steps.enumerated() {
      site.wall.advance(by: step.wait)
      let path = base + step.path
      site.origin.reply(to: path.prefix { $0 != "?" }.description) { _ in step.answer(index + 1, site.wall) }
      let before = site.origin.requests.count
      let request = site.request(path, step.fields, method: step.method) { $0.cachePolicy = step.cachePolicy }
      let fetched: Fetched
      do {
        fetched = try await site.load(request, by: way)
      } catch {
        faults.append("\(index + 1): \((error as? URLError)?.code.rawValue.description ?? "\(error)")")
        continue
      }
      let seen = site.origin.requests.dropFirst(before)
      faults += step.faults(fetched, seen.last, count: seen.count, isHead: step.method == "HEAD").map {
        "\(index + 1): \($0)"
      }
    }
    return faults
  }
}

extension Question.Step {
  fileprivate func answer(_ number: Int, _ wall: Wall) -> Reply {
    let fields = reply.map { ($0.name, $0.value.replacingOccurrences(of: "NOW", with: wall.date())) }
    var reply = Reply(status, fields, body ?? .whole(Data("step \(number)".utf8)))
    if status == 304 || status == 204 { reply.body = .whole(Data()) }
    reply.trailers = trailers
    return reply
  }

  fileprivate func faults(_ fetched: Fetched, _ seen: TestOrigin.Request?, count: Int, isHead: Bool) -> [String] {
    var faults: [String] = []
    switch expected {
    case .network: if count == 0 { faults.append("the origin was not asked") }
    case .archive: if count > 0 { faults.append("the origin was asked") }
    }
    // A transport may try once more on another connection when one is closed.
    if case .close = body {} else if count > 1 { faults.append("the origin was asked \(count) times") }
    if let expectedStatus, fetched.status != expectedStatus {
      faults.append("status \(fetched.status), not \(expectedStatus)")
    }
    if !isHead, let text = expectedText ?? expectedBody.map({ "step \($0)" }), fetched.text != text {
      faults.append("body «\(fetched.text.prefix(40))», not «\(text)»")
    }
    for (name, value) in expectedFields where fetched[name] != value {
      faults.append("\(name) is \(fetched[name] ?? "missing"), not \(value ?? "missing")")
    }
    for (name, value) in sees where seen?[name].joined(separator: ", ") ?? "" != value ?? "" {
      faults.append("the origin saw \(name): \(seen?[name] ?? [])")
    }
    return faults
  }
}
