/// The items of a query or a form in their order, percent-encoded octets decoded; `+` stands for a space (WHATWG URL,
/// section 5.1). An item without `=` has no value, which differs from an empty one.
struct QueryItems: Sendable, Hashable {
  struct Item: Sendable, Hashable {
    let name: String
    let value: String?
    /// The value as it was written, where that says in which way a space or a plus sign was.
    let written: String?

    init(name: String, value: String?, written: String? = nil) {
      self.name = name
      self.value = value
      self.written = written
    }

    static func == (one: Item, other: Item) -> Bool { one.name == other.name && one.value == other.value }

    func hash(into hasher: inout Hasher) {
      hasher.combine(name)
      hasher.combine(value)
    }
  }

  var items: [Item]

  init(items: [Item]) {
    self.items = items
  }

  init(_ text: some StringProtocol) {
    items = text.split(separator: "&", omittingEmptySubsequences: true).map { part in
      guard let equals = part.firstIndex(of: "=") else {
        return Item(name: PercentCoding.decoded(part, plusIsSpace: true), value: nil)
      }
      let written = part[part.index(after: equals)...]
      let isTelling = written.utf8.contains(UInt8(ascii: "+")) || written.contains("%2B") || written.contains("%2b")
      return Item(
        name: PercentCoding.decoded(part[..<equals], plusIsSpace: true),
        value: PercentCoding.decoded(written, plusIsSpace: true),
        written: isTelling ? String(written) : nil)
    }
  }

  /// The values of a name, in their order.
  func values(of name: String) -> [String?] {
    items.filter { $0.name == name }.map(\.value)
  }

  /// The same items by name, those of one name in their order.
  var sortedByName: QueryItems {
    guard items.count > 1 else { return self }
    return QueryItems(
      items: items.enumerated()
        .sorted { $0.element.name == $1.element.name ? $0.offset < $1.offset : $0.element.name < $1.element.name }
        .map(\.element))
  }

  func contains(_ name: String) -> Bool { items.contains { $0.name == name } }
}

extension QueryItems.Item: CustomStringConvertible {
  var description: String { value.map { "\(name)=\($0)" } ?? name }
}
