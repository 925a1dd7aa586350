import Foundation

/// What a request's response is stored under, and how it may be listed.
///
/// The text of a key is the method, a digest of the body where it counts, a digest of the credentials where they count,
/// and what is asked for, with a blank between: a ``Resource``, which all users have in common.
struct RequestKey: Sendable {
  let key: ArchiveKey
  /// The URL as it may be read by the user who lists the archive.
  let listedURL: String
  /// Request fields that do not count where `Vary` names them, in lower case.
  let ignoredFields: Set<String>

  /// Whether the app has said who the user is, so that nobody has to guess it.
  let isAttributed: Bool
  /// Whether credentials are part of the key.
  let splitsByCredentials: Bool
  let resource: Resource
  private let prefix: String

  /// - Parameters:
  ///   - request: The request.
  ///   - body: The bytes of its body, where a rule asks for them.
  ///   - challenge: What its `Authorization` answers a challenge with, where it does.
  init(
    _ request: InterceptedRequest, body: Data?, challenge: AnsweredChallenge? = nil,
    _ configuration: ArchiveCache.Configuration, digest: @escaping @Sendable ([UInt8]) -> [UInt8]
  ) {
    // An empty name is nobody's.
    let partition = configuration.partition?(request.urlRequest).flatMap { $0.isEmpty ? nil : $0 }
    isAttributed = partition != nil
    splitsByCredentials = configuration.partitionsByAuthorization ?? (partition == nil)
    let url = request.url
    let rules = configuration.keys.isEmpty ? [] : configuration.keys.filter { $0.scope.covers(url) }
    let address = KeyText(url, rules: rules)
    var prefix = "GET  "
    if let body {
      // What the body means is part of what is asked (RFC 10008, section 2.7).
      let metadata = Self.bodyFields.map { request.fields[$0] ?? "" }.joined(separator: "\u{0}")
      prefix =
        "\(request.method.rawValue.uppercased()) "
        + digest(Array(metadata.utf8) + [0] + Array(body)).hexadecimal + " "
    }
    if splitsByCredentials, let credentials = Self.credentials(of: request, userInfo: address.userInfo, challenge) {
      // A digest, because keys are written to disk; half of it is more than enough to tell users apart.
      prefix += digest(Array(credentials.utf8)).prefix(16).hexadecimal
    }
    self.prefix = prefix + " "
    resource = Resource(
      address.text, own: configuration.keyFor?(request.urlRequest),
      digest: configuration.keepsQueryValues ? nil : digest)
    listedURL = configuration.keepsQueryValues ? address.text : url.redacted
    ignoredFields = rules.isEmpty ? [] : Set(rules.flatMap(\.fields))
    key = ArchiveKey(
      bytes: Array(self.prefix.utf8) + resource.text, partition: partition.map { ArchivePartition($0) } ?? .shared)
  }

  /// The key that the request shares with those whose URLs differ in nothing but what `variance` excuses.
  func key(under variance: NoVarySearch) -> ArchiveKey? { shared(resource.shared(under: variance)) }

  /// The key under which stands what responses have said of the URL's path; see ``SearchVariances``.
  var variancesKey: ArchiveKey? { shared(resource.path.map { $0 + Array(" *".utf8) }) }

  private func shared(_ text: [UInt8]?) -> ArchiveKey? {
    text.map { ArchiveKey(bytes: Array(prefix.utf8) + $0, partition: key.partition) }
  }

  private static let bodyFields: [HTTPField.Name] = [
    .contentType, .contentEncoding, .contentLanguage, .contentLocation,
  ]

  /// Whether requests of that method are keyed by their body: `QUERY`, and what a rule names.
  static func wantsBody(_ request: InterceptedRequest, _ configuration: ArchiveCache.Configuration) -> Bool {
    let method = request.method.rawValue.uppercased()
    return method == "QUERY"
      || configuration.keys.contains { $0.bodyMethods.contains(method) && $0.scope.covers(request.url) }
  }

  private static func credentials(
    of request: InterceptedRequest, userInfo: String?, _ challenge: AnsweredChallenge?
  ) -> String? {
    // The response to a challenge counts by what it is made of: Digest writes it differently each time, and the URL's
    // user info is the same.
    if let challenge { return ["challenge", challenge.user, challenge.password].joined(separator: "\u{0}") }
    let fields = [request.fields[.authorization], request.fields[.proxyAuthorization], userInfo]
    guard fields.contains(where: { $0 != nil }) else { return nil }
    return fields.map { $0 ?? "" }.joined(separator: "\u{0}")
  }
}

/// What a request asks for, whoever asks: the URL under the archive's key rules, or the app's own name for it.
struct Resource: Sendable {
  /// It as keys have it.
  let text: [UInt8]
  /// The URL without its query, where a response may excuse that; `nil` for a name of the app's own.
  let path: [UInt8]?
  private let query: Substring
  private let digest: (@Sendable ([UInt8]) -> [UInt8])?

  /// - Parameters:
  ///   - address: The URL's text.
  ///   - own: The app's own name in place of it.
  ///   - digest: What hides query values; `nil` where they are readable.
  init(_ address: String, own: String?, digest: (@Sendable ([UInt8]) -> [UInt8])?) {
    self.digest = digest
    // By bytes: to go through the characters of a URL takes a microsecond.
    let mark = address.utf8.firstIndex(of: UInt8(ascii: "?")) ?? address.endIndex
    let before = address[..<mark]
    query = mark == address.endIndex ? "" : address[address.utf8.index(after: mark)...]
    if let own {
      // A blank ends a resource.
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

  /// What it has in common with the URLs that a response makes equal; no URL looks like that.
  func shared(under variance: NoVarySearch) -> [UInt8]? {
    guard let path else { return nil }
    var canonical = variance.canonical(query)
    if let digest { canonical = Array(digest(canonical).hexadecimal.utf8) }
    return path + Array(" ".utf8) + variance.label + Array("?".utf8) + canonical
  }

  /// Whether an entry is of this resource: stored for it, or for a URL that its own `No-Vary-Search` makes equal.
  func matches(_ entry: StoredEntry) -> Bool {
    let stored = entry.key.text
    if stored.elementsEqual(text) { return true }
    guard let path, stored.count > path.count, stored.starts(with: path + Array(" ".utf8)),
      let variance = CacheRecord(decoding: entry.head).flatMap({ NoVarySearch($0.fields) })
    else { return false }
    return shared(under: variance).map { stored.elementsEqual($0) } ?? false
  }
}

/// What responses of a path have said in `No-Vary-Search`: an entry without a body under a key of its own, so that a
/// lookup knows which keys a URL shares with others. Where it is lost, responses are shared no more until one comes.
enum SearchVariances {
  fileprivate static let version: UInt8 = 0xFF
  /// Servers should say the same for a path all the time: the latest ones are enough.
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

  /// The head with one more, which is the latest.
  static func head(_ entries: [StoredEntry], adding text: String) -> [UInt8] {
    var sink = ByteSink()
    sink.put(version)
    for text in [text] + texts(entries).filter({ $0 != text }).prefix(most - 1) { sink.put(text) }
    return sink.bytes
  }
}

extension StoredEntry {
  /// Whether it is no response but a note of the archive's own; see ``SearchVariances``.
  package var isNote: Bool { head.first == SearchVariances.version }
}

/// A URL in the form that equal requests share.
struct KeyText: Sendable {
  /// Scheme and host in lower case, no default port, no user info, no fragment, a path.
  let text: String
  /// The user info, which is a credential.
  let userInfo: String?

  /// - Parameters:
  ///   - url: The URL.
  ///   - rules: The rules that cover it.
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

  /// Whether a URL is in that form already, as nearly all are: then its text is the key.
  private static func isNormal(_ string: String) -> Bool {
    // 0 in the scheme, 1 and 2 in the slashes, 3 in the authority, 4 behind it.
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
  /// Opt in for endpoints that only read. Such requests no longer invalidate what is stored under their URL. Requests
  /// with one-shot bodies, or bodies over ``ArchiveCache/Configuration/maximumKeyedBody``, are sent on as usual. The
  /// response is stored if its header fields give it a lifetime (RFC 9110, section 9.3.3), or a ``LifetimeRule`` does.
  ///
  /// - Parameters:
  ///   - methods: The methods.
  ///   - scope: The requests.
  public static func byBody(methods: Set<String> = ["POST"], for scope: InterceptorChain.Scope) -> KeyRule {
    KeyRule(scope: scope, bodyMethods: Set(methods.map { $0.uppercased() }))
  }

  /// Whether a query item of that name is one of those that do not count.
  func ignores(queryItem name: Substring) -> Bool {
    queryItems.contains { pattern in
      pattern.hasSuffix("*") ? name.hasPrefix(pattern.dropLast()) : name == pattern
    }
  }
}
