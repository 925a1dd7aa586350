/// What a response's `Vary` names (RFC 9110, section 12.5.5).
package enum Vary: Hashable, Sendable {
  /// No field: the response is for every request.
  case nothing
  /// Field names in lower case, sorted, each once.
  case fields([String])
  /// `*`, or something that is no list of names: no request is known to match (RFC 9111, section 4.1).
  case anything

  init(_ fields: HTTPFields) {
    var names: Set<String> = []
    for field in fields where field.name == .vary {
      for member in Array(field.value.utf8).split(separator: FieldBytes.comma).map(FieldBytes.trimmed)
      where !member.isEmpty {
        guard member.allSatisfy(FieldBytes.isToken), !member.elementsEqual([FieldBytes.star]) else {
          self = .anything
          return
        }
        names.insert(String(decoding: member.lazy.map(FieldBytes.lowercased), as: UTF8.self))
      }
    }
    self = names.isEmpty ? .nothing : .fields(names.sorted())
  }
}

/// The values that a request has for the fields of a ``Vary``, as a keyed digest: 16 bytes that tell nobody what the
/// values were.
package struct RequestDigest: Hashable, Sendable {
  package var high: UInt64
  package var low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// A request that has none of the fields: needs no key, and no time.
  static let allAbsent = RequestDigest(high: 0, low: 0)

  /// The first 16 bytes of a digest.
  init(_ bytes: [UInt8]) {
    func number(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    self.init(high: number(bytes.prefix(8)), low: number(bytes.dropFirst(8).prefix(8)))
  }
}
