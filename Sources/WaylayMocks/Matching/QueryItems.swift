/// The items of a query in their order, percent-encoded octets decoded. An item without `=` has no value, which differs from an empty one.
struct QueryItems: Sendable, Hashable {
  struct Item: Sendable, Hashable {
    let name: String
    let value: String?
  }

  var items: [Item]

  init(items: [Item]) {
    self.items = items
  }

  /// - Parameter isForm: Whether `+` stands for a space, as it does in forms.
  init(_ text: some StringProtocol, isForm: Bool = false) {
    items = text.split(separator: "&", omittingEmptySubsequences: true).map { part in
      guard let equals = part.firstIndex(of: "=") else { return Item(name: PercentCoding.decoded(part, plusIsSpace: isForm), value: nil) }
      return Item(
        name: PercentCoding.decoded(part[..<equals], plusIsSpace: isForm),
        value: PercentCoding.decoded(part[part.index(after: equals)...], plusIsSpace: isForm))
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
