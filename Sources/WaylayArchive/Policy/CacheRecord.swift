/// What is kept of a stored response beside its body: everything that decisions need, read off its head once, when it
/// is stored or freshened.
package struct CacheRecord: Hashable, Sendable {
  /// The method of the requests that it answers: `.get`, or `.head` for a response without a body.
  package var method: CacheMethod
  package var status: Int
  /// The fields as they are given out, without those that belong to the connection, and without `Age`.
  package var fields: HTTPFields

  /// When the request was sent that the response, or what freshened it last, answered.
  package var requestTime: CacheTime
  /// When that answer came.
  package var responseTime: CacheTime
  /// `Date`, in seconds since 1970; the time of the response where it has none (RFC 9110, section 6.6.1).
  package var date: Int64
  /// The age that it came with: `corrected_initial_age` of RFC 9111, section 4.2.3, in milliseconds.
  package var initialAge: Int64
  /// Seconds.
  package var lifetime: Int64
  package var lifetimeSource: ArchiveReason.LifetimeSource
  package var flags: Flags
  /// Seconds of `stale-while-revalidate`.
  package var staleWhileRevalidate: Int64
  /// Seconds of `stale-if-error`.
  package var staleIfError: Int64

  /// `ETag`, as it was seen.
  package var entityTag: String?
  /// `Last-Modified`, as it was seen.
  package var lastModified: String?
  package var vary: Vary
  /// The requests that it is for, as far as `Vary` tells them apart; the newest last.
  package var requests: [RequestDigest]

  /// The users that it is for, by their cookies; the newest last, and empty for everybody.
  package var users: [RequestDigest]

  /// The bytes of the representation that are stored, from the first; `nil` for all of them.
  package var extent: Range<Int64>?
  /// The length of the whole representation, where it is known.
  package var completeLength: Int64?

  package struct Flags: OptionSet, Hashable, Sendable {
    package var rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Not to be used without validation, however young (`no-cache`).
    package static let noCache = Flags(rawValue: 1 << 0)
    /// Not to be used when stale (`must-revalidate`).
    package static let mustRevalidate = Flags(rawValue: 1 << 1)
    package static let immutable = Flags(rawValue: 1 << 2)
    /// Something since has changed the resource, or may have (RFC 9111, sections 4.3.5 and 4.4).
    package static let invalidated = Flags(rawValue: 1 << 3)
    /// The body is not what was on the wire: its coding has been undone, so that ranges of it mean nothing.
    package static let decoded = Flags(rawValue: 1 << 4)
    /// It came with cookies, which are not stored.
    package static let hadCookies = Flags(rawValue: 1 << 6)
    /// Nothing allows to reuse it; it is kept for when the origin cannot be asked, and given at no other time.
    package static let lastResort = Flags(rawValue: 1 << 7)
    /// `Last-Modified` is old enough, against `Date`, to be a strong validator (RFC 9110, section 8.8.2.2).
    package static let strongLastModified = Flags(rawValue: 1 << 5)
  }

  /// Whether the whole representation is there.
  package var isComplete: Bool { extent == nil }

  /// The validator that allows combining with other parts (RFC 9110, sections 8.8.1 and 13.1.5).
  package var strongValidator: String? {
    if let entityTag { return EntityTag.isWeak(entityTag) ? nil : entityTag }
    return flags.contains(.strongLastModified) ? lastModified : nil
  }

  /// The same, in need of validation before it is used again (RFC 9111, section 4.4).
  package func invalidated() -> CacheRecord {
    var copy = self
    copy.flags.insert(.invalidated)
    return copy
  }

  /// Whether nobody can say how old it is: the clock has been set back since another process stored it. It counts as
  /// stale then, and the origin's next word puts it right; else a clock that was years ahead once would keep it fresh
  /// for years.
  package func isOfUnknownAge(at now: CacheTime) -> Bool { responseTime.isUnplaced(at: now) }

  /// Milliseconds of age at a moment: `current_age` of RFC 9111, section 4.2.3.
  package func age(at now: CacheTime) -> Int64 {
    initialAge.addingSaturating(now.milliseconds(since: responseTime))
  }
}

extension CacheRecord {
  init(
    method: CacheMethod, status: Int, fields: HTTPFields, requestTime: CacheTime, responseTime: CacheTime, date: Int64,
    lifetime: ArchivePolicy.Lifetime
  ) {
    self.method = method
    self.status = status
    self.fields = fields
    self.requestTime = requestTime
    self.responseTime = responseTime
    self.date = date
    initialAge = 0
    self.lifetime = lifetime.seconds
    lifetimeSource = lifetime.source
    flags = []
    staleWhileRevalidate = 0
    staleIfError = 0
    vary = .nothing
    requests = []
    users = []
  }

  /// The record of a whole body that has been stored to its end; `nil` when the body is not as long as the head says.
  ///
  /// A response whose length is known and not reached is incomplete (RFC 9111, section 3.3): ``truncated(at:)`` is for
  /// it.
  package func completed(bodyLength: Int64) -> CacheRecord? {
    var copy = self
    if let extent {
      guard extent.upperBound - extent.lowerBound == bodyLength else { return nil }
      if extent.lowerBound == 0, extent.upperBound == completeLength { copy.becomeWhole() }
      return copy
    }
    // The response to HEAD has the length of what GET would have got.
    if method == .head { return bodyLength == 0 ? self : nil }
    if let completeLength, completeLength != bodyLength { return nil }
    copy.completeLength = bodyLength
    return copy
  }

  /// Whether a stored body of so many bytes can be the one that this record is of.
  package func describes(bodyLength: Int64) -> Bool {
    if let extent { return extent.upperBound - extent.lowerBound == bodyLength }
    if method == .head { return bodyLength == 0 }
    return completeLength == nil || completeLength == bodyLength
  }

  /// The record of a body that broke off after so many bytes of what this record is for; `nil` when the rest could not
  /// be asked for later.
  package func truncated(at bytes: Int64) -> CacheRecord? {
    guard bytes > 0, method == .get, status == 200 || status == 206, strongValidator != nil, !flags.contains(.decoded)
    else { return nil }
    let start = extent?.lowerBound ?? 0
    guard bytes <= (extent.map { $0.upperBound - $0.lowerBound } ?? completeLength ?? .max) else { return nil }
    var copy = self
    copy.extent = start..<start.addingSaturating(bytes)
    return copy
  }

  /// A part that has grown into the whole answers like a 200 (RFC 9111, section 3.4).
  package mutating func becomeWhole() {
    extent = nil
    status = 200
    fields[values: .contentRange] = []
    if let completeLength { fields[values: .contentLength] = ["\(completeLength)"] }
  }
}

/// A moment of the wall clock, in whole milliseconds since 1970: ages are counted in it without rounding and without
/// floating point.
package struct CacheTime: Hashable, Comparable, Sendable {
  /// Milliseconds since the beginning of 1970, UTC.
  package var milliseconds: Int64
  /// The same moment on a clock that nobody sets, in milliseconds since whenever; `nil` for a moment that another
  /// process saw.
  ///
  /// It says how long ago something of this process was when the wall clock has been set back meanwhile. Not part of
  /// what a moment is: two are the same when the wall clock says so.
  package var steady: Int64?

  package init(milliseconds: Int64, steady: Int64? = nil) {
    self.milliseconds = milliseconds
    self.steady = steady
  }

  package init(seconds: Int64) { milliseconds = seconds.multipliedSaturating(by: 1000) }

  package init(_ date: Date) {
    let milliseconds = (date.timeIntervalSince1970 * 1000).rounded(.down)
    self.milliseconds = Int64(exactly: milliseconds) ?? (milliseconds > 0 ? .max : .min)
  }

  /// The clock of the machine.
  package static var now: CacheTime {
    var now = CacheTime(Date())
    now.steady = Int64(clamping: DispatchTime.now().uptimeNanoseconds / 1_000_000)
    return now
  }

  /// The whole seconds since 1970, as an HTTP date has them.
  package var seconds: Int64 {
    let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    return remainder < 0 ? quotient - 1 : quotient
  }

  package var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

  /// Milliseconds since an earlier moment; never less than none, because a clock that was set back does not make
  /// anything younger, and never less than have passed on the steady clock.
  func milliseconds(since earlier: CacheTime) -> Int64 {
    let byWall = max(0, milliseconds.subtractingSaturating(earlier.milliseconds))
    guard let steady, let then = earlier.steady else { return byWall }
    return max(byWall, steady.subtractingSaturating(then))
  }

  /// Whether the moment cannot be placed: the wall clock says that it is still to come, and no steady clock saw it.
  ///
  /// A few seconds are what clocks are adjusted by all the time; they make nobody older or younger than he looks.
  func isUnplaced(at now: CacheTime) -> Bool {
    guard steady == nil || now.steady == nil else { return false }
    return milliseconds.subtractingSaturating(now.milliseconds) > Self.adjustment
  }

  private static let adjustment: Int64 = 5000

  package static func == (left: CacheTime, right: CacheTime) -> Bool { left.milliseconds == right.milliseconds }

  package func hash(into hasher: inout Hasher) { hasher.combine(milliseconds) }

  package static func < (left: CacheTime, right: CacheTime) -> Bool { left.milliseconds < right.milliseconds }
}

extension Int64 {
  // RFC 9111, section 1.2.2: a calculation that overflows gives the greatest number that can be represented.
  func addingSaturating(_ other: Int64) -> Int64 {
    let (sum, isOverflow) = addingReportingOverflow(other)
    return isOverflow ? (other > 0 ? .max : .min) : sum
  }

  func subtractingSaturating(_ other: Int64) -> Int64 {
    let (difference, isOverflow) = subtractingReportingOverflow(other)
    return isOverflow ? (other < 0 ? .max : .min) : difference
  }

  func multipliedSaturating(by other: Int64) -> Int64 {
    let (product, isOverflow) = multipliedReportingOverflow(by: other)
    return isOverflow ? ((self < 0) == (other < 0) ? .max : .min) : product
  }
}

extension CacheRecord {
  /// What the record says, line by line, for people: no values of request fields, and no bodies.
  package func facts(at now: CacheTime) -> [(name: String, value: String)] {
    let age = age(at: now) / 1000
    var facts = [
      ("status", method == .head ? "\(status), head alone" : "\(status)"), ("date", HTTPDate.text(seconds: date)),
      ("age", "\(age) s"), ("lifetime", "\(lifetime) s from \(lifetimeSource)"),
      ("time to live", "\(lifetime.subtractingSaturating(age)) s"),
    ]
    if staleWhileRevalidate > 0 { facts.append(("stale-while-revalidate", "\(staleWhileRevalidate) s")) }
    if staleIfError > 0 { facts.append(("stale-if-error", "\(staleIfError) s")) }
    for (flag, name) in Self.flagNames where flags.contains(flag) { facts.append(("marked", name)) }
    if let entityTag { facts.append(("ETag", entityTag)) }
    if let lastModified { facts.append(("Last-Modified", lastModified)) }
    switch vary {
    case .nothing: break
    case .fields(let names): facts.append(("Vary", names.joined(separator: ", ")))
    case .anything: facts.append(("Vary", "*"))
    }
    if let extent {
      facts.append(("stored bytes", ContentRange(extent, of: completeLength).value))
    } else if let completeLength {
      facts.append(("length", "\(completeLength)"))
    }
    return facts
  }

  private static let flagNames: [(Flags, String)] = [
    (.noCache, "no-cache"), (.mustRevalidate, "must-revalidate"), (.immutable, "immutable"),
    (.invalidated, "invalidated"), (.decoded, "body without its coding"),
  ]
}

/// The record as bytes: a version, then numbers of seven bits a byte and texts with their lengths. Whether the bytes
/// are those that were written is the store's to check, by its checksum; what cannot be a record is refused here.
extension CacheRecord {
  /// The version of the form. Another one is not read.
  private static let version: UInt8 = 2

  /// Whether `bytes` are a record of an earlier version, which knew less of whose a response is and is not read any
  /// more.
  package static func isOutdated(_ bytes: [UInt8]) -> Bool { bytes.first.map { (1..<version).contains($0) } ?? false }

  /// The record as bytes.
  package func encoded() -> [UInt8] {
    var writer = ByteSink()
    writer.bytes.reserveCapacity(512)
    writer.put(Self.version)
    writer.put(method.rawValue)
    writer.putCompact(Int64(status))
    writer.putCompact(requestTime.milliseconds)
    writer.putCompact(responseTime.milliseconds)
    writer.putCompact(date)
    writer.putCompact(initialAge)
    writer.putCompact(lifetime)
    writer.put(lifetimeSource.number)
    writer.putCompact(Int64(flags.rawValue))
    writer.putCompact(staleWhileRevalidate)
    writer.putCompact(staleIfError)
    writer.putOptional(entityTag) { $0.putCompact($1) }
    writer.putOptional(lastModified) { $0.putCompact($1) }
    switch vary {
    case .nothing: writer.put(UInt8(0))
    case .anything: writer.put(UInt8(1))
    case .fields(let names):
      writer.put(UInt8(2))
      writer.putList(names) { $0.putCompact($1) }
    }
    writer.putList(requests) {
      $0.put($1.high)
      $0.put($1.low)
    }
    writer.putList(users) {
      $0.put($1.high)
      $0.put($1.low)
    }
    writer.putOptional(extent) {
      $0.putCompact($1.lowerBound)
      $0.putCompact($1.upperBound)
    }
    writer.putOptional(completeLength) { $0.putCompact($1) }
    writer.putList(fields) { $0.put($1) }
    return writer.bytes
  }

  /// The record that `bytes` are the form of; `nil` when they are of another version, damaged, or too many.
  package init?(decoding bytes: [UInt8]) {
    var reader = ByteSource(bytes[...])
    guard reader.number(UInt8.self) == Self.version,
      let method = reader.number(UInt8.self).flatMap(CacheMethod.init(rawValue:)), let status = reader.compactNumber(),
      (200...999).contains(status), let requestTime = reader.compactNumber(), let responseTime = reader.compactNumber(),
      let date = reader.compactNumber(), let initialAge = reader.compactNumber(), initialAge >= 0,
      let lifetime = reader.compactNumber(), lifetime >= 0, let source = reader.number(UInt8.self),
      let flags = reader.compactNumber(), let rawFlags = UInt16(exactly: flags),
      let staleWhileRevalidate = reader.compactNumber(), let staleIfError = reader.compactNumber(),
      let entityTag = reader.optional({ $0.compactText() }), let lastModified = reader.optional({ $0.compactText() }),
      let vary = Self.vary(&reader), let requests = reader.list(Self.digest), let users = reader.list(Self.digest),
      let extent = reader.optional(Self.extent), let completeLength = reader.optional({ $0.compactNumber() }),
      completeLength ?? 0 >= 0, let fields = reader.list({ $0.field() }), reader.remaining == 0
    else { return nil }
    self.init(
      method: method, status: Int(status), fields: HTTPFields(fields),
      requestTime: CacheTime(milliseconds: requestTime),
      responseTime: CacheTime(milliseconds: responseTime), date: date,
      lifetime: ArchivePolicy.Lifetime(seconds: lifetime, source: ArchiveReason.LifetimeSource(number: source)))
    self.initialAge = initialAge
    self.flags = Flags(rawValue: rawFlags)
    self.staleWhileRevalidate = staleWhileRevalidate
    self.staleIfError = staleIfError
    self.entityTag = entityTag
    self.lastModified = lastModified
    self.vary = vary
    self.requests = requests
    self.users = users
    self.extent = extent
    self.completeLength = completeLength
  }

  private static func digest(_ reader: inout ByteSource) -> RequestDigest? {
    reader.number(UInt64.self).flatMap { high in reader.number(UInt64.self).map { RequestDigest(high: high, low: $0) } }
  }

  private static func vary(_ reader: inout ByteSource) -> Vary? {
    switch reader.number(UInt8.self) {
    case 0: .nothing
    case 1: .anything
    case 2: reader.list { $0.compactText() }.map { .fields($0) }
    default: nil
    }
  }

  private static func extent(_ reader: inout ByteSource) -> Range<Int64>? {
    guard let lower = reader.compactNumber(), let upper = reader.compactNumber(), lower >= 0, lower <= upper else {
      return nil
    }
    return lower..<upper
  }
}
