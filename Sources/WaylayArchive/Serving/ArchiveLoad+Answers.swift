import Foundation
import HTTPTypes

extension ArchiveLoad {
  func event(
    _ kind: ArchiveEvent.Kind, reason: String? = nil, bytes: Int64? = nil, age: Duration? = nil
  ) -> ArchiveEvent {
    ArchiveEvent(kind, load: request.id, url: url, reason: reason, bytes: bytes, age: age)
  }

  /// An answer out of the archive.
  func respond(
    _ answer: CacheAnswer, _ record: CacheRecord, _ body: MessageBody, _ decision: CacheDecision, _ now: CacheTime,
    of id: EntryID? = nil,
    wasValidated: Bool = false, wasCollapsed: Bool = false, reason: ArchiveReason? = nil
  ) -> InterceptedResponse {
    let reason = reason ?? decision.reason
    let head = policy.head(of: answer, record: record, now: now, isValidated: wasValidated)
    var fields = head.fields
    if record.flags.contains(.hadCookies), let id, !fields.contains(.setCookie) {
      for field in engine.cookies.fields(of: id, for: request.context) { fields.append(field) }
    }
    let isMarked = answer.isStale && options.mode != .replayOnly
    outcome?.note(.present)
    var response = InterceptedResponse(
      status: HTTPResponse.Status(code: head.status), fields: fields, url: url, body: body,
      source: isMarked ? .staleArchive : .archive)
    if configuration.cacheStatus == .always || isMarked && configuration.cacheStatus == .whenStale {
      var status = CacheStatus(cache: configuration.name)
      status.isHit = !wasValidated && !wasCollapsed
      status.timeToLive = record.lifetime.subtractingSaturating(record.age(at: now) / 1000)
      status.isCollapsed = wasCollapsed
      if wasValidated {
        status.forwarded = CacheStatus.Forwarded(decision.reason)
        status.forwardedStatus = decision.isCompleting ? 206 : 304
      } else if wasCollapsed {
        status.forwarded = .uriMiss
      }
      if isMarked { status.detail = reason.code.description }
      add(status, to: &response)
    }
    let kind: ArchiveEvent.Kind =
      isInBackground
      ? .revalidatedInBackground : wasCollapsed ? .collapsed : wasValidated ? .revalidated : isMarked ? .staleHit : .hit
    if !isInBackground || wasValidated {
      engine.reporter.report(kind, bytes: body.length) {
        event(kind, reason: reason.description, bytes: body.length, age: .milliseconds(record.age(at: now)))
      }
    }
    return response
  }

  /// Adds our member to `Cache-Status`, behind those of caches nearer to the origin (RFC 9211, section 2).
  func add(_ status: CacheStatus, to response: inout InterceptedResponse) {
    let before = response.fields[Self.cacheStatus].map { $0 + ", " } ?? ""
    response.fields[Self.cacheStatus] = before + status.description
  }

  // A name of letters and a hyphen is a field name.
  static let cacheStatus = HTTPField.Name("Cache-Status")!

  /// The answer to `only-if-cached` that nothing stored can give (RFC 9111, section 5.2.1.7).
  func gatewayTimeout(_ decision: CacheDecision) -> InterceptedResponse {
    engine.reporter.report(event(.unavailable, reason: decision.reason.description))
    return InterceptedResponse(
      to: request, status: .gatewayTimeout, fields: [.contentLength: "0"], source: .archive)
  }

  /// The error of a miss in a mode, or under a policy, that keeps the request from the network.
  ///
  /// - Parameter failure: Why what is stored could not be read, where that was it.
  func unavailable(_ decision: CacheDecision, _ failure: (any Error)? = nil) -> URLError {
    engine.reporter.report(event(.unavailable, reason: decision.reason.description))
    let what = options.mode.allowsNetwork ? "the request's cachePolicy" : "the archive's mode, \(options.mode),"
    if let failure {
      return ArchiveError(
        .readFailed, "\(what) allows no network, and the stored response could not be read: try again.", url: url,
        requestID: request.id,
        underlying: failure
      ).urlError()
    }
    return ArchiveError(
      .notStored,
      "\(what) allows no network, and nothing stored answers the request (\(decision.reason)): load it once while "
        + "online.",
      url: url, requestID: request.id
    ).urlError()
  }

  /// The origin cannot be reached: something stale, where that is allowed, or the error.
  ///
  /// What a link behind the archive throws for reasons of its own says nothing of the origin, and is not hidden behind
  /// something stale.
  func unreachable(
    _ error: any Error, _ decision: CacheDecision, _ stored: [Stored]
  ) async throws -> InterceptedResponse {
    let now = now
    guard error.isNetworkFailure,
      let failure = policy.fail(for: asked, decision, records: stored.map(\.record), now: now, options: options)
    else {
      if error.isNetworkFailure, let response = await afterChallenge(error) { return response }
      throw error
    }
    let chosen = stored[failure.answer.index]
    var body = MessageBody.empty
    if let range = bytes(of: failure.answer, in: chosen) {
      guard let read = try? await chosen.entry.body(in: range) else { throw error }
      body = read
    }
    return respond(failure.answer, chosen.record, body, decision, now, of: chosen.entry.id, reason: failure.reason)
  }
}

extension Error {
  /// Whether the origin could not be reached, or did not answer as HTTP asks; what a link throws for reasons of its own
  /// is none.
  fileprivate var isNetworkFailure: Bool {
    (self as? any LoadError)?.isNetworkFailure ?? (self as? URLError)?.isNetworkFailure ?? false
  }
}
