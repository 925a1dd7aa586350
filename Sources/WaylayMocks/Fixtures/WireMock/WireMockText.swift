import Foundation

/// A condition on a text: the value of a query item or a header field, a body, or what a JSON path leads to.
indirect enum WireMockText: Sendable {
  case equalTo(String)
  /// An expression that covers the whole text.
  case matches(TextRegex)
  case absent
  case not(WireMockText)
  case all([WireMockText])
  case any([WireMockText])

  /// Reads the conditions of an object, all of which must hold; `nil` when it has none.
  init?(_ object: FixtureObject) {
    var found: [WireMockText] = []
    let ignoresCase = object.bool("caseInsensitive") ?? false
    if let text = object.string("equalTo") {
      found.append(
        ignoresCase ? .matches(Self.regex("(?i)" + NSRegularExpression.escapedPattern(for: text))) : .equalTo(text))
    }
    if let text = object.string("contains") { found.append(.matches(Self.containing(text))) }
    if let text = object.string("doesNotContain") { found.append(.not(.matches(Self.containing(text)))) }
    for (key, isNegative) in [("matches", false), ("doesNotMatch", true)] {
      guard let text = object.string(key) else { continue }
      let regex = Self.regex(text)
      if let problem = regex.problem { object.note(key, problem.message) }
      found.append(isNegative ? .not(.matches(regex)) : .matches(regex))
    }
    if let isAbsent = object.bool("absent") { found.append(isAbsent ? .absent : .not(.absent)) }
    for (key, isAll) in [("and", true), ("or", false)] {
      guard let elements = object.elements(key) else { continue }
      let parts = elements.compactMap { Self.inner($0, of: object) }
      found.append(isAll ? .all(parts) : .any(parts))
    }
    if let node = object.value("not"), let inner = Self.inner(node, of: object) { found.append(.not(inner)) }
    guard let first = found.first else { return nil }
    self = found.count == 1 ? first : .all(found)
  }

  private static func inner(_ node: JSONNode, of object: FixtureObject) -> WireMockText? {
    guard let inner = FixtureObject(node, in: object.file, entry: object.entry, object.problems) else { return nil }
    let condition = WireMockText(inner)
    inner.finish()
    return condition
  }

  /// The pattern as one that covers the whole text.
  static func whole(_ pattern: String) -> String { "\\A(?:\(pattern))\\z" }

  private static func regex(_ pattern: String) -> TextRegex {
    // Said in the words of whoever wrote it, when it is wrong.
    let written = TextRegex(pattern)
    return written.problem == nil ? TextRegex(whole(pattern)) : written
  }

  private static func containing(_ text: String) -> TextRegex {
    regex("(?s:.*)" + NSRegularExpression.escapedPattern(for: text) + "(?s:.*)")
  }

  /// Whether one of several values fulfils the condition; no values are none.
  func accepts(_ values: [String]) -> Bool {
    switch self {
    case .equalTo(let text): values.contains(text)
    case .matches(let regex): values.contains { regex.matches($0) }
    case .absent: values.isEmpty
    case .not(.absent): !values.isEmpty
    // A condition on a value that is not there does not hold, whatever it says of it.
    case .not(let inner): !values.isEmpty && !inner.accepts(values)
    case .all(let parts): parts.allSatisfy { $0.accepts(values) }
    case .any(let parts): parts.contains { $0.accepts(values) }
    }
  }

  func matcher(ofQuery name: String) -> RequestMatcher {
    switch self {
    case .equalTo(let text): .query(name, text)
    case .absent: !.query(name)
    case .not(.absent): .query(name)
    default:
      .predicate("query \(name) \(self)") { request in
        let items = QueryItems(request.url.query(percentEncoded: true) ?? "")
        return accepts(items.values(of: name).map { $0 ?? "" })
      }
    }
  }

  func matcher(ofHeader name: String) -> RequestMatcher {
    switch self {
    case .equalTo(let text): .header(name, text)
    case .absent: !.header(name)
    case .not(.absent): .header(name)
    case .matches(let regex): .header(name, regex: regex.pattern)
    default:
      .predicate("header \(name) \(Redaction.field(name, description))") {
        accepts($0.request.headerValue(name).map { [$0] } ?? [])
      }
    }
  }

  /// The condition on a body; an empty one is none.
  var matcherOfBody: RequestMatcher {
    switch self {
    case .equalTo(let text): .body(.text(text))
    case .absent: .body(.empty)
    case .not(.absent): .body(.present)
    case .matches(let regex): .body(.regex(regex.pattern))
    default:
      .predicate("body \(self)") { request in
        accepts(request.body.isEmpty ? [] : [String(decoding: request.body, as: UTF8.self)])
      }
    }
  }
}

extension WireMockText: CustomStringConvertible {
  var description: String {
    switch self {
    case .equalTo(let text): "equal to \"\(text)\""
    case .matches(let regex): "matching \(regex)"
    case .absent: "absent"
    case .not(let inner): "not \(inner)"
    case .all(let parts): parts.map(\.description).joined(separator: " and ")
    case .any(let parts): "(" + parts.map(\.description).joined(separator: " or ") + ")"
    }
  }
}
