/// The properties of a request that the cache rules use.
struct CacheRequest: Sendable {
  let method: CacheMethod
  let url: URL?
  let cachePolicy: URLRequest.CachePolicy
  /// `Range`, for methods that define it (RFC 9110, section 14.2).
  private(set) var range: ByteRange?

  /// The cookies that identify the user; `nil` if the partition does, or cookies do not matter.
  var userCookies: UserCookies?
  /// The raw `Cookie` field.
  var cookie: String?
  /// Whether an interceptor before the archive is retrying the request.
  var isRetry = false
  /// Whether the request has or may have a body.
  var hasBody = false

  private let fields: HTTPFields
  /// `Cache-Control`, all lines joined.
  private(set) var cacheControl: String?
  private var pragma: String?
  private(set) var directives = RequestDirectives()
  private(set) var ifNoneMatch: String?
  private(set) var ifModifiedSince: String?
  private(set) var ifRange: String?
  /// Whether the request has `If-Match` or `If-Unmodified-Since`, which only the origin can evaluate (RFC 9111, section
  /// 4.3.2).
  private(set) var hasOriginConditions = false
  private(set) var hasAuthorization = false

  init(
    method: String, url: URL?, fields: HTTPFields = [:], cachePolicy: URLRequest.CachePolicy = .useProtocolCachePolicy
  ) {
    self.method = CacheMethod(method)
    self.url = url
    self.fields = fields
    self.cachePolicy = cachePolicy
    for field in fields { read(field.name.canonicalName, field.value) }
    if cacheControl != nil || pragma != nil {
      directives = RequestDirectives(cacheControl: cacheControl, pragma: pragma)
    }
  }

  private mutating func read(_ name: String, _ value: String) {
    switch name.utf8.count {
    case 5: if FieldBytes.equal(name, "range"), method == .get { range = ByteRange(value) }
    case 6:
      if FieldBytes.equal(name, "pragma") { pragma = Self.joined(pragma, value) }
      if FieldBytes.equal(name, "cookie") { cookie = cookie.map { $0 + "; " + value } ?? value }
    case 8:
      if FieldBytes.equal(name, "if-match") { hasOriginConditions = true }
      if FieldBytes.equal(name, "if-range") { ifRange = value }
    case 13:
      if FieldBytes.equal(name, "cache-control") { cacheControl = Self.joined(cacheControl, value) }
      if FieldBytes.equal(name, "if-none-match") { ifNoneMatch = Self.joined(ifNoneMatch, value) }
      if FieldBytes.equal(name, "authorization") { hasAuthorization = true }
    case 17: if FieldBytes.equal(name, "if-modified-since") { ifModifiedSince = value }
    case 19: if FieldBytes.equal(name, "if-unmodified-since") { hasOriginConditions = true }
    default: break
    }
  }

  private static func joined(_ before: String?, _ value: String) -> String {
    before.map { $0 + ", " + value } ?? value
  }

  /// Whether the request has conditions that a cache can evaluate.
  var hasOwnConditions: Bool { ifNoneMatch != nil || ifModifiedSince != nil }

  /// Whether the request has any conditions.
  var isConditional: Bool { hasOwnConditions || hasOriginConditions || ifRange != nil }

  /// The value of a field, lines joined; `nil` if the field is absent, which differs from an empty value.
  func value(of name: String) -> String? {
    var joined: String?
    for field in fields where field.name.canonicalName == name { joined = Self.joined(joined, field.value) }
    return joined
  }

  /// The digest of the fields that `Vary` names.
  func digest(of names: [String], _ digest: ([UInt8]) -> [UInt8]) -> RequestDigest {
    var bytes: [UInt8] = []
    var isAnyPresent = false
    for name in names {
      bytes += name.utf8
      if let value = value(of: name) {
        isAnyPresent = true
        let normalized = FieldNormalization.normalized(value, of: name)
        // The length prevents ambiguity between one field's value and the next field's name.
        bytes +=
          [0, UInt8(truncatingIfNeeded: normalized.count), UInt8(truncatingIfNeeded: normalized.count >> 8)]
          + normalized
      } else {
        bytes.append(1)
      }
    }
    return isAnyPresent ? RequestDigest(digest(bytes)) : .allAbsent
  }
}

/// The request methods that the cache rules distinguish.
enum CacheMethod: UInt8, Hashable, Sendable {
  case get = 0
  case head = 1
  case post = 2
  /// A safe method (RFC 9110, section 9.2.1) whose responses are not stored.
  case otherSafe = 3
  /// An unsafe or unknown method: a success invalidates stored responses (RFC 9111, section 4.4).
  case otherUnsafe = 4

  /// - Parameter name: The method in any letter case: the loading system uses upper case.
  init(_ name: String) {
    switch name {
    case "GET": self = .get
    case "HEAD": self = .head
    case "POST": self = .post
    case "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH", "QUERY": self = .otherSafe
    default:
      let upper = name.uppercased()
      self = upper == name ? .otherUnsafe : Self(upper)
    }
  }

  /// Whether the method is safe.
  var isSafe: Bool { self == .get || self == .head || self == .otherSafe }
}

/// The cookies of a request that identify its user.
///
/// Responses for one user only (`private`, and responses that require validation before reuse) are bound to these cookies:
/// a request with other cookies does not get such a response before the origin has validated it. Cookies that count
/// visits, balance load or detect bots change all the time and do not identify a user.
///
/// ```swift
/// configuration.userCookies = .only(["session"])
/// configuration.userCookies = .all(except: ["visit_*"])
/// ```
public struct UserCookies: Hashable, Sendable {
  private var names: [String]
  private var isInverted: Bool

  /// All cookies except the named ones and those that well-known services use for other purposes. A trailing `*`
  /// matches any suffix.
  ///
  /// - Parameter names: Names of cookies, case-sensitive.
  public static func all(except names: [String] = []) -> UserCookies {
    UserCookies(names: names + wellKnown, isInverted: true)
  }

  /// The named cookies only. A trailing `*` matches any suffix.
  public static func only(_ names: [String]) -> UserCookies { UserCookies(names: names, isInverted: false) }

  /// No cookies: the app has one user, or identifies users in ``ArchiveCache/Configuration/partition``.
  public static let none = UserCookies(names: [], isInverted: false)

  /// Cookies of analytics, advertising, load balancing and bot detection.
  private static let wellKnown = [
    "_ga", "_ga_*", "_gid", "_gat", "_gat_*", "_gcl_*", "__gads", "__gpi", "__utm*", "_fbp", "_fbc", "_hj*", "_pk_*",
    "_uet*", "_clck", "_clsk", "mp_*", "ajs_*", "amplitude_*", "AMP_*", "optimizely*", "__hs*", "hubspotutk", "AWSALB",
    "AWSALBCORS", "AWSALBTG", "AWSALBTGCORS", "AWSELB", "AWSELBCORS", "ARRAffinity", "ARRAffinitySameSite",
    "BIGipServer*", "__cf_bm", "__cflb", "_cfuvid", "cf_clearance", "ak_bmsc", "bm_sv", "bm_sz", "bm_mi", "_abck",
    "incap_ses_*", "visid_incap_*", "nlbi_*", "datadome",
  ]

  /// Whether a cookie of that name identifies the user.
  func counts(_ name: some StringProtocol) -> Bool {
    names.contains { $0.hasSuffix("*") ? name.hasPrefix($0.dropLast()) : name == $0 } != isInverted
  }

  /// The identifying cookies of a `Cookie` field, sorted; empty without any.
  func identity(of field: String?) -> [UInt8] {
    guard let field else { return [] }
    let pairs = field.split(separator: ";").compactMap { pair -> [UInt8]? in
      let bytes = pair.utf8.trimmingBlanks
      guard !bytes.isEmpty, counts(String(decoding: bytes.prefix { $0 != FieldBytes.equals }, as: UTF8.self)) else {
        return nil
      }
      return Array(bytes)
    }
    return Array(pairs.sorted { $0.lexicographicallyPrecedes($1) }.joined(separator: [UInt8(ascii: ";")]))
  }

  /// Whether a response sets an identifying cookie.
  func isSet(by fields: HTTPFields) -> Bool {
    fields.contains { field in
      field.name.setsCookie
        && counts(String(decoding: field.value.utf8.prefix { $0 != FieldBytes.equals }, as: UTF8.self))
    }
  }
}

extension HTTPField.Name {
  /// Whether the field sets cookies: `Set-Cookie`, or the obsolete `Set-Cookie2` of RFC 2965.
  var setsCookie: Bool { self == .setCookie || canonicalName == "set-cookie2" }
}

/// The parsed `Vary` field (RFC 9110, section 12.5.5).
enum Vary: Hashable, Sendable {
  /// No `Vary`: the response is for every request.
  case nothing
  /// Field names in lower case, sorted, unique.
  case fields([String])
  /// `*`, or an invalid list: no request is known to match (RFC 9111, section 4.1).
  case anything

  init(_ fields: HTTPFields) {
    var names: Set<String> = []
    for field in fields where field.name == .vary {
      for member in FieldBytes.members(field.value.utf8) {
        guard member.allSatisfy(\.isToken), !member.elementsEqual([FieldBytes.star]) else {
          self = .anything
          return
        }
        names.insert(FieldBytes.name(member))
      }
    }
    self = names.isEmpty ? .nothing : .fields(names.sorted())
  }
}

/// A request's values for the fields of a ``Vary``, as a keyed digest of 16 bytes that does not reveal them.
struct RequestDigest: Hashable, Sendable {
  let high: UInt64
  let low: UInt64

  /// The digest of a request without any of the fields; it needs no computation.
  static let allAbsent = RequestDigest(high: 0, low: 0)
}

extension RequestDigest {
  /// The first 16 bytes of a digest.
  init(_ bytes: [UInt8]) {
    func number(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    self.init(high: number(bytes.prefix(8)), low: number(bytes.dropFirst(8).prefix(8)))
  }
}
