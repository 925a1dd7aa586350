import Foundation

extension Inspector {
  /// A search query for exchanges.
  ///
  /// ```swift
  /// let query = try Inspector.Query("host:api.example.com status:4xx,5xx -method:get duration:>500ms body:\"not found\"")
  /// for exchange in inspector.exchanges(matching: query) { print(exchange) }
  /// ```
  ///
  /// Terms are separated by spaces, and all of them must match. A term with a leading `-` must not match. Of several
  /// comma-separated values, one must match. Put text with spaces in quotes, with `\"` for a quote; ASCII letters are
  /// case-insensitive.
  ///
  /// | Term | Matches if |
  /// |---|---|
  /// | `users` | the text is in the method, the URL, a header field, the address or the error |
  /// | `host:example.com` | the host is that host or below it; `*` matches any text |
  /// | `status:404` `status:4xx` `status:400-499` `status:>=400` | the status has that value or is in that range |
  /// | `method:post` | the method is that method |
  /// | `type:json` | the text is in the media type of the response |
  /// | `duration:>500ms` `duration:<2s` | it took longer, or less; units: `us`, `ms`, `s` and `min` |
  /// | `size:>100kb` | the response body is larger, or smaller; units: `b`, `kb`, `mb` and `gb`, in steps of 1024 |
  /// | `body:"not found"` | the text is in the kept part of a body |
  /// | `url:text` `header:text` `error:text` | the text is in that part |
  /// | `source:archive` `state:failed` `phase:connecting` | ``Exchange/source``, ``Exchange/state``, ``Exchange/failure`` is that |
  public struct Query: Sendable, Hashable, CustomStringConvertible {
    /// The text of the query.
    public let description: String
    let terms: [Term]

    /// How many bytes a text may have.
    static let longest = 4096

    /// Parses a query. An empty query matches every exchange.
    ///
    /// - Throws: ``QueryError``, which says where the text is invalid and what to write.
    public init(_ text: String) throws(QueryError) {
      guard text.utf8.count <= Self.longest else {
        throw QueryError(at: 0, "the query has \(text.utf8.count) bytes: the limit is \(Self.longest)")
      }
      description = text
      var reader = QueryReader(text)
      terms = try reader.terms()
    }

    /// Returns whether an exchange matches.
    public func matches(_ exchange: Exchange) -> Bool { matches(KeptExchange(exchange.entry, exchange.id.number)) }

    func matches(_ exchange: KeptExchange) -> Bool {
      for term in terms where term.holds(for: exchange) == term.isNegated { return false }
      return true
    }
  }

  /// Why a text is not a valid ``Query``.
  public struct QueryError: Error, Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    LocalizedError
  {
    /// The number of characters before the error.
    public let position: Int
    /// What is invalid there, and what to write.
    public let message: String

    init(at position: Int, _ message: String) {
      self.position = position
      self.message = message
    }

    /// The position and the message.
    public var description: String { "at character \(position + 1): \(message)" }
    /// The same text as the description.
    public var debugDescription: String { description }
    /// The same text as the description.
    public var errorDescription: String? { description }
  }
}

extension Inspector.Query {
  /// One word.
  struct Term: Sendable, Hashable {
    let isNegated: Bool
    let condition: Condition

    func holds(for exchange: KeptExchange) -> Bool { condition.holds(for: exchange) }
  }

  /// What a word asks for.
  enum Condition: Sendable, Hashable {
    case text(Needle)
    case url(Needle)
    case header(Needle)
    case error(Needle)
    case body(Needle)
    case type([Needle])
    case host([HostGlob])
    case method([String])
    case status([ClosedRange<Int>])
    case duration(Comparison)
    case size(Comparison)
    case source([String])
    case state([String])
    case phase([String])
  }

  /// A number that something is compared with.
  struct Comparison: Sendable, Hashable {
    enum Order: Sendable { case less, notMore, more, notLess, equal }
    let order: Order
    let value: Double

    func holds(for other: Double) -> Bool {
      switch order {
      case .less: other < value
      case .notMore: other <= value
      case .more: other > value
      case .notLess: other >= value
      case .equal: other == value
      }
    }
  }
}

extension Inspector.Query.Condition {
  func holds(for exchange: KeptExchange) -> Bool {
    switch self {
    case .text(let needle): needle.isIn(exchange.bytes, exchange.places.texts)
    case .url(let needle): needle.isIn(exchange.bytes, exchange.places.url)
    case .header(let needle): needle.isIn(exchange.bytes, exchange.places.fields)
    case .error(let needle): needle.isIn(exchange.bytes, exchange.places.error)
    case .body(let needle):
      needle.isIn(exchange.bytes, exchange.requestBody.place)
        || needle.isIn(exchange.bytes, exchange.responseBody.place)
    case .type(let needles): needles.contains { $0.isIn(exchange.bytes, exchange.places.mediaType) }
    case .host(let globs): globs.contains { $0.matches(exchange.bytes, exchange.places.host) }
    case .method(let methods):
      // Its end and the URL come after it.
      methods.contains { exchange.places.url.lowerBound == $0.utf8.count + 1 && exchange.bytes.starts(with: $0.utf8) }
    case .status(let ranges): ranges.contains { $0.contains(exchange.status) }
    case .duration(let comparison): comparison.holds(for: exchange.time)
    case .size(let comparison): comparison.holds(for: Double(exchange.responseBody.size))
    case .source(let names): exchange.source.map { names.contains($0.description) } ?? false
    case .state(let names): names.contains(exchange.state.description)
    case .phase(let names): exchange.phase.map { names.contains($0.description) } ?? false
    }
  }
}
