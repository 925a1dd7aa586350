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
    writer.putList(trailers) { $0.put($1) }
    return writer.bytes
  }

  /// The record that `bytes` are the form of; `nil` when they are of another version, damaged, or too many.
  package init?(decoding bytes: [UInt8]) {
    var reader = ByteSource(bytes[...])
    guard reader.number(UInt8.self) == Self.version,
      let method = reader.number(UInt8.self).flatMap(CacheMethod.init(rawValue:)),
      let status = reader.compactNumber(), (200...999).contains(status), let requestTime = reader.compactNumber(),
      let responseTime = reader.compactNumber(),
      let date = reader.compactNumber(), let initialAge = reader.compactNumber(), initialAge >= 0,
      let lifetime = reader.compactNumber(),
      lifetime >= 0,
      let source = reader.number(UInt8.self), let flags = reader.compactNumber(), let rawFlags = UInt16(exactly: flags),
      let staleWhileRevalidate = reader.compactNumber(), let staleIfError = reader.compactNumber(),
      let entityTag = reader.optional({ $0.compactText() }), let lastModified = reader.optional({ $0.compactText() }),
      let vary = Self.vary(&reader),
      let requests = reader.list(Self.digest), let users = reader.list(Self.digest),
      let extent = reader.optional(Self.extent), let completeLength = reader.optional({ $0.compactNumber() }),
      completeLength ?? 0 >= 0,
      let fields = reader.list({ $0.field() }), let trailers = reader.list({ $0.field() }), reader.remaining == 0
    else { return nil }
    self.init(
      method: method, status: Int(status), fields: HTTPFields(fields),
      requestTime: CacheTime(milliseconds: requestTime),
      responseTime: CacheTime(milliseconds: responseTime), date: date,
      lifetime: ArchivePolicy.Lifetime(seconds: lifetime, source: ArchiveReason.LifetimeSource(number: source)))
    self.trailers = HTTPFields(trailers)
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
