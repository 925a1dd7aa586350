/// What a response's `Cache-Control` says (RFC 9111, section 5.2.2; RFC 5861; RFC 8246).
struct ResponseDirectives: Hashable, Sendable {
  var isNoStore = false
  /// `no-cache` without field names.
  var isNoCache = false
  var isPrivate = false
  var isPublic = false
  var isMustRevalidate = false
  var isProxyRevalidate = false
  var isMustUnderstand = false
  var isImmutable = false
  var maxAge: Seconds = .absent
  var sharedMaxAge: Seconds = .absent
  var staleWhileRevalidate: Int64?
  var staleIfError: Int64?
  /// The names in `no-cache="…"`, in lower case.
  var noCacheFields: [String] = []
  /// The names in `private="…"`, in lower case.
  var privateFields: [String] = []

  /// A number of seconds that may be missing, or be none.
  enum Seconds: Hashable, Sendable {
    case absent
    /// Not a number: the response counts as stale (RFC 9111, section 4.2.1).
    case invalid
    case value(Int64)

    init(_ value: Int64?) {
      self = value.map { .value($0) } ?? .invalid
    }
  }

  init() {}

  init(_ fields: HTTPFields) {
    for field in fields where field.name == .cacheControl {
      var parser = DirectiveParser(field.value)
      while let directive = parser.next() { add(directive) }
    }
  }

  private mutating func add(_ directive: DirectiveParser.Directive) {
    switch directive.name {
    case "no-store": isNoStore = true
    case "must-revalidate": isMustRevalidate = true
    case "proxy-revalidate": isProxyRevalidate = true
    case "must-understand": isMustUnderstand = true
    case "public": isPublic = true
    case "immutable": isImmutable = true
    // A list of names that cannot be read restricts the whole response.
    case "no-cache": if let names = directive.fieldNames { noCacheFields += names } else { isNoCache = true }
    case "private": if let names = directive.fieldNames { privateFields += names } else { isPrivate = true }
    // Section 4.2.1: of several, the first counts.
    case "max-age": if maxAge == .absent { maxAge = Seconds(directive.seconds) }
    case "s-maxage": if sharedMaxAge == .absent { sharedMaxAge = Seconds(directive.seconds) }
    case "stale-while-revalidate": staleWhileRevalidate = staleWhileRevalidate ?? directive.seconds
    case "stale-if-error": staleIfError = staleIfError ?? directive.seconds
    default: break
    }
  }
}
