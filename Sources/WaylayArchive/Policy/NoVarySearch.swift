import HTTPTypes

/// Insignificant differences between queries, from `No-Vary-Search` (draft-ietf-httpbis-no-vary-search). Values equal
/// to the default are not represented.
struct NoVarySearch: Hashable, Sendable {
  /// Whether the order of the keys is significant.
  private(set) var ordersKeys = true
  /// Whether all parameters except the named ones are insignificant, instead of the named ones.
  private(set) var excusesAll = false
  /// The parameter names, percent-decoded.
  private(set) var names: Set<[UInt8]> = []

  /// The maximum length of a value, since it is stored for each path.
  private static let longest = 4096

  /// - Returns: `nil` if the field is absent, invalid, or equal to the default.
  init?(_ fields: HTTPFields) {
    guard let text = fields[StructuredFields.noVarySearch] else { return nil }
    self.init(text)
  }

  /// - Parameter text: The field's value, lines joined.
  init?(_ text: String) {
    guard text.utf8.count <= Self.longest, let members = StructuredFields.dictionary(text) else { return nil }
    var parameters: StructuredFields.Member?
    var exceptions: StructuredFields.Member?
    for (key, member) in members {
      switch (key, member) {
      case ("key-order", .bool(let isExcused)): ordersKeys = !isExcused
      case ("key-order", _): return nil
      case ("params", _): parameters = member
      case ("except", _): exceptions = member
      default: break
      }
    }
    switch parameters {
    case nil: break
    case .bool(let isAll): excusesAll = isAll
    case .strings(let list): names = Set(list.map(Self.decoded))
    case .other: return nil
    }
    if let exceptions {
      guard excusesAll, case .strings(let list) = exceptions else { return nil }
      names = Set(list.map(Self.decoded))
    }
    guard !ordersKeys || excusesAll || !names.isEmpty else { return nil }
  }

  /// A canonical form of a query: two queries have the same form exactly if `No-Vary-Search` makes them equal.
  func canonical(_ query: some StringProtocol) -> [UInt8] {
    var pairs = Array(query.utf8).split(separator: UInt8(ascii: "&")).map { item -> (name: [UInt8], value: [UInt8]) in
      let name = item.prefix { $0 != FieldBytes.equals }
      return (Self.decoded(name), Self.decoded(item.dropFirst(name.count + 1)))
    }
    pairs.removeAll { names.contains($0.name) != excusesAll }
    // Stable for equal names.
    if !ordersKeys {
      pairs = pairs.enumerated().sorted { left, right in
        left.element.name == right.element.name
          ? left.offset < right.offset : left.element.name.lexicographicallyPrecedes(right.element.name)
      }.map(\.element)
    }
    return Array(
      pairs.map { Self.encoded($0.name) + [FieldBytes.equals] + Self.encoded($0.value) }
        .joined(separator: [UInt8(ascii: "&")]))
  }

  /// A unique text for the value, without spaces and question marks.
  var label: [UInt8] {
    let sorted = names.sorted { $0.lexicographicallyPrecedes($1) }.map(Self.encoded)
    return Array((ordersKeys ? "o" : "-").utf8) + Array((excusesAll ? "*" : "-").utf8)
      + Array(sorted.joined(separator: [FieldBytes.comma]))
  }

  private static func decoded(_ text: String) -> [UInt8] { decoded(Array(text.utf8)[...]) }

  /// Decodes `application/x-www-form-urlencoded`: plus signs, percent-encoding, invalid UTF-8 repaired.
  private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
    Array(String(decoding: Escapes.form.removed(from: text), as: UTF8.self).utf8)
  }

  private static func encoded(_ bytes: [UInt8]) -> [UInt8] {
    bytes.flatMap { byte -> [UInt8] in
      let isPlain = byte.isToken && byte != UInt8(ascii: "%") && byte != UInt8(ascii: "&")
      return isPlain ? [byte] : [UInt8(ascii: "%")] + Array(byte.hexadecimal.utf8)
    }
  }
}
