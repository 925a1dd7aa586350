extension ArchivePolicy {
  /// Decides on a request.
  ///
  /// - Parameters:
  ///   - records: What is stored under the request's key.
  ///   - now: The wall clock.
  package func decide(
    _ request: CacheRequest, records: [CacheRecord], now: CacheTime, options: CacheOptions = CacheOptions()
  ) -> CacheDecision {
    let plan = Plan(request, options)
    let method = options.isKeyedByBody ? .get : request.method
    guard method == .get || method == .head else {
      return plan.mayLoad
        ? CacheDecision(.forward, ArchiveReason(.method)) : CacheDecision(plan.refusal, ArchiveReason(.method))
    }
    guard plan.mayAnswer else {
      return forward(request, plan, ArchiveReason(plan.isMode ? .mode : .request, ruling: plan.ruling))
    }
    let selection = select(request, among: records, method: method, acceptsUnknownVary: !plan.mayLoad)
    guard let selected = selection.selected else {
      let reason = ArchiveReason(
        selection.isAnyStored ? .varyMiss : .miss, ruling: selection.isAnyStored ? "Vary" : nil)
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
      let reason = ArchiveReason(
        record.isComplete ? .request : .partial, ruling: record.isComplete ? "range or condition" : nil)
      guard plan.mayLoad else { return CacheDecision(plan.refusal, reason, selected: selected) }
      return complete(request, record, selected, method, plan, reason)
    }
    let answer = CacheAnswer(index: selected, form: form, isStale: verdict.isStale && options.mode != .replayOnly)
    let isInBackground = verdict.revalidatesInBackground && plan.mayLoad
    var decision = CacheDecision(
      isInBackground ? .serveAndRevalidate(answer) : .serve(answer), verdict.reason, selected: selected)
    if isInBackground {
      Self.addConditions(&decision, records, [selected])
      decision.removedFields = [.ifNoneMatch, .ifModifiedSince, .ifRange, .range]
    }
    return decision
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
    var isMode = false
    var ruling: String?
    /// What it is called when neither will do.
    var refusal = CacheDecision.Action.unavailable
    var asksPastCaches = false

    init(_ request: CacheRequest, _ options: CacheOptions) {
      read(request.cachePolicy)
      switch options.mode {
      case .online: break
      case .preferArchive:
        if mayAnswer, !alwaysValidates, !request.directives.isNoCache { set("preferArchive") { $0.anyAge = true } }
      case .offline, .replayOnly:
        set(options.mode.rawValue) {
          $0.mayLoad = false
          $0.mayAnswer = true
          $0.anyAge = true
          $0.alwaysValidates = false
        }
      case .record: if mayLoad { set("record") { $0.mayAnswer = false } }
      }
      if request.directives.isOnlyIfCached, mayLoad {
        mayLoad = false
        refusal = .gatewayTimeout
        // Nothing that is stored could be given: then 504 it is, too.
        mayAnswer = true
        if isReload { alwaysValidates = true }
      }
    }

    private var isReload = false

    private mutating func set(_ ruling: String, _ change: (inout Plan) -> Void) {
      isMode = true
      self.ruling = ruling
      change(&self)
    }

    private mutating func read(_ policy: URLRequest.CachePolicy) {
      switch policy {
      case .reloadIgnoringLocalCacheData:
        mayAnswer = false
        isReload = true
        ruling = "reloadIgnoringLocalCacheData"
      case .reloadIgnoringLocalAndRemoteCacheData:
        mayAnswer = false
        isReload = true
        asksPastCaches = true
        ruling = "reloadIgnoringLocalAndRemoteCacheData"
      case .returnCacheDataElseLoad:
        anyAge = true
        ruling = "returnCacheDataElseLoad"
      case .returnCacheDataDontLoad:
        anyAge = true
        mayLoad = false
        ruling = "returnCacheDataDontLoad"
      case .reloadRevalidatingCacheData:
        alwaysValidates = true
        ruling = "reloadRevalidatingCacheData"
      default: break
      }
    }
  }
}
