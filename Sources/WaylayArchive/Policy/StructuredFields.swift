import HTTPTypes

/// Structured fields (RFC 9651) for caching. Without the trait `StructuredFields`, they are neither read nor written.
enum StructuredFields {
  // Names of letters and hyphens are valid field names.
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
    /// The members of a dictionary; `nil` if it is invalid.
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

    /// A list of strings; empty if the field is absent, invalid, or has other members.
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

    /// Serializes one list member: an item with its parameters. Empty if it cannot be serialized.
    static func member(_ item: RFC9651BareItem, _ parameters: OrderedMap<String, RFC9651BareItem>) -> String {
      var serializer = StructuredFieldValueSerializer()
      let bytes = try? serializer.writeListFieldValue([.item(Item(bareItem: item, parameters: parameters))])
      return bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// A token if the text is valid as one, otherwise a string with non-ASCII characters replaced (RFC 9651, section
    /// 3.3.3).
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

/// Cache groups (RFC 9875): related responses of one origin, represented as tags that the app does not see.
enum CacheGroups {
  /// Marks tags of groups; an app's tags never begin with it.
  private static let mark: Character = "\u{0}"
  /// The maximum number of groups, of which at least 32 are required; further ones are ignored.
  private static let most = 128

  static func isGroup(_ tag: String) -> Bool { tag.first == mark }

  /// The groups that a field names: by default those of a response, with `Cache-Group-Invalidation` those to
  /// invalidate.
  static func tags(
    _ fields: HTTPFields, _ name: HTTPField.Name = StructuredFields.cacheGroups, of url: URL
  ) -> Set<String> {
    let groups = StructuredFields.strings(fields, name)
    guard !groups.isEmpty else { return [] }
    let address = KeyText(url).text
    // Scheme and authority end at the third slash.
    var slashes = 0
    let origin = address.prefix { character in
      if character == "/" { slashes += 1 }
      return slashes < 3
    }
    return Set(groups.prefix(most).map { "\(mark)\(origin) \($0)" })
  }
}

extension EntryDetails {
  /// The tags set by the app.
  package var ownTags: Set<String> { tags.filter { !CacheGroups.isGroup($0) } }
}
