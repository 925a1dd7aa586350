/// The rules of an HTTP cache (RFC 9111, 5861, 8246) as a value: it keeps nothing, waits for nothing and touches no
/// file.
struct ArchivePolicy: Sendable {
  /// Whether a stale response is given when the origin cannot be reached (section 4.2.4). `must-revalidate` and the
  /// like go first.
  var staleWhenUnreachable = true
  /// For how many seconds a stale response stands in for an error, where neither side says so (RFC 5861, section 4).
  var staleIfError: Int64 = 0
  /// How many responses are kept for one URL.
  var maximumVariants = 16
  /// Makes a keyed digest of request field values.
  var digest: @Sendable ([UInt8]) -> [UInt8]
}

extension ArchivePolicy {
  /// Decides on a request.
  ///
  /// - Parameters:
  ///   - records: What is stored under the request's key.
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

  /// Whether a request has a body that its key does not cover: two such requests may ask for different things under one
  /// URL, so nothing is given to them and nothing is taken from them.
  static func hasUncoveredBody(_ request: CacheRequest, _ options: CacheOptions) -> Bool {
    request.hasBody && !options.isKeyedByBody
  }

  /// What mode and cache policy allow, before anything stored is looked at.
  struct Plan {
    /// The network may be asked.
    var mayLoad = true
    /// What is stored may be given.
    var mayAnswer = true
    /// … whatever its age.
    var anyAge = false
    /// … only after validation.
    var alwaysValidates = false
    var ruling: String?
    /// What it is called when neither will do.
    var refusal = CacheDecision.Action.unavailable
    var asksPastCaches = false
    /// Caches on the way are to validate what they have, too.
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
        // Where nothing that is stored may be given, 504 it is, too.
        if !mayAnswer { (mayAnswer, alwaysValidates) = (true, true) }
      }
    }
  }

  /// What of the stored responses a request is about (RFC 9111, sections 4 and 4.1).
  struct Selection {
    /// The response that matches; of several, the one with the latest `Date`.
    var selected: Int?
    /// Whether there is any response for the method, whatever its `Vary`.
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
    // Section 4.1: where a response leaves Vary out, and a later one does not, the later one's Vary is what the
    // resource means.
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

  /// The response to a `GET` answers a `HEAD` too, unless it is a part; not the other way round.
  static func canAnswer(_ record: CacheRecord, _ method: CacheMethod) -> Bool {
    switch (method, record.method) {
    case (.get, .get): true
    case (.head, .head): true
    case (.head, .get): record.status != 206
    default: false
    }
  }

  /// Whether a response is for a request by its own `Vary`, and for the request's user.
  func matches(_ record: CacheRecord, _ request: CacheRequest, _ memo: inout DigestMemo) -> Bool {
    coversFields(record, of: request, &memo) && isForUser(record, request, &memo)
  }

  /// Whether a response is for a request by its own `Vary` (RFC 9111, section 4.1).
  func coversFields(_ record: CacheRecord, of request: CacheRequest, _ memo: inout DigestMemo) -> Bool {
    switch record.vary {
    case .nothing: true
    case .anything: false
    case .fields(let names): record.requests.contains(memo.digest(of: names, request, digest))
    }
  }

  /// Whether a response that matches goes before another that does: a later one, and a response with `Vary` before one
  /// without.
  private static func isPreferred(_ record: CacheRecord, to other: CacheRecord?) -> Bool {
    guard let other else { return true }
    if (record.vary == .nothing) != (other.vary == .nothing) { return other.vary == .nothing }
    return isLater(record, than: other)
  }

  /// The user of a request, as a keyed digest; `nil` where users are not told apart by cookies.
  func user(of request: CacheRequest) -> RequestDigest? {
    guard let rule = request.userCookies else { return nil }
    let identity = rule.identity(of: request.cookie)
    return identity.isEmpty ? .allAbsent : RequestDigest(digest(Array("user ".utf8) + identity))
  }

  /// Whether a response is for the user of a request.
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

  /// The digests of one request, each made once.
  struct DigestMemo {
    /// The request's user.
    var user: RequestDigest?
    private var names: [String]?
    /// The one that was asked for last.
    private(set) var value = RequestDigest.allAbsent

    mutating func digest(of names: [String], _ request: CacheRequest, _ digest: ([UInt8]) -> [UInt8]) -> RequestDigest {
      if names != self.names {
        self.names = names
        value = request.digest(of: names, digest)
      }
      return value
    }
  }

  /// Whether a stored response may be given as it is, and why.
  struct Verdict {
    var isUsable: Bool
    var isStale = false
    var revalidatesInBackground = false
    var reason: ArchiveReason
  }

  /// Freshness against what response, request, mode and cache policy say (RFC 9111, sections 4.2, 4.2.4 and 5.2.1; RFC
  /// 5861; RFC 8246).
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
    // RFC 9111, section 4.2.3, counts ages from when a response came: a moment that is still to come is none of those.
    if isOfUnknownAge { return needsOrigin(.stale, "clock") }
    if record.directives.isNoCache { return needsOrigin(.needsValidation, "no-cache") }
    if request.directives.isNoCache { return needsOrigin(.request, "no-cache") }
    // RFC 8246, section 2: what never changes while it is fresh is not asked about when it is reloaded.
    if plan.alwaysValidates, !(isFresh && record.directives.isImmutable) { return needsOrigin(.request, plan.ruling) }
    if let minFresh = request.directives.minFresh,
      lifetime.saturating(subtracting: age) < minFresh.saturating(multipliedBy: 1000)
    {
      return needsOrigin(isFresh ? .request : .stale, "min-fresh")
    }
    // How far past what both sides ask for.
    let asked = request.directives.maxAge.map { min(lifetime, $0.saturating(multipliedBy: 1000)) } ?? lifetime
    if isFresh, age <= asked { return Verdict(isUsable: true, reason: reason(.fresh)) }
    if !isFresh, record.directives.isMustRevalidate { return needsOrigin(.stale, "must-revalidate") }
    if let maxStale = request.directives.maxStale,
      age.saturating(subtracting: asked) <= maxStale.saturating(multipliedBy: 1000)
    {
      return Verdict(isUsable: true, isStale: !isFresh, reason: reason(isFresh ? .fresh : .staleAllowed, "max-stale"))
    }
    // Section 5.2.1.1: who says how old it may be does not want a stale one, unless max-stale says so.
    if request.directives.maxAge != nil { return needsOrigin(isFresh ? .request : .stale, "max-age") }
    if isWithin(record.directives.staleWhileRevalidate ?? 0, age, lifetime) {
      return Verdict(
        isUsable: true, isStale: true, revalidatesInBackground: true,
        reason: reason(.staleWhileRevalidate, "stale-while-revalidate"))
    }
    return needsOrigin(.stale)
  }

  /// Whether a response is the very error for which an interceptor before the archive tries the request again.
  func isRetriedError(_ record: CacheRecord, _ request: CacheRequest) -> Bool {
    request.isRetry && record.status >= 400
  }

  /// Whether a response that is stale is so by no more than `seconds`; 0 stands for a directive that is not there.
  func isWithin(_ seconds: Int64, _ age: Int64, _ lifetime: Int64) -> Bool {
    seconds > 0 && age.saturating(subtracting: lifetime) <= seconds.saturating(multipliedBy: 1000)
  }

  /// The form in which a stored response answers a request; `nil` when the origin has to.
  ///
  /// The client's own conditions go first, then its range (RFC 9110, section 13.2.2; RFC 9111, section 4.3.2).
  ///
  /// - Parameter isLastResort: The origin cannot be asked: then something is given where it can be at all.
  static func form(
    of record: CacheRecord, for request: CacheRequest, _ method: CacheMethod, isLastResort: Bool
  ) -> CacheReply.Form? {
    if request.hasOriginConditions, !isLastResort { return nil }
    let isSuccess = (200..<300).contains(record.status)
    if isSuccess, request.hasOwnConditions, isUnmodified(record, request) { return .notModified }
    guard method == .get else { return .whole }
    let whole: CacheReply.Form? = record.isComplete && record.status != 206 ? .whole : nil
    // A range means something for a success alone (RFC 9110, section 14.2).
    guard let range = request.range, record.status == 200 || record.status == 206, holdsIfRange(record, request) else {
      return whole
    }
    // The bytes that are stored are not those of the wire: a range of them would be another one.
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

  /// Whether the client's own copy still holds: `If-None-Match` weakly, or else `If-Modified-Since` (RFC 9110, sections
  /// 13.1.2 and 13.1.3).
  private static func isUnmodified(_ record: CacheRecord, _ request: CacheRequest) -> Bool {
    if let list = request.ifNoneMatch { return EntityTag.list(list, names: record.entityTag) }
    guard let text = request.ifModifiedSince, let since = HTTPDate.seconds(text, now: record.responseTime.seconds)
    else {
      return false
    }
    // Section 4.3.2: where there is no Last-Modified, Date stands for it.
    guard let modified = record.lastModified else { return record.date <= since }
    guard let seconds = HTTPDate.seconds(modified, now: record.responseTime.seconds) else { return false }
    return seconds <= since
  }

  /// Whether `If-Range` leaves the range in force (RFC 9110, section 13.1.5): strong comparison, dates to the letter.
  private static func holdsIfRange(_ record: CacheRecord, _ request: CacheRequest) -> Bool {
    guard let condition = request.ifRange else { return true }
    if let tag = record.entityTag, EntityTag.areStronglyEqual(tag, condition) { return true }
    return record.isLastModifiedStrong && record.lastModified == condition
  }

  /// The head of a response out of the archive.
  ///
  /// - Parameter isValidated: The origin has just said that it holds: then it has an age only if it came with one (RFC
  ///   9111, section 5.1).
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

  /// What a 304 has to carry, and nothing else of the representation's (RFC 9110, section 15.4.5).
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
  /// Its name.
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
