/// The stored metadata of a response. Properties derived from its fields are computed once, and are not stored.
struct CacheRecord: Hashable, Sendable {
  /// The method of the requests that it answers: `.get`, or `.head` for a response without a body.
  var method: CacheMethod
  var status: Int
  /// The fields as served, without connection-specific ones and `Age`. They include one `Date`.
  var fields: HTTPFields

  /// The time of the request whose response was stored, or last freshened the record.
  var requestTime: CacheTime
  /// The arrival of that response.
  var responseTime: CacheTime
  /// `corrected_initial_age` of RFC 9111, section 4.2.3, in milliseconds.
  var initialAge: Int64
  /// The lifetime set by the app.
  let override: LifetimeOverride?
  var flags: Flags = []

  /// Digests of the requests it answers, by `Vary`; newest last.
  var requests: [RequestDigest] = []
  /// Digests of the users it is for, by cookies; newest last, empty for all users.
  var users: [RequestDigest] = []

  /// The stored byte range of the representation; `nil` for the whole.
  var extent: Range<Int64>?
  /// The length of the whole representation, if known.
  var completeLength: Int64?

  // MARK: Derived from the fields

  /// `Date` in seconds since 1970; without it, the arrival of the response (RFC 9110, section 6.6.1).
  let date: Int64
  /// The freshness lifetime in seconds.
  let lifetime: Int64
  let lifetimeSource: LifetimeSource
  /// The directives of `Cache-Control`, except those that the app overrides.
  let directives: ResponseDirectives
  /// `ETag`, raw.
  let entityTag: String?
  /// `Last-Modified`, raw.
  let lastModified: String?
  /// Whether `Last-Modified` is older than `Date` by enough to be a strong validator (RFC 9110, section 8.8.2.2).
  let isLastModifiedStrong: Bool
  let vary: Vary

  struct Flags: OptionSet, Hashable, Sendable {
    var rawValue: UInt16

    /// The resource has changed since, or may have (RFC 9111, sections 4.3.5 and 4.4).
    static let invalidated = Flags(rawValue: 1 << 0)
    /// The transport decoded the body, so byte ranges of the encoded representation do not apply.
    static let decoded = Flags(rawValue: 1 << 1)
    /// The response had cookies, which are not stored.
    static let hadCookies = Flags(rawValue: 1 << 2)
    /// The response must not be reused while the origin can be reached; it is served only offline.
    static let lastResort = Flags(rawValue: 1 << 3)
  }

  /// Makes a record from the fields of a response to store.
  init(
    method: CacheMethod, status: Int, fields: HTTPFields, requestTime: CacheTime, responseTime: CacheTime,
    initialAge: Int64, override: LifetimeOverride?
  ) {
    self.method = method
    self.status = status
    self.fields = fields
    self.requestTime = requestTime
    self.responseTime = responseTime
    self.initialAge = initialAge
    self.override = override
    date = Freshness.date(fields, now: responseTime) ?? responseTime.seconds
    let directives = ResponseDirectives(fields)
    (lifetime, lifetimeSource) = Freshness.lifetime(status, fields, directives, date: date, now: responseTime, override)
    self.directives = lifetimeSource == .forced ? directives.overruled : directives
    entityTag = fields.first(.eTag).flatMap { $0.isEmpty ? nil : $0 }
    lastModified = fields.first(.lastModified).flatMap { $0.isEmpty ? nil : $0 }
    let modified = lastModified.flatMap { HTTPDate.seconds($0, now: responseTime.seconds) }
    isLastModifiedStrong = modified.map { [date] in date.saturating(subtracting: $0) >= 1 } ?? false
    vary = Vary(fields)
  }
}

extension CacheRecord {
  /// Whether the whole representation is stored.
  var isComplete: Bool { extent == nil }

  /// The validator that allows combining parts (RFC 9110, sections 8.8.1 and 13.1.5).
  var strongValidator: String? {
    if let entityTag { return EntityTag.isWeak(entityTag) ? nil : entityTag }
    return isLastModifiedStrong ? lastModified : nil
  }

  /// Whether a stale response must not be served without validation.
  var needsTheOrigin: Bool { directives.isNoCache || directives.isMustRevalidate || flags.contains(.invalidated) }

  /// A copy that requires validation before reuse (RFC 9111, section 4.4).
  func invalidated() -> CacheRecord {
    var copy = self
    copy.flags.insert(.invalidated)
    return copy
  }

  /// Whether the age is unknown: the wall clock was set back after another process stored the response. It then counts
  /// as stale, and the next validation corrects it. Otherwise a clock that once was years ahead would keep the response
  /// fresh for years.
  func isOfUnknownAge(at now: CacheTime) -> Bool { responseTime.isUnplaced(at: now) }

  /// The age in milliseconds at a time: `current_age` of RFC 9111, section 4.2.3.
  func age(at now: CacheTime) -> Int64 {
    initialAge.saturating(adding: now.milliseconds(since: responseTime))
  }

  /// The record for a body that was stored to its end; `nil` if its length contradicts the head.
  ///
  /// A response shorter than its known length is incomplete (RFC 9111, section 3.3): use ``truncated(at:)``.
  func completed(bodyLength: Int64) -> CacheRecord? {
    guard describes(bodyLength: bodyLength) else { return nil }
    var copy = self
    if let extent {
      if extent.lowerBound == 0, extent.upperBound == completeLength { copy.becomeWhole() }
    } else if method != .head {
      copy.completeLength = bodyLength
    }
    return copy
  }

  /// Whether a stored body of that length can belong to this record.
  func describes(bodyLength: Int64) -> Bool {
    if let extent { return extent.upperBound - extent.lowerBound == bodyLength }
    // A response to HEAD states the length of the response to GET.
    if method == .head { return bodyLength == 0 }
    return completeLength == nil || completeLength == bodyLength
  }

  /// The record for a body that broke off after so many bytes; `nil` if the transfer cannot be resumed.
  func truncated(at bytes: Int64) -> CacheRecord? {
    guard bytes > 0, method == .get, status == 200 || status == 206, strongValidator != nil, !flags.contains(.decoded)
    else { return nil }
    let start = extent?.lowerBound ?? 0
    guard bytes <= (extent.map { $0.upperBound - $0.lowerBound } ?? completeLength ?? .max) else { return nil }
    var copy = self
    copy.extent = start..<start.saturating(adding: bytes)
    return copy
  }

  /// Turns a part that is complete into a 200 (RFC 9111, section 3.4).
  mutating func becomeWhole() {
    extent = nil
    status = 200
    fields[values: .contentRange] = []
    if let completeLength { fields[values: .contentLength] = ["\(completeLength)"] }
  }
}

extension CacheRecord {
  /// Human-readable properties of the record: no values of request fields, and no bodies.
  func metadata(at now: CacheTime) -> [(name: String, value: String)] {
    let age = age(at: now) / 1000
    var metadata = [
      ("status", method == .head ? "\(status), head alone" : "\(status)"), ("date", HTTPDate.text(seconds: date)),
      ("age", "\(age) s"), ("lifetime", "\(lifetime) s from \(lifetimeSource)"),
      ("time to live", "\(lifetime.saturating(subtracting: age)) s"),
    ]
    for (name, seconds) in [
      ("stale-while-revalidate", directives.staleWhileRevalidate), ("stale-if-error", directives.staleIfError),
    ] {
      if let seconds, seconds > 0 { metadata.append((name, "\(seconds) s")) }
    }
    let marks = [
      ("no-cache", directives.isNoCache), ("must-revalidate", directives.isMustRevalidate),
      ("immutable", directives.isImmutable), ("invalidated", flags.contains(.invalidated)),
      ("body without its coding", flags.contains(.decoded)),
    ]
    metadata += marks.filter(\.1).map { ("marked", $0.0) }
    if let entityTag { metadata.append(("ETag", entityTag)) }
    if let lastModified { metadata.append(("Last-Modified", lastModified)) }
    switch vary {
    case .nothing: break
    case .fields(let names): metadata.append(("Vary", names.joined(separator: ", ")))
    case .anything: metadata.append(("Vary", "*"))
    }
    if let extent {
      metadata.append(("stored bytes", ContentRange(extent, of: completeLength).value))
    } else if let completeLength {
      metadata.append(("length", "\(completeLength)"))
    }
    return metadata
  }
}

/// The binary form: a version, then variable-length integers and length-prefixed text. The store's checksum detects
/// damage; decoding rejects invalid values.
extension CacheRecord {
  /// The version of the binary form. Other versions are not read.
  private static let version: UInt8 = 3

  /// Whether `bytes` are a record of an earlier version, which is no longer read.
  static func isOutdated(_ bytes: [UInt8]) -> Bool { bytes.first.map { (1..<version).contains($0) } ?? false }

  /// Encodes the record.
  func encoded() -> [UInt8] {
    var writer = ByteSink()
    writer.bytes.reserveCapacity(512)
    writer.put(Self.version)
    writer.put(method.rawValue)
    writer.putCompact(Int64(status))
    writer.putCompact(requestTime.milliseconds)
    writer.putCompact(responseTime.milliseconds)
    writer.putCompact(initialAge)
    writer.putOptional(override) { $0.put($1) }
    writer.putCompact(Int64(flags.rawValue))
    writer.putList(requests) { $0.put($1) }
    writer.putList(users) { $0.put($1) }
    writer.putOptional(extent) {
      $0.putCompact($1.lowerBound)
      $0.putCompact($1.upperBound)
    }
    writer.putOptional(completeLength) { $0.putCompact($1) }
    writer.putList(fields) { $0.put($1) }
    return writer.bytes
  }

  /// Decodes a record; `nil` for another version, invalid values, or excess bytes.
  init?(decoding bytes: [UInt8]) {
    var reader = ByteSource(bytes[...])
    guard reader.number(UInt8.self) == Self.version,
      let method = reader.number(UInt8.self).flatMap(CacheMethod.init(rawValue:)), let status = reader.compactNumber(),
      (200...999).contains(status), let requestTime = reader.compactNumber(), let responseTime = reader.compactNumber(),
      let initialAge = reader.compactNumber(), initialAge >= 0, let override = reader.optional({ $0.override() }),
      let flags = reader.compactNumber().flatMap({ UInt16(exactly: $0) }),
      let requests = reader.list({ $0.digest() }), let users = reader.list({ $0.digest() }),
      let extent = reader.optional({ $0.extent() }), let completeLength = reader.optional({ $0.compactNumber() }),
      completeLength ?? 0 >= 0, let fields = reader.list({ $0.field() }), reader.remaining == 0
    else { return nil }
    self.init(
      method: method, status: Int(status), fields: HTTPFields(fields),
      requestTime: CacheTime(milliseconds: requestTime), responseTime: CacheTime(milliseconds: responseTime),
      initialAge: initialAge, override: override)
    self.flags = Flags(rawValue: flags)
    self.requests = requests
    self.users = users
    self.extent = extent
    self.completeLength = completeLength
  }
}

extension ByteSink {
  fileprivate mutating func put(_ digest: RequestDigest) {
    put(digest.high)
    put(digest.low)
  }

  fileprivate mutating func put(_ override: LifetimeOverride) {
    let (kind, seconds): (UInt8, Int64) =
      switch override {
      case .absent(let seconds): (0, seconds)
      case .forced(let seconds): (1, seconds)
      }
    put(kind)
    putCompact(seconds)
  }
}

extension ByteSource {
  fileprivate mutating func digest() -> RequestDigest? {
    number(UInt64.self).flatMap { high in number(UInt64.self).map { RequestDigest(high: high, low: $0) } }
  }

  fileprivate mutating func override() -> LifetimeOverride? {
    switch number(UInt8.self) {
    case 0: compactNumber().map { .absent($0) }
    case 1: compactNumber().map { .forced($0) }
    default: nil
    }
  }

  fileprivate mutating func extent() -> Range<Int64>? {
    guard let lower = compactNumber(), let upper = compactNumber(), lower >= 0, lower <= upper else { return nil }
    return lower..<upper
  }
}
