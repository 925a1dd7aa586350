/// What a cache needs to know of a request, read off it once.
package struct CacheRequest: Sendable {
  package let method: CacheMethod
  package let url: URL?
  package let cachePolicy: URLRequest.CachePolicy
  /// `Range`, where the method gives it a meaning (RFC 9110, section 14.2).
  package private(set) var range: ByteRange?

  /// Which cookies say who asks; `nil` where that is known otherwise, or does not count.
  package var userCookies: UserCookies?
  /// `Cookie`, whatever of it counts.
  package var cookie: String?

  private let fields: HTTPFields
  private(set) var directives = RequestDirectives()
  private(set) var ifNoneMatch: String?
  private(set) var ifModifiedSince: String?
  private(set) var ifRange: String?
  /// `If-Match` or `If-Unmodified-Since`: only the origin can say (RFC 9111, section 4.3.2).
  private(set) var hasOriginConditions = false
  private(set) var hasAuthorization = false

  package init(
    method: String, url: URL?, fields: HTTPFields = [:], cachePolicy: URLRequest.CachePolicy = .useProtocolCachePolicy
  ) {
    self.method = CacheMethod(method)
    self.url = url
    self.fields = fields
    self.cachePolicy = cachePolicy
    var controls = Controls()
    for field in fields { read(field.name.canonicalName, field.value, &controls) }
    if controls.cacheControl != nil || controls.pragma != nil {
      directives = RequestDirectives(cacheControl: controls.cacheControl, pragma: controls.pragma)
    }
  }

  private struct Controls {
    var cacheControl: String?
    var pragma: String?
  }

  private mutating func read(_ name: String, _ value: String, _ controls: inout Controls) {
    switch name.utf8.count {
    case 5: if FieldBytes.equal(name, "range"), method == .get { range = ByteRange(value) }
    case 6:
      if FieldBytes.equal(name, "pragma") { controls.pragma = Self.joined(controls.pragma, value) }
      if FieldBytes.equal(name, "cookie") { cookie = cookie.map { $0 + "; " + value } ?? value }
    case 8:
      if FieldBytes.equal(name, "if-match") { hasOriginConditions = true }
      if FieldBytes.equal(name, "if-range") { ifRange = value }
    case 13:
      if FieldBytes.equal(name, "cache-control") { controls.cacheControl = Self.joined(controls.cacheControl, value) }
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

  /// Whether the request brings conditions of its own that a cache may answer.
  var hasOwnConditions: Bool { ifNoneMatch != nil || ifModifiedSince != nil }

  /// The value of a field, several lines joined; `nil` when the request does not have it, which is not the same as an
  /// empty one.
  func value(of name: String) -> String? {
    var joined: String?
    for field in fields where field.name.canonicalName == name { joined = Self.joined(joined, field.value) }
    return joined
  }

  /// The digest of the fields that a response nominates.
  func digest(of names: [String], _ digest: ([UInt8]) -> [UInt8]) -> RequestDigest {
    var bytes: [UInt8] = []
    var isAnyPresent = false
    for name in names {
      bytes += name.utf8
      if let value = value(of: name) {
        isAnyPresent = true
        let normalized = FieldNormalization.normalized(value, of: name)
        // The length keeps one field's value from running into the next one's name.
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
