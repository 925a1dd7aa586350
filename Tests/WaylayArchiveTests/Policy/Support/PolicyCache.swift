import Foundation
import HTTPTypes

@testable import WaylayArchive

/// A cache that is nothing but the policy: what it decides is done to a dictionary, at a time that the test sets. Every
/// record goes through its binary form.
struct PolicyCache {
  struct Entry {
    var record: [UInt8]
    var body: [UInt8]
  }

  /// A request that has reached the origin.
  struct Sent {
    var method: String
    var url: String
    var fields: HTTPFields

    subscript(name: String) -> String? { fields[HTTPField.Name(name)!] }
  }

  /// What the origin answers.
  struct Reply {
    var status = 200
    var fields: HTTPFields = [:]
    var body = "body"
    /// Seconds until it comes.
    var delay = 0.0
    /// How many bytes of the body come before the transfer breaks off.
    var breaksOffAt: Int?
  }

  /// What the client got.
  struct Result {
    var status: Int
    var fields: HTTPFields
    var body: String
    var isFromArchive: Bool
    var isStale = false
    var reason: ArchiveReason
    /// Why it is in the archive or not, where the origin answered.
    var outcome: ArchiveReason?

    subscript(name: String) -> String? { fields[HTTPField.Name(name)!] }
    var age: Int? { self["Age"].flatMap { Int($0) } }
  }

  static let unavailable = -1008
  static let unreachable = -1004
  static let url = "http://example.com/a"

  var policy: ArchivePolicy
  var options = CacheOptions()
  var now = CacheTime(seconds: 1_795_262_400)
  private(set) var entries: [String: [Entry]] = [:]
  /// What has reached the origin, in order.
  private(set) var sent: [Sent] = []

  init(_ change: (inout ArchivePolicy) -> Void = { _ in }) {
    policy = ArchivePolicy { bytes in
      // Not secret, but as wide as the real one.
      var hash: (UInt64, UInt64) = (0xcbf2_9ce4_8422_2325, 0x9e37_79b9_7f4a_7c15)
      for byte in bytes {
        hash.0 = (hash.0 ^ UInt64(byte)) &* 0x100_0000_01b3
        hash.1 = (hash.1 &+ UInt64(byte)) &* 0x9e37_79b9_7f4a_7c15
      }
      return withUnsafeBytes(of: hash) { Array($0) }
    }
    change(&policy)
  }

  mutating func wait(_ seconds: Double) {
    now.milliseconds += Int64(seconds * 1000)
  }

  /// The time as an HTTP date, so many seconds from now.
  func date(_ offset: Int64 = 0) -> String { HTTPDate.text(seconds: now.seconds + offset) }

  func records(_ url: String = PolicyCache.url) -> [CacheRecord] {
    (entries[url] ?? []).compactMap { CacheRecord(decoding: $0.record) }
  }

  /// Loads, with the same reply whatever is sent. No reply means that the origin cannot be reached.
  @discardableResult
  mutating func load(
    _ reply: Reply?, _ method: String = "GET", url: String = PolicyCache.url, _ fields: HTTPFields = [:],
    cachePolicy: URLRequest.CachePolicy = .useProtocolCachePolicy
  ) -> Result {
    load(method, url: url, fields, cachePolicy: cachePolicy) { _ in reply }
  }

  /// Loads with `GET` and those fields.
  @discardableResult
  mutating func load(
    _ reply: Reply?, _ fields: HTTPFields, cachePolicy: URLRequest.CachePolicy = .useProtocolCachePolicy
  ) -> Result {
    load("GET", fields, cachePolicy: cachePolicy) { _ in reply }
  }

  /// Loads, with what the origin makes of the request.
  @discardableResult
  mutating func load(
    _ method: String = "GET", url: String = PolicyCache.url, _ fields: HTTPFields = [:],
    cachePolicy: URLRequest.CachePolicy = .useProtocolCachePolicy, origin: (Sent) -> Reply?
  ) -> Result {
    let request = CacheRequest(method: method, url: URL(string: url), fields: fields, cachePolicy: cachePolicy)
    let load = Load(method: method, url: url, fields: fields, request: request)
    let decision = policy.decide(request, records: records(url), now: now, options: options)
    switch decision.action {
    case .serve(let answer): return stored(answer, url, decision.reason)
    case .serveAndRevalidate(let answer):
      let result = stored(answer, url, decision.reason)
      _ = network(load, decision, origin)
      return result
    case .forward: return network(load, decision, origin)
    case .gatewayTimeout:
      return Result(status: 504, fields: [:], body: "", isFromArchive: true, reason: decision.reason)
    case .unavailable:
      return Result(status: Self.unavailable, fields: [:], body: "", isFromArchive: true, reason: decision.reason)
    }
  }

  private struct Load {
    var method: String
    var url: String
    var fields: HTTPFields
    var request: CacheRequest
  }

  private func stored(
    _ answer: CacheReply, _ url: String, _ reason: ArchiveReason, record: CacheRecord? = nil, isValidated: Bool = false
  ) -> Result {
    let record = record ?? records(url)[answer.index]
    let (status, fields) = policy.head(of: answer, record: record, now: now, isValidated: isValidated)
    let body = entries[url]?[answer.index].body ?? []
    let text: String
    switch answer.form {
    case .whole: text = String(decoding: body, as: UTF8.self)
    case .notModified, .unsatisfiableRange: text = ""
    case .range(let bytes):
      let start = record.extent?.lowerBound ?? 0
      text = String(decoding: body[Int(bytes.lowerBound - start)..<Int(bytes.upperBound - start)], as: UTF8.self)
    }
    return Result(
      status: status, fields: fields, body: text, isFromArchive: true, isStale: answer.isStale, reason: reason)
  }

  private mutating func network(_ load: Load, _ decision: CacheDecision, _ origin: (Sent) -> Reply?) -> Result {
    var fields = load.fields
    for name in decision.removedFields { fields[values: name] = [] }
    for field in decision.addedFields { fields[values: field.name] = [field.value] }
    sent.append(Sent(method: load.method, url: load.url, fields: fields))
    let requestTime = now
    guard let reply = origin(sent[sent.count - 1]) else {
      guard
        let (answer, reason) = policy.fail(
          for: load.request, decision, records: records(load.url), now: now, options: options)
      else {
        return Result(status: Self.unreachable, fields: [:], body: "", isFromArchive: false, reason: decision.reason)
      }
      return stored(answer, load.url, reason)
    }
    wait(reply.delay)
    let response = ArchivePolicy.Response(
      status: reply.status, fields: reply.fields, requestTime: requestTime, responseTime: now)
    for url in policy.invalidations(status: reply.status, fields: reply.fields, for: load.request, options: options) {
      for index in (entries[url.absoluteString] ?? []).indices {
        let invalidated = records(url.absoluteString)[index].invalidated()
        entries[url.absoluteString]?[index].record = invalidated.encoded()
      }
    }
    let outcome = policy.receive(response, for: load.request, decision, records: records(load.url), options: options)
    if outcome.reply == .again {
      apply(outcome, load.url, reply)
      // What was removed is not there for the second answer.
      let again =
        outcome.removals.isEmpty
        ? decision.unconditional : policy.decide(load.request, records: records(load.url), now: now).unconditional
      return network(load, again, origin)
    }
    let result = answer(outcome, load, decision, reply)
    apply(outcome, load.url, reply)
    return result
  }

  private func answer(_ outcome: ResponseOutcome, _ load: Load, _ decision: CacheDecision, _ reply: Reply) -> Result {
    switch outcome.reply {
    case .network:
      let body = load.method == "HEAD" || reply.status == 304 ? "" : reply.body
      return Result(
        status: reply.status, fields: reply.fields, body: body, isFromArchive: false, reason: decision.reason,
        outcome: outcome.reason)
    case .stored(let answer):
      return stored(
        answer, load.url, outcome.reason, record: outcome.replyRecord, isValidated: outcome.reason.code == .validated)
    case .joined:
      guard case .join(let index, let offset, var record) = outcome.storing, let old = entries[load.url]?[index] else {
        break
      }
      record.becomeWhole()
      let head = policy.head(
        of: CacheReply(index: index, form: .whole, isStale: false), record: record, now: now, isValidated: true)
      let body = String(decoding: old.body.prefix(Int(offset)) + Array(reply.body.utf8), as: UTF8.self)
      return Result(
        status: head.status, fields: head.fields, body: body, isFromArchive: true, reason: decision.reason,
        outcome: outcome.reason)
    case .again: break
    }
    return Result(status: 0, fields: [:], body: "", isFromArchive: false, reason: decision.reason)
  }

  private mutating func apply(_ outcome: ResponseOutcome, _ url: String, _ reply: Reply) {
    var entries = entries[url] ?? []
    for update in outcome.updates { entries[update.index].record = update.record.encoded() }
    var added: Entry?
    switch outcome.storing {
    case .new(let record): added = entry(record, Array(reply.body.utf8), reply)
    case .join(let index, let offset, let record):
      let body = entries[index].body.prefix(Int(offset)) + Array(reply.body.utf8)
      if let joined = entry(record, Array(body), reply) { entries[index] = joined }
    case nil: break
    }
    self.entries[url] =
      entries.indices.filter { !outcome.removals.contains($0) }.map { entries[$0] } + [added].compactMap { $0 }
  }

  private func entry(_ record: CacheRecord, _ body: [UInt8], _ reply: Reply) -> Entry? {
    let body = record.method == .head ? [] : reply.breaksOffAt.map { Array(body.prefix($0)) } ?? body
    let whole = reply.breaksOffAt == nil ? record.completed(bodyLength: Int64(body.count)) : nil
    return (whole ?? record.truncated(at: Int64(body.count))).map { Entry(record: $0.encoded(), body: body) }
  }
}
