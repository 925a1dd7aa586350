/// The record as bytes: a version, then numbers of seven bits a byte and texts with their lengths. Whether the bytes are those that were
/// written is the store's to check, by its checksum; what cannot be a record is refused here.
extension CacheRecord {
  /// The version of the form. Another one is not read.
  private static let version: UInt8 = 2

  /// Whether `bytes` are a record of an earlier version, which knew less of whose a response is and is not read any more.
  package static func isOutdated(_ bytes: [UInt8]) -> Bool { bytes.first.map { (1..<version).contains($0) } ?? false }

  /// The record as bytes.
  package func encoded() -> [UInt8] {
    var writer = RecordWriter()
    writer.byte(Self.version)
    writer.byte(method.rawValue)
    writer.number(Int64(status))
    writer.number(requestTime.milliseconds)
    writer.number(responseTime.milliseconds)
    writer.number(date)
    writer.number(initialAge)
    writer.number(lifetime)
    writer.byte(lifetimeSource.number)
    writer.number(Int64(flags.rawValue))
    writer.number(staleWhileRevalidate)
    writer.number(staleIfError)
    writer.optional(entityTag) { $0.text($1) }
    writer.optional(lastModified) { $0.text($1) }
    switch vary {
    case .nothing: writer.byte(0)
    case .anything: writer.byte(1)
    case .fields(let names):
      writer.byte(2)
      writer.list(names) { $0.text($1) }
    }
    writer.list(requests) {
      $0.fixed($1.high)
      $0.fixed($1.low)
    }
    writer.list(users) {
      $0.fixed($1.high)
      $0.fixed($1.low)
    }
    writer.optional(extent) {
      $0.number($1.lowerBound)
      $0.number($1.upperBound)
    }
    writer.optional(completeLength) { $0.number($1) }
    writer.list(fields) { $0.field($1) }
    writer.list(trailers) { $0.field($1) }
    return writer.bytes
  }

  /// The record that `bytes` are the form of; `nil` when they are of another version, damaged, or too many.
  package init?(decoding bytes: [UInt8]) {
    var reader = RecordReader(bytes)
    guard reader.byte() == Self.version, let method = reader.byte().flatMap(CacheMethod.init(rawValue:)),
      let status = reader.number(), (200...999).contains(status), let requestTime = reader.number(), let responseTime = reader.number(),
      let date = reader.number(), let initialAge = reader.number(), initialAge >= 0, let lifetime = reader.number(), lifetime >= 0,
      let source = reader.byte(), let flags = reader.number(), let rawFlags = UInt16(exactly: flags),
      let staleWhileRevalidate = reader.number(), let staleIfError = reader.number(),
      let entityTag = reader.optional({ $0.text() }), let lastModified = reader.optional({ $0.text() }), let vary = Self.vary(&reader),
      let requests = reader.list(Self.digest), let users = reader.list(Self.digest),
      let extent = reader.optional(Self.extent), let completeLength = reader.optional({ $0.number() }), completeLength ?? 0 >= 0,
      let fields = reader.list({ $0.field() }), let trailers = reader.list({ $0.field() }), reader.isAtEnd
    else { return nil }
    self.init(
      method: method, status: Int(status), fields: HTTPFields(fields), requestTime: CacheTime(milliseconds: requestTime),
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

  private static func digest(_ reader: inout RecordReader) -> RequestDigest? {
    reader.fixed().flatMap { high in reader.fixed().map { RequestDigest(high: high, low: $0) } }
  }

  private static func vary(_ reader: inout RecordReader) -> Vary? {
    switch reader.byte() {
    case 0: .nothing
    case 1: .anything
    case 2: reader.list { $0.text() }.map { .fields($0) }
    default: nil
    }
  }

  private static func extent(_ reader: inout RecordReader) -> Range<Int64>? {
    guard let lower = reader.number(), let upper = reader.number(), lower >= 0, lower <= upper else { return nil }
    return lower..<upper
  }
}
