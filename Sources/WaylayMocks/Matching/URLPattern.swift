/// A pattern for the URLs that a stub matches.
///
/// | part | pattern | matches |
/// |---|---|---|
/// | scheme | `https://…` | that scheme; `*://…` any scheme; without scheme and host, any origin |
/// | host | `api.example.com` | a `HostPattern` without port: letter case, `xn--` form and percent-encoding make no difference |
/// | | `*.example.com` | every host below it, but not the host itself |
/// | | `*` , `api-*.example.com` | any host; any text within a label |
/// | port | none | the scheme's default; `:8080` that port, `:*` any port |
/// | path | `/users/42` | these segments, with or without percent-encoding |
/// | | `:id`, `:id(\d+)` | one segment, which becomes a parameter; optionally with a regular expression |
/// | | `*`, `img-*.png` | one segment; any text within one |
/// | | `**` | any number of segments, including none |
/// | query | none | any query |
/// | | `?page=2&sort` | exactly these items in any order, repeated names in the given order; `a=*` any value |
///
/// `*` alone matches every URL. `%2A` and `%3A` are a literal star and colon. A pattern that cannot be parsed matches
/// nothing and is reported at the line of the stub. To match more than the URL, add conditions to the stub:
/// ``RequestMatcher``.
public struct URLPattern: Sendable, CustomStringConvertible, ExpressibleByStringInterpolation {
  /// The pattern as written.
  public let description: String
  var scheme: String?
  var host = StubHost.any
  var port = Port.any
  /// `nil` for any path.
  var path: PathPattern?
  /// `nil` for any query.
  var query: QueryPattern?
  var regex: TextRegex?
  /// Why the pattern could not be parsed.
  package internal(set) var problem: MockError?

  enum Port: Sendable, Hashable {
    case any
    case schemeDefault
    case number(Int)
  }

  /// Parses a pattern.
  public init(_ text: String) {
    description = text
    guard !parsePlain(text) else { return }
    do throws(MockError) { try parse(text) } catch { problem = error }
  }

  /// Parses a literal.
  public init(stringLiteral value: String) {
    self.init(value)
  }

  init(any: Void) {
    description = "any URL"
  }

  init(regex pattern: String) {
    description = "/\(pattern)/"
    regex = TextRegex(pattern)
    problem = regex?.problem
  }

  init(literally url: URL) {
    description = url.absoluteString
    let parsed = ParsedURL(url.absoluteURL)
    scheme = parsed.scheme.isEmpty ? nil : parsed.scheme
    host = parsed.host.isEmpty ? .any : .literal(parsed.host)
    port = parsed.host.isEmpty ? .any : .number(parsed.port)
    path = PathPattern(literally: parsed.segments)
    query = QueryPattern(QueryItems(parsed.query ?? ""), isExact: true)
  }

  /// Whether a URL matches; fills in the values of the names.
  func matches(_ url: ParsedURL, _ parameters: inout [String: String]) -> Bool {
    guard problem == nil else { return false }
    if let regex { return regex.matches(url.url.absoluteString, &parameters) }
    return matchesOrigin(url) && (query?.matches(url.items) ?? true)
      && (path?.matches(url.segments, &parameters) ?? true)
  }

  func matchesOrigin(_ url: ParsedURL) -> Bool {
    matchesScheme(url) && matchesPort(url) && host.matches(url.host)
  }

  func matchesScheme(_ url: ParsedURL) -> Bool { scheme == nil || scheme == url.scheme }

  func matchesPort(_ url: ParsedURL) -> Bool {
    switch port {
    case .any: true
    case .schemeDefault: url.port == ParsedURL.defaultPort(of: url.scheme)
    case .number(let number): url.port == number
    }
  }
}

extension URLPattern {
  /// The pattern as reports show it: without user, password and the secrets of its query.
  var shown: String {
    guard regex == nil else { return description }
    var text = description
    if let mark = PathExpressions.first("?", in: text[...]) {
      let query = text[text.index(after: mark)...]
      text = text[...mark] + Redaction.shownQuery(query)
    }
    if let start = text.range(of: "://")?.upperBound {
      let authority = text[start...].prefix { $0 != "/" && $0 != "?" }
      if let at = authority.lastIndex(of: "@") { text.removeSubrange(start...at) }
    }
    return text
  }
}

extension ParsedURL {
  /// The query's items. Parsed anew each time: only patterns that name some ask for them.
  var items: QueryItems { QueryItems(query ?? "") }
}
