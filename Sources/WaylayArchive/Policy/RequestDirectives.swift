/// What a request's `Cache-Control` says (RFC 9111, section 5.2.1; RFC 5861, section 4).
struct RequestDirectives: Hashable, Sendable {
  var isNoStore = false
  var isNoCache = false
  var isOnlyIfCached = false
  /// Seconds; 0 where there is something that is no number, which is what asks for most.
  var maxAge: Int64?
  var minFresh: Int64?
  /// Seconds of staleness that are welcome; `.max` for any.
  var maxStale: Int64?
  var staleIfError: Int64?

  init() {}

  /// - Parameters:
  ///   - cacheControl: The value of `Cache-Control`, several lines joined; `nil` when there is none.
  ///   - pragma: The value of `Pragma`. It counts only without a `Cache-Control` (RFC 9111, section 5.4).
  init(cacheControl: String?, pragma: String?) {
    guard let cacheControl else {
      if let pragma {
        var parser = DirectiveParser(pragma)
        while let directive = parser.next() {
          if directive.name == "no-cache" { isNoCache = true }
        }
      }
      return
    }
    var parser = DirectiveParser(cacheControl)
    while let directive = parser.next() { add(directive) }
  }

  private mutating func add(_ directive: DirectiveParser.Directive) {
    switch directive.name {
    case "no-store": isNoStore = true
    case "no-cache": isNoCache = true
    case "only-if-cached": isOnlyIfCached = true
    case "max-age": maxAge = maxAge ?? directive.seconds ?? 0
    case "min-fresh": minFresh = minFresh ?? directive.seconds
    case "max-stale":
      if directive.argument == nil { maxStale = maxStale ?? .max } else { maxStale = maxStale ?? directive.seconds }
    case "stale-if-error": staleIfError = staleIfError ?? directive.seconds
    default: break
    }
  }
}
