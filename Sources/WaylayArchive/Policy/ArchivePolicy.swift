/// The rules of an HTTP cache (RFC 9111, 5861, 8246) as a value, without state, waiting or I/O.
struct ArchivePolicy: Sendable {
  /// Whether to serve stale responses if the origin cannot be reached (section 4.2.4). `must-revalidate` and related
  /// directives take precedence.
  var staleWhenUnreachable = true
  /// The default `stale-if-error` in seconds (RFC 5861, section 4).
  var staleIfError: Int64 = 0
  /// The maximum number of stored responses per URL.
  var maximumVariants = 16
  /// Makes a keyed digest of request field values.
  var digest: @Sendable ([UInt8]) -> [UInt8]
}

extension ArchivePolicy {
  /// Decides on a request.
  ///
  /// - Parameters:
  ///   - records: The records under the request's key.
  ///   - now: The wall clock.
  func decide(
    _ request: CacheRequest, records: [CacheRecord], now: CacheTime, options: CacheOptions = CacheOptions()
  ) -> CacheDecision {
    let plan = Plan(request, options)
    let method = options.method(of: request)
    let isUncovered = Self.hasUncoveredBody(request, options)
    guard method == .get || method == .head, !isUncovered else {
      let reason = ArchiveReason(.method, isUncovered ? "body" : nil)
      return CacheDecision(plan.mayLoad ? .forward : plan.refusal, reason)
    }
    guard plan.mayAnswer else {
      return forward(request, plan, ArchiveReason(.request, plan.ruling))
    }
    let selection = select(request, among: records, method: method, acceptsUnknownVary: !plan.mayLoad)
    guard let selected = selection.selected else {
      let reason = selection.isAnyStored ? ArchiveReason(.varyMiss, "Vary") : ArchiveReason(.miss)
      guard plan.mayLoad else { return CacheDecision(plan.refusal, reason) }
      return revalidate(request, records, nil, method, plan, reason)
    }
    let record = records[selected]
    let verdict = verdict(on: record, request, plan, now)
    guard verdict.isUsable else {
      guard plan.mayLoad else { return CacheDecision(plan.refusal, verdict.reason, selected: selected) }
      return revalidate(request, records, selected, method, plan, verdict.reason)
    }
    guard let form = Self.form(of: record, for: request, method, isLastResort: !plan.mayLoad) else {
      let reason = record.isComplete ? ArchiveReason(.request, "range or condition") : ArchiveReason(.partial)
      guard plan.mayLoad else { return CacheDecision(plan.refusal, reason, selected: selected) }
      return complete(request, record, selected, method, plan, reason)
    }
    let reply = CacheReply(index: selected, form: form, isStale: verdict.isStale)
    let isInBackground = verdict.revalidatesInBackground && plan.mayLoad
    var decision = CacheDecision(
      isInBackground ? .serveAndRevalidate(reply) : .serve(reply), verdict.reason, selected: selected)
    if isInBackground {
      Self.addConditions(&decision, records, [selected])
      decision.removedFields = [.ifNoneMatch, .ifModifiedSince, .ifRange, .range]
    }
    return decision
  }

  /// Whether a request has a body that its key does not cover: requests with different bodies then share a key, so the
  /// archive neither serves nor stores their responses. Exception: a stored response to `POST` is a representation of
  /// its URL.
  static func hasUncoveredBody(_ request: CacheRequest, _ options: CacheOptions) -> Bool {
    request.hasBody && !options.isKeyedByBody && options.method(of: request) != .post
  }

  /// The constraints of the mode and the cache policy, before any stored response is considered.
  struct Plan {
    /// Whether the network is allowed.
    var mayLoad = true
    /// Whether stored responses are allowed.
    var mayAnswer = true
    /// Whether stored responses may have any age.
    var anyAge = false
    /// Whether stored responses require validation.
    var alwaysValidates = false
    var ruling: String?
    /// The action if neither the network nor a stored response may be used.
    var refusal = CacheDecision.Action.unavailable
    var asksPastCaches = false
    /// Whether intermediate caches should validate too.
    var asksForValidation = false

    init(_ request: CacheRequest, _ options: CacheOptions) {
      switch request.cachePolicy {
      case .reloadIgnoringLocalCacheData: mayAnswer = false
      case .reloadIgnoringLocalAndRemoteCacheData: (mayAnswer, asksPastCaches) = (false, true)
      case .returnCacheDataElseLoad: anyAge = true
      case .returnCacheDataDontLoad: (anyAge, mayLoad) = (true, false)
      case .reloadRevalidatingCacheData: (alwaysValidates, asksForValidation) = (true, true)
      default: break
      }
      if request.cachePolicy != .useProtocolCachePolicy { ruling = request.cachePolicy.label }
      switch options.mode {
      case .online: break
      case .preferArchive:
        if mayAnswer, !alwaysValidates, !request.directives.isNoCache {
          anyAge = true
          ruling = options.mode.rawValue
        }
      case .offline:
        (mayLoad, mayAnswer, anyAge, alwaysValidates) = (false, true, true, false)
        ruling = options.mode.rawValue
      }
      if request.directives.isOnlyIfCached, mayLoad {
        mayLoad = false
        refusal = .gatewayTimeout
        // A request that also forbids stored responses gets 504: without the network, no stored response can be
        // validated.
        if !mayAnswer { (mayAnswer, alwaysValidates) = (true, true) }
      }
    }
  }

  /// The stored response that matches a request (RFC 9111, sections 4 and 4.1).
  struct Selection {
    /// The matching response with the latest `Date`.
    var selected: Int?
    /// Whether any response is stored for the method, regardless of `Vary`.
    var isAnyStored = false
  }

  func select(
    _ request: CacheRequest, among records: [CacheRecord], method: CacheMethod, acceptsUnknownVary: Bool
  ) -> Selection {
    var selection = Selection()
    var memo = DigestMemo()
    var newestVarying: Int?
    for index in records.indices where Self.canAnswer(records[index], method) {
      selection.isAnyStored = true
      if records[index].vary != .nothing, Self.isLater(records[index], than: newestVarying.map { records[$0] }) {
        newestVarying = index
      }
      guard matches(records[index], request, &memo) else { continue }
      if Self.isPreferred(records[index], to: selection.selected.map { records[$0] }) { selection.selected = index }
    }
    // Section 4.1: if a newer response has `Vary` and an older one lacks it, the newer response's `Vary` applies to the
    // resource.
    if let selected = selection.selected, records[selected].vary == .nothing, let newestVarying,
      Self.isLater(records[newestVarying], than: records[selected])
    {
      selection.selected = nil
    }
    if selection.selected == nil, acceptsUnknownVary {
      selection.selected = records.indices.last {
        Self.canAnswer(records[$0], method) && records[$0].vary == .anything && isForUser(records[$0], request, &memo)
      }
    }
    return selection
  }

  /// Whether a response answers the method: one to `GET` answers `HEAD` too, unless it is partial, but not vice versa.
  static func canAnswer(_ record: CacheRecord, _ method: CacheMethod) -> Bool {
    switch (method, record.method) {
    case (.get, .get): true
    case (.head, .head): true
    case (.head, .get): record.status != 206
    default: false
    }
  }

  /// Whether a response matches a request by its `Vary`, and the request's user.
  func matches(_ record: CacheRecord, _ request: CacheRequest, _ memo: inout DigestMemo) -> Bool {
    coversFields(record, of: request, &memo) && isForUser(record, request, &memo)
  }

  /// Whether a response matches a request by its `Vary` (RFC 9111, section 4.1).
  func coversFields(_ record: CacheRecord, of request: CacheRequest, _ memo: inout DigestMemo) -> Bool {
    switch record.vary {
    case .nothing: true
    case .anything: false
    case .fields(let names): record.requests.contains(memo.digest(of: names, request, digest))
    }
  }

  /// Whether one matching response is preferred to another: one with `Vary` to one without, then the later one.
  private static func isPreferred(_ record: CacheRecord, to other: CacheRecord?) -> Bool {
    guard let other else { return true }
    if (record.vary == .nothing) != (other.vary == .nothing) { return other.vary == .nothing }
    return isLater(record, than: other)
  }

  /// The user of a request as a keyed digest; `nil` if cookies do not identify users.
  func user(of request: CacheRequest) -> RequestDigest? {
    guard let rule = request.userCookies else { return nil }
    let identity = rule.identity(of: request.cookie)
    return identity.isEmpty ? .allAbsent : RequestDigest(digest(Array("user ".utf8) + identity))
  }

  /// Whether a response may be served to the user of a request.
  func isForUser(_ record: CacheRecord, _ request: CacheRequest, _ memo: inout DigestMemo) -> Bool {
    guard !record.users.isEmpty, request.userCookies != nil else { return true }
    let user = memo.user ?? self.user(of: request)
    memo.user = user
    return user.map { record.users.contains($0) } ?? true
  }

  static func isLater(_ record: CacheRecord, than other: CacheRecord?) -> Bool {
    guard let other else { return true }
    return (record.date, record.responseTime) >= (other.date, other.responseTime)
  }

  /// Cached digests of one request.
  struct DigestMemo {
    /// The user's digest.
    var user: RequestDigest?
    private var names: [String]?
    /// The digest of the last field names.
    private(set) var value = RequestDigest.allAbsent

    mutating func digest(of names: [String], _ request: CacheRequest, _ digest: ([UInt8]) -> [UInt8]) -> RequestDigest {
      if names != self.names {
        self.names = names
        value = request.digest(of: names, digest)
      }
      return value
    }
  }

  /// Whether a stored response may be served without validation, and the reason.
  struct Verdict {
    var isUsable: Bool
    var isStale = false
    var revalidatesInBackground = false
    var reason: ArchiveReason
  }

  /// Checks freshness against the response, request, mode and cache policy (RFC 9111, sections 4.2, 4.2.4 and 5.2.1;
  /// RFC 5861; RFC 8246).
  func verdict(on record: CacheRecord, _ request: CacheRequest, _ plan: Plan, _ now: CacheTime) -> Verdict {
    let age = record.age(at: now)
    let lifetime = record.lifetime.saturating(multipliedBy: 1000)
    let isOfUnknownAge = record.isOfUnknownAge(at: now)
    let isFresh = lifetime > age && !isOfUnknownAge
    func reason(_ code: ArchiveReason.Code, _ ruling: String? = nil) -> ArchiveReason {
      ArchiveReason(code, ruling, about: record, at: now)
    }
    func needsOrigin(_ code: ArchiveReason.Code, _ ruling: String? = nil) -> Verdict {
      Verdict(isUsable: false, reason: reason(code, ruling))
    }
    if record.flags.contains(.lastResort), plan.mayLoad { return needsOrigin(.stale) }
    if isRetriedError(record, request), plan.mayLoad { return needsOrigin(.request, "retry") }
    let isInvalid = record.flags.contains(.invalidated)
    if plan.anyAge {
      let isStale = !isFresh || isInvalid
      return Verdict(isUsable: true, isStale: isStale, reason: isStale ? reason(.anyAge, plan.ruling) : reason(.fresh))
    }
    if isInvalid { return needsOrigin(.needsValidation, "invalidation") }
    // RFC 9111, section 4.2.3, counts the age from the arrival of the response: a future arrival gives no valid age.
    if isOfUnknownAge { return needsOrigin(.stale, "clock") }
    if record.directives.isNoCache { return needsOrigin(.needsValidation, "no-cache") }
    if request.directives.isNoCache { return needsOrigin(.request, "no-cache") }
    // RFC 8246, section 2: a reload does not validate a fresh immutable response.
    if plan.alwaysValidates, !(isFresh && record.directives.isImmutable) { return needsOrigin(.request, plan.ruling) }
    if let minFresh = request.directives.minFresh,
      lifetime.saturating(subtracting: age) < minFresh.saturating(multipliedBy: 1000)
    {
      return needsOrigin(isFresh ? .request : .stale, "min-fresh")
    }
    // The lifetime, limited by the request's `max-age`.
    let asked = request.directives.maxAge.map { min(lifetime, $0.saturating(multipliedBy: 1000)) } ?? lifetime
    if isFresh, age <= asked { return Verdict(isUsable: true, reason: reason(.fresh)) }
    if !isFresh, record.directives.isMustRevalidate { return needsOrigin(.stale, "must-revalidate") }
    if let maxStale = request.directives.maxStale,
      age.saturating(subtracting: asked) <= maxStale.saturating(multipliedBy: 1000)
    {
      return Verdict(isUsable: true, isStale: !isFresh, reason: reason(isFresh ? .fresh : .staleAllowed, "max-stale"))
    }
    // Section 5.2.1.1: a request with `max-age` does not accept a stale response without `max-stale`.
    if request.directives.maxAge != nil { return needsOrigin(isFresh ? .request : .stale, "max-age") }
    if isWithin(record.directives.staleWhileRevalidate ?? 0, age, lifetime) {
      return Verdict(
        isUsable: true, isStale: true, revalidatesInBackground: true,
        reason: reason(.staleWhileRevalidate, "stale-while-revalidate"))
    }
    return needsOrigin(.stale)
  }

  /// Whether the stored response is the error that made an interceptor before the archive retry the request.
  func isRetriedError(_ record: CacheRecord, _ request: CacheRequest) -> Bool {
    request.isRetry && record.status >= 400
  }

  /// Whether the staleness is at most `seconds`; 0 means that the directive is absent.
  func isWithin(_ seconds: Int64, _ age: Int64, _ lifetime: Int64) -> Bool {
    seconds > 0 && age.saturating(subtracting: lifetime) <= seconds.saturating(multipliedBy: 1000)
  }

  /// The form in which a stored response answers a request; `nil` if the origin has to answer.
  ///
  /// The client's conditions are evaluated before its range (RFC 9110, section 13.2.2; RFC 9111, section 4.3.2).
  ///
  /// - Parameter isLastResort: Whether the origin cannot be reached: then any usable form is allowed.
  static func form(
    of record: CacheRecord, for request: CacheRequest, _ method: CacheMethod, isLastResort: Bool
  ) -> CacheReply.Form? {
    if request.hasOriginConditions, !isLastResort { return nil }
    let isSuccess = (200..<300).contains(record.status)
    if isSuccess, request.hasOwnConditions, isUnmodified(record, request) { return .notModified }
    guard method == .get else { return .whole }
    let whole: CacheReply.Form? = record.isComplete && record.status != 206 ? .whole : nil
    // `Range` applies to successful responses only (RFC 9110, section 14.2).
    guard let range = request.range, record.status == 200 || record.status == 206, holdsIfRange(record, request) else {
      return whole
    }
    // The stored bytes are decoded, so byte ranges of the encoded representation do not apply.
    if record.flags.contains(.decoded) { return isLastResort ? whole : nil }
    return slice(record, range, isLastResort: isLastResort)
  }

  private static func slice(_ record: CacheRecord, _ range: ByteRange, isLastResort: Bool) -> CacheReply.Form? {
    guard let length = record.completeLength else {
      guard let bytes = range.bytes, let extent = record.extent, extent.lowerBound <= bytes.lowerBound,
        bytes.upperBound <= extent.upperBound
      else { return isLastResort && record.isComplete ? .whole : nil }
      return .range(bytes)
    }
    if range == .other { return isLastResort && record.isComplete ? .whole : nil }
    guard let bytes = range.bytes(of: length) else {
      return isLastResort || record.isComplete ? .unsatisfiableRange(length) : nil
    }
    if let extent = record.extent, bytes.lowerBound < extent.lowerBound || bytes.upperBound > extent.upperBound {
      return nil
    }
    return .range(bytes)
  }

  /// Whether the client's copy is current: weak comparison of `If-None-Match`, otherwise `If-Modified-Since` (RFC 9110,
  /// sections 13.1.2 and 13.1.3).
  private static func isUnmodified(_ record: CacheRecord, _ request: CacheRequest) -> Bool {
    if let list = request.ifNoneMatch { return EntityTag.list(list, names: record.entityTag) }
    guard let text = request.ifModifiedSince, let since = HTTPDate.seconds(text, now: record.responseTime.seconds)
    else {
      return false
    }
    // Section 4.3.2: without Last-Modified, compare Date.
    guard let modified = record.lastModified else { return record.date <= since }
    guard let seconds = HTTPDate.seconds(modified, now: record.responseTime.seconds) else { return false }
    return seconds <= since
  }

  /// Whether `If-Range` allows a range (RFC 9110, section 13.1.5): strong comparison, exact dates.
  private static func holdsIfRange(_ record: CacheRecord, _ request: CacheRequest) -> Bool {
    guard let condition = request.ifRange else { return true }
    if let tag = record.entityTag, EntityTag.areStronglyEqual(tag, condition) { return true }
    return record.isLastModifiedStrong && record.lastModified == condition
  }

  /// The head of a response from the archive.
  ///
  /// - Parameter isValidated: Whether the origin has just validated it: then `Age` is included only if the validating
  ///   response had one (RFC 9111, section 5.1).
  func head(
    of reply: CacheReply, record: CacheRecord, now: CacheTime, isValidated: Bool = false
  ) -> (status: Int, fields: HTTPFields) {
    var status = record.status
    var fields = record.fields
    switch reply.form {
    case .whole: break
    case .notModified:
      status = 304
      fields = Self.fieldsOfNotModified(record)
    case .range(let bytes):
      status = 206
      fields[values: .contentRange] = [ContentRange(bytes, of: record.completeLength).value]
      fields[values: .contentLength] = ["\(bytes.upperBound - bytes.lowerBound)"]
    case .unsatisfiableRange(let length):
      status = 416
      fields = FieldRules.without(
        ["content-type", "content-encoding", "content-language", "content-location", "etag", "last-modified"], fields)
      fields[values: .contentRange] = ["bytes */\(length)"]
      fields[values: .contentLength] = ["0"]
    }
    let age = min(record.age(at: now) / 1000, FieldBytes.maximumDelta)
    if !isValidated || age > 0 { fields.append(HTTPField(name: .age, value: "\(age)")) }
    return (status, fields)
  }

  /// The fields required in a 304, without other representation metadata (RFC 9110, section 15.4.5).
  private static func fieldsOfNotModified(_ record: CacheRecord) -> HTTPFields {
    var fields = HTTPFields()
    for field in record.fields {
      switch field.name.canonicalName {
      case "cache-control", "content-location", "date", "etag", "expires", "vary": fields.append(field)
      case "last-modified": if record.entityTag == nil { fields.append(field) }
      default: break
      }
    }
    return fields
  }
}

extension URLRequest.CachePolicy {
  var label: String {
    switch self {
    case .useProtocolCachePolicy: "useProtocolCachePolicy"
    case .reloadIgnoringLocalCacheData: "reloadIgnoringLocalCacheData"
    case .reloadIgnoringLocalAndRemoteCacheData: "reloadIgnoringLocalAndRemoteCacheData"
    case .returnCacheDataElseLoad: "returnCacheDataElseLoad"
    case .returnCacheDataDontLoad: "returnCacheDataDontLoad"
    case .reloadRevalidatingCacheData: "reloadRevalidatingCacheData"
    @unknown default: "policy \(rawValue)"
    }
  }
}

extension HTTPField.Name {
  static let age = HTTPField.Name("Age")!
}
