import Foundation

/// The key of a request's responses, and their URL in listings.
///
/// The text of a key consists of the method, a digest of the body if it is part of the key, a digest of the credentials
/// if they are part of the key, and the ``Resource``, which all users share, separated by spaces.
struct RequestKey: Sendable {
  let key: ArchiveKey
  /// The URL shown when the archive is listed.
  let listedURL: String
  /// Request fields to ignore in `Vary`, in lower case.
  let ignoredFields: Set<String>

  /// Whether ``ArchiveCache/Configuration/partition`` identifies the user; cookies are then ignored.
  let isAttributed: Bool
  /// Whether credentials are part of the key.
  let splitsByCredentials: Bool
  let resource: Resource
  private let prefix: String

  /// - Parameters:
  ///   - request: The request.
  ///   - body: The body, if it is part of the key.
  ///   - challenge: The answered challenge, if `Authorization` comes from one.
  init(
    _ request: InterceptedRequest, body: Data?, challenge: AnsweredChallenge? = nil,
    _ configuration: ArchiveCache.Configuration, digest: @escaping @Sendable ([UInt8]) -> [UInt8]
  ) {
    // Treat an empty name like `nil`.
    let partition = configuration.partition?(request.urlRequest).flatMap { $0.isEmpty ? nil : $0 }
    isAttributed = partition != nil
    splitsByCredentials = configuration.partitionsByAuthorization ?? (partition == nil)
    let url = request.url
    let rules = configuration.keys.isEmpty ? [] : configuration.keys.filter { $0.scope.covers(url) }
    let address = KeyText(url, rules: rules)
    var prefix = "GET  "
    if let body {
      // The body's metadata is part of the query (RFC 10008, section 2.7).
      let metadata = Self.bodyFields.map { request.fields[$0] ?? "" }.joined(separator: "\u{0}")
      prefix =
        "\(request.method.rawValue.uppercased()) "
        + digest(Array(metadata.utf8) + [0] + Array(body)).hexadecimal + " "
    }
    ignoredFields = rules.isEmpty ? [] : Set(rules.flatMap(\.fields))
    if splitsByCredentials,
      let credentials = Self.credentials(of: request, userInfo: address.userInfo, challenge, except: ignoredFields)
    {
      // Keys are written to disk, so use a digest; half of it suffices to distinguish users.
      prefix += digest(Array(credentials.utf8)).prefix(16).hexadecimal
    }
    self.prefix = prefix + " "
    resource = Resource(
      address.text, own: configuration.keyFor?(request.urlRequest),
      digest: configuration.keepsQueryValues ? nil : digest)
    listedURL = configuration.keepsQueryValues ? address.text : url.redacted
    key = ArchiveKey(
      bytes: Array(self.prefix.utf8) + resource.text, partition: partition.map { ArchivePartition($0) } ?? .shared)
  }

  /// The key shared with URLs that differ only in the way that `variance` allows.
  func key(under variance: NoVarySearch) -> ArchiveKey? { shared(resource.shared(under: variance)) }

  /// The key of the note with `No-Vary-Search` values for the URL's path; see ``SearchVariances``.
  var variancesKey: ArchiveKey? { shared(resource.path.map { $0 + Array(" *".utf8) }) }

  private func shared(_ text: [UInt8]?) -> ArchiveKey? {
    text.map { ArchiveKey(bytes: Array(prefix.utf8) + $0, partition: key.partition) }
  }

  private static let bodyFields: [HTTPField.Name] = [
    .contentType, .contentEncoding, .contentLanguage, .contentLocation,
  ]

  /// Whether the body is part of the key: for `QUERY`, and for methods named by a rule.
  static func wantsBody(_ request: InterceptedRequest, _ configuration: ArchiveCache.Configuration) -> Bool {
    let method = request.method.rawValue.uppercased()
    return method == "QUERY"
      || configuration.keys.contains { $0.bodyMethods.contains(method) && $0.scope.covers(request.url) }
  }

  private static func credentials(
    of request: InterceptedRequest, userInfo: String?, _ challenge: AnsweredChallenge?, except ignored: Set<String>
  ) -> String? {
    let custom = request.fields.filter { field in
      let name = field.name.canonicalName
      return CredentialNames.kind(of: field.name.rawName) == .stable && !CredentialNames.standard.contains(name)
        && !ignored.contains(name)
    }.map { "\($0.name.canonicalName):\($0.value)" }
    // Use the credentials themselves for an answered challenge: Digest writes them differently each time, and the URL's
    // user info is the same.
    let fields: [String?] =
      challenge.map { ["challenge", $0.user, $0.password] }
      ?? [request.fields[.authorization], request.fields[.proxyAuthorization], userInfo]
    guard !custom.isEmpty || fields.contains(where: { $0 != nil }) else { return nil }
    return (fields.map { $0 ?? "" } + custom.sorted()).joined(separator: "\u{0}")
  }
}

/// A resource independent of the user: the URL under the archive's key rules, or a custom key.
struct Resource: Sendable {
  /// The text in keys.
  let text: [UInt8]
  /// The URL without its query, for `No-Vary-Search`; `nil` for a custom key.
  let path: [UInt8]?
  private let query: Substring
  private let digest: (@Sendable ([UInt8]) -> [UInt8])?

  /// - Parameters:
  ///   - address: The URL's text.
  ///   - own: The custom key, which replaces the URL.
  ///   - digest: Digests query values; `nil` keeps them readable.
  init(_ address: String, own: String?, digest: (@Sendable ([UInt8]) -> [UInt8])?) {
    self.digest = digest
    // Scan bytes: iterating over the characters of a URL takes a microsecond.
    let mark = address.utf8.firstIndex(of: UInt8(ascii: "?")) ?? address.endIndex
    let before = address[..<mark]
    query = mark == address.endIndex ? "" : address[address.utf8.index(after: mark)...]
    if let own {
      // A space ends the resource in a key.
      let escaped = own.replacingOccurrences(of: "%", with: "%25").replacingOccurrences(of: " ", with: "%20")
      (text, path) = (Array(("=" + escaped).utf8), nil)
    } else {
      path = Array(before.utf8)
      if let digest, mark != address.endIndex {
        text = Array((before + "?" + digest(Array(address.utf8)).hexadecimal).utf8)
      } else {
        text = Array(address.utf8)
      }
    }
  }

  /// The text shared by URLs that `variance` makes equal; it is never equal to the text of a URL.
  func shared(under variance: NoVarySearch) -> [UInt8]? {
    guard let path else { return nil }
    var canonical = variance.canonical(query)
    if let digest { canonical = Array(digest(canonical).hexadecimal.utf8) }
    return path + Array(" ".utf8) + variance.label + Array("?".utf8) + canonical
  }

  /// Whether an entry belongs to this resource: stored for its URL, or for one that `No-Vary-Search` makes equal.
  func matches(_ entry: StoredEntry) -> Bool {
    let stored = entry.key.text
    if stored.elementsEqual(text) { return true }
    guard let path, stored.count > path.count, stored.starts(with: path + Array(" ".utf8)),
      let variance = CacheRecord(decoding: entry.head).flatMap({ NoVarySearch($0.fields) })
    else { return false }
    return shared(under: variance).map { stored.elementsEqual($0) } ?? false
  }
}

/// The `No-Vary-Search` values of responses for a path, stored as an entry without a body under a separate key, so that
/// a lookup knows the shared keys of a URL. If the note is lost, responses are not shared until the next one is stored.
enum SearchVariances {
  fileprivate static let version: UInt8 = 0xFF
  /// Servers should use the same value for all responses of a path, so keep the latest few.
  private static let most = 4

  static func decoded(_ entries: [StoredEntry]) -> [NoVarySearch] { texts(entries).compactMap { NoVarySearch($0) } }

  private static func texts(_ entries: [StoredEntry]) -> [String] {
    entries.reversed().flatMap { entry -> [String] in
      var source = ByteSource(entry.head[...])
      guard source.number(UInt8.self) == version else { return [] }
      var texts: [String] = []
      while texts.count < most, let text = source.text() { texts.append(text) }
      return texts
    }
  }

  /// Encodes the note's head, with `text` as the newest value.
  static func head(_ entries: [StoredEntry], adding text: String) -> [UInt8] {
    var sink = ByteSink()
    sink.put(version)
    for text in [text] + texts(entries).filter({ $0 != text }).prefix(most - 1) { sink.put(text) }
    return sink.bytes
  }
}

extension StoredEntry {
  /// Whether the entry is a note of the archive instead of a response; see ``SearchVariances``.
  package var isNote: Bool { head.first == SearchVariances.version }
}

/// A URL normalized for comparison.
struct KeyText: Sendable {
  /// Scheme and host in lower case, no default port, no user info, no fragment, a path.
  let text: String
  /// The user info, which is a credential.
  let userInfo: String?

  /// - Parameters:
  ///   - url: The URL.
  ///   - rules: The rules that apply to it.
  init(_ url: URL, rules: [KeyRule] = []) {
    let string = url.absoluteString
    guard !rules.isEmpty || !Self.isNormal(string), let colon = string.utf8.firstIndex(of: UInt8(ascii: ":")),
      string.utf8[colon...].starts(with: "://".utf8)
    else {
      (text, userInfo) = (string, nil)
      return
    }
    let scheme = string.utf8[..<colon].map(\.lowercased)
    var key = scheme + Array("://".utf8)
    let rest = Array(string.utf8[colon...].dropFirst(3))
    let end =
      rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? rest.endIndex
    var authority = rest[..<end]
    let at = authority.lastIndex(of: UInt8(ascii: "@"))
    userInfo = at.map { String(decoding: authority[..<$0], as: UTF8.self) }
    if let at { authority = authority[(at + 1)...] }
    key += Self.withoutDefaultPort(authority, scheme: scheme).map(\.lowercased)
    let target = rest[end...].prefix { $0 != UInt8(ascii: "#") }
    if target.first != UInt8(ascii: "/") { key.append(UInt8(ascii: "/")) }
    key += rules.contains { $0.sortsQuery || !$0.queryItems.isEmpty } ? Self.edited(target, rules) : Array(target)
    text = String(decoding: key, as: UTF8.self)
  }

  /// Whether a URL is already normalized, as most are: its text is then the key.
  private static func isNormal(_ string: String) -> Bool {
    // 0: scheme; 1 and 2: slashes; 3: authority; 4: path and later parts.
    var part = 0
    for byte in string.utf8 {
      switch (part, byte) {
      case (0, UInt8(ascii: ":")): part = 1
      case (1...2, UInt8(ascii: "/")): part += 1
      case (1...2, _): return false
      case (3, UInt8(ascii: "/")): part = 4
      case (3, UInt8(ascii: "@")), (3, UInt8(ascii: ":")), (3, UInt8(ascii: "?")): return false
      case (0...3, UInt8(ascii: "A")...UInt8(ascii: "Z")): return false
      case (_, UInt8(ascii: "#")): return false
      default: continue
      }
    }
    return part == 4
  }

  private static func withoutDefaultPort(_ authority: ArraySlice<UInt8>, scheme: [UInt8]) -> ArraySlice<UInt8> {
    guard let colon = authority.lastIndex(of: UInt8(ascii: ":")) else { return authority }
    let port = authority[(colon + 1)...]
    let isDefault =
      port.isEmpty || scheme == Array("http".utf8) && port.elementsEqual("80".utf8)
      || scheme == Array("https".utf8) && port.elementsEqual("443".utf8)
    return isDefault ? authority[..<colon] : authority
  }

  private static func edited(_ target: ArraySlice<UInt8>, _ rules: [KeyRule]) -> [UInt8] {
    guard let mark = target.firstIndex(of: UInt8(ascii: "?")) else { return Array(target) }
    var items = String(decoding: target[(mark + 1)...], as: UTF8.self).split(
      separator: "&", omittingEmptySubsequences: false)
    items.removeAll { item in
      let name = item.prefix { $0 != "=" }
      return rules.contains { $0.ignores(queryItem: name) }
    }
    if rules.contains(where: \.sortsQuery) { items.sort() }
    return Array(target[..<mark]) + (items.isEmpty ? [] : Array(("?" + items.joined(separator: "&")).utf8))
  }
}

/// A rule that decides whether two requests share an entry.
///
/// ```swift
/// configuration.keys = [
///   .ignoringQueryItems(["utm_*", "signature", "expires"]),
///   .ignoringFields(["User-Agent"], for: .host("api.example.com")),
///   .byBody(for: .host("api.example.com").path("/graphql")),
/// ]
/// ```
///
/// All rules whose scope covers a request apply together. For custom keys, see ``ArchiveCache/Configuration/keyFor``.
public struct KeyRule: Sendable {
  let scope: InterceptorChain.Scope
  var queryItems: [String] = []
  var fields: [String] = []
  var bodyMethods: Set<String> = []
  var sortsQuery = false

  /// Ignores query items, such as random numbers, signatures and campaign names. A trailing `*` matches any suffix.
  ///
  /// The entry for such a key holds the response to the first request. Use this rule only for items that do not change
  /// the response.
  public static func ignoringQueryItems(_ names: [String], for scope: InterceptorChain.Scope = .http) -> KeyRule {
    KeyRule(scope: scope, queryItems: names)
  }

  /// Ignores the order of query items.
  public static func sortingQuery(for scope: InterceptorChain.Scope = .http) -> KeyRule {
    KeyRule(scope: scope, sortsQuery: true)
  }

  /// Ignores request fields even if a response's `Vary` names them.
  public static func ignoringFields(_ names: [String], for scope: InterceptorChain.Scope = .http) -> KeyRule {
    KeyRule(scope: scope, fields: names.map { $0.lowercased() })
  }

  /// Makes requests with a body answerable from the archive like a `GET`, keyed by their body: for GraphQL and other
  /// read-only `POST`s.
  ///
  /// Opt in for endpoints that only read. Such requests no longer invalidate entries stored under their URL. Requests
  /// with one-shot bodies, or bodies over ``ArchiveCache/Configuration/maximumKeyedBody``, are sent on as usual. The
  /// response is stored if its header fields give it a lifetime (RFC 9110, section 9.3.3), or a ``LifetimeRule`` does.
  ///
  /// - Parameters:
  ///   - methods: The methods.
  ///   - scope: The requests.
  public static func byBody(methods: Set<String> = ["POST"], for scope: InterceptorChain.Scope) -> KeyRule {
    KeyRule(scope: scope, bodyMethods: Set(methods.map { $0.uppercased() }))
  }

  /// Whether the rule ignores query items of the given name.
  func ignores(queryItem name: Substring) -> Bool {
    queryItems.contains { pattern in
      pattern.hasSuffix("*") ? name.hasPrefix(pattern.dropLast()) : name == pattern
    }
  }
}
