import HTTPTypes

/// Structured fields (RFC 9651), as far as caches read and write them. Without the trait `StructuredFields`, no field is read
/// or written.
enum StructuredFields {
  // Names of letters and hyphens are field names.
  static let noVarySearch = HTTPField.Name("No-Vary-Search")!
  static let cacheGroups = HTTPField.Name("Cache-Groups")!
  static let cacheGroupInvalidation = HTTPField.Name("Cache-Group-Invalidation")!
  static let cacheStatus = HTTPField.Name("Cache-Status")!

  /// A member of a dictionary, without its parameters.
  enum Member {
    case bool(Bool)
    case strings([String])
    case other
  }
}

#if StructuredFields
  import RawStructuredFieldValues

  extension StructuredFields {
    /// The members of a dictionary; `nil` when it cannot be read.
    static func dictionary(_ text: String) -> [(key: String, member: Member)]? {
      var parser = StructuredFieldValueParser(Array(text.utf8))
      guard let dictionary = try? parser.parseDictionaryFieldValue() else { return nil }
      return dictionary.map { key, value in
        switch value {
        case .item(let item): if case .bool(let value) = item.rfc9651BareItem { return (key, .bool(value)) }
        case .innerList(let list): if let strings = strings(list.bareInnerList) { return (key, .strings(strings)) }
        }
        return (key, .other)
      }
    }

    /// A list of strings; none where the field is not there, cannot be read, or has anything else in it.
    static func strings(_ fields: HTTPFields, _ name: HTTPField.Name) -> [String] {
      guard let text = fields[name] else { return [] }
      var parser = StructuredFieldValueParser(Array(text.utf8))
      guard let list = try? parser.parseListFieldValue() else { return [] }
      let items = list.compactMap { member -> Item? in if case .item(let item) = member { item } else { nil } }
      return items.count == list.count ? strings(items) ?? [] : []
    }

    private static func strings(_ items: some Sequence<Item>) -> [String]? {
      var strings: [String] = []
      for item in items {
        guard case .string(let text) = item.rfc9651BareItem else { return nil }
        strings.append(text)
      }
      return strings
    }

    /// One member of a list: an item with its parameters. Empty where it cannot be written.
    static func member(_ item: RFC9651BareItem, _ parameters: OrderedMap<String, RFC9651BareItem>) -> String {
      var serializer = StructuredFieldValueSerializer()
      let bytes = try? serializer.writeListFieldValue([.item(Item(bareItem: item, parameters: parameters))])
      return bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// A token where the text is one, else a string of what a string may have: printable ASCII (RFC 9651, section 3.3.3).
    static func tokenOrString(_ text: String) -> RFC9651BareItem {
      let token: RFC9651BareItem = .token(text)
      guard member(token, OrderedMap()).isEmpty else { return token }
      return .string(String(String.UnicodeScalarView(text.unicodeScalars.map { (" "..."~").contains($0) ? $0 : "?" })))
    }
  }
#else
  extension StructuredFields {
    static func dictionary(_ text: String) -> [(key: String, member: Member)]? { nil }
    static func strings(_ fields: HTTPFields, _ name: HTTPField.Name) -> [String] { [] }
  }
#endif

/// Cache groups (RFC 9875): responses of one origin that go together, kept as tags that only the archive sees.
enum CacheGroups {
  /// No tag of an app's begins so.
  private static let mark: Character = "\u{0}"
  /// More than the 32 that have to be supported; the rest is ignored.
  private static let most = 128

  static func isGroup(_ tag: String) -> Bool { tag.first == mark }

  /// The groups that a response belongs to, or, by the other field, those that one to an unsafe request invalidates.
  static func tags(
    _ fields: HTTPFields, _ name: HTTPField.Name = StructuredFields.cacheGroups, of url: URL
  ) -> Set<String> {
    let groups = StructuredFields.strings(fields, name)
    guard !groups.isEmpty else { return [] }
    let address = KeyText(url).text
    // Scheme and authority: up to the third slash.
    var slashes = 0
    let origin = address.prefix { character in
      if character == "/" { slashes += 1 }
      return slashes < 3
    }
    return Set(groups.prefix(most).map { "\(mark)\(origin) \($0)" })
  }
}

extension EntryDetails {
  /// The tags that the app sees.
  package var ownTags: Set<String> { tags.filter { !CacheGroups.isGroup($0) } }
}
