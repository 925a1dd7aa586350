/// A condition on a request's body. The body is read once, however many stubs inspect it.
///
/// ```swift
/// Stub(.post, "/orders") { .status(201) }.body(.json(["id": 42, "paid": true]))
/// Stub(.post, "/orders") { .status(402) }.body(.jsonPath("$.card.number", equals: "4000"))
/// Stub(.post, "/login") { .status(200) }.body(.form(["user": "ada", "password": "*"]))
/// ```
public struct BodyMatcher: Sendable {
  indirect enum Kind: Sendable {
    case data(Data)
    case text(String)
    case regex(TextRegex)
    case json(JSONNode)
    case jsonSubset(JSONNode)
    /// With lists in any order.
    case jsonSet(JSONNode, JSONComparison)
    case jsonPath(JSONPath, JSONNode?)
    case form(QueryPattern)
    case multipart([PartPattern], isExact: Bool)
    case empty
    case present
    case broken
  }

  let kind: Kind
  var problem: MockError?

  private init(_ kind: Kind, problem: MockError? = nil) {
    self.kind = kind
    self.problem = problem
  }

  private static func make(_ make: () throws(MockError) -> Kind) -> BodyMatcher {
    do throws(MockError) { return BodyMatcher(try make()) } catch { return BodyMatcher(.broken, problem: error) }
  }

  /// Exactly these bytes.
  public static func data(_ data: Data) -> BodyMatcher { BodyMatcher(.data(data)) }

  /// Exactly this text, in UTF-8.
  public static func text(_ text: String) -> BodyMatcher { BodyMatcher(.text(text)) }

  /// Text in which the regular expression (ICU syntax) finds a match.
  public static func regex(_ pattern: String) -> BodyMatcher {
    let regex = TextRegex(pattern)
    return BodyMatcher(.regex(regex), problem: regex.problem)
  }

  /// JSON equal to this value, regardless of member order, whitespace and number notation.
  public static func json(_ value: JSONValue) -> BodyMatcher { BodyMatcher(.json(value.node)) }

  /// JSON equal to this value, with the order of arrays ignored or not.
  ///
  /// ```swift
  /// Stub(.post, "/tags") { .status(204) }.body(.json(["tags": ["a", "b"]], ignoringArrayOrder: true))
  /// ```
  public static func json(_ value: JSONValue, ignoringArrayOrder: Bool) -> BodyMatcher {
    ignoringArrayOrder
      ? BodyMatcher(.jsonSet(value.node, JSONComparison(ignoresOrder: true, ignoresExtras: false))) : .json(value)
  }

  /// JSON that contains at least these members; if the order of arrays is ignored, arrays may have other elements too.
  public static func jsonSubset(_ value: JSONValue, ignoringArrayOrder: Bool) -> BodyMatcher {
    ignoringArrayOrder
      ? BodyMatcher(.jsonSet(value.node, JSONComparison(ignoresOrder: true, ignoresExtras: true))) : .jsonSubset(value)
  }

  /// JSON equal to the encoded form of `value`.
  @_disfavoredOverload
  public static func json(_ value: some Encodable) -> BodyMatcher {
    make { () throws(MockError) in .json(try JSONValue(encoding: value).node) }
  }

  /// JSON equal to the value of this text. Text that is not JSON is reported at the line of the stub.
  public static func json(parsing text: String) -> BodyMatcher {
    make { () throws(MockError) in .json(try JSONValue(parsing: text).node) }
  }

  /// JSON that contains at least these members, at every depth. Arrays are compared element by element.
  public static func jsonSubset(_ value: JSONValue) -> BodyMatcher { BodyMatcher(.jsonSubset(value.node)) }

  /// JSON with the given value at a path.
  ///
  /// - Parameters:
  ///   - path: A path such as `$.items[0].name`; `[*]` stands for every element, at least one of which must match.
  ///   - value: The value.
  public static func jsonPath(_ path: String, equals value: JSONValue) -> BodyMatcher {
    make { () throws(MockError) in .jsonPath(try JSONPath(path), value.node) }
  }

  /// JSON with any value at a path.
  public static func jsonPath(exists path: String) -> BodyMatcher {
    make { () throws(MockError) in .jsonPath(try JSONPath(path), nil) }
  }

  /// A form (`application/x-www-form-urlencoded`) with these fields in any order.
  ///
  /// A request with another media type does not match. One without a media type may match: on the wire the loading
  /// system labels its body as a form.
  ///
  /// - Parameters:
  ///   - fields: The fields; a repeated name has its values in the given order.
  ///   - exactly: Whether other fields are disallowed.
  public static func form(_ fields: KeyValuePairs<String, String>, exactly: Bool = true) -> BodyMatcher {
    BodyMatcher(.form(QueryPattern(fields.map { ($0.key, .exactly($0.value)) }, isExact: exactly)))
  }

  /// A multipart form with these parts in any order, with any boundary. A part without a file name or media type does
  /// not require one.
  ///
  /// - Parameters:
  ///   - parts: The parts.
  ///   - exactly: Whether other parts are disallowed.
  public static func multipart(_ parts: [MultipartForm.Part], exactly: Bool = true) -> BodyMatcher {
    BodyMatcher(.multipart(parts.map { PartPattern($0) }, isExact: exactly))
  }

  /// A multipart form with parts of these names in any order, each of which satisfies a condition.
  ///
  /// ```swift
  /// Stub(.post, "/photos") { .status(201) }
  ///   .body(.multipart(["meta": .jsonSubset(["album": 7]), "photo": .present]))
  /// ```
  ///
  /// - Parameters:
  ///   - parts: The conditions by part name. A name may occur several times, for parts that share it.
  ///   - exactly: Whether other parts are disallowed.
  public static func multipart(_ parts: KeyValuePairs<String, BodyMatcher>, exactly: Bool = true) -> BodyMatcher {
    var matcher = BodyMatcher(.multipart(parts.map { PartPattern($0.key, $0.value) }, isExact: exactly))
    matcher.problem = parts.lazy.compactMap(\.value.problem).first
    return matcher
  }

  /// No body.
  public static let empty = BodyMatcher(.empty)

  /// Any body with at least one byte.
  public static let present = BodyMatcher(.present)
}

extension BodyMatcher {
  func matches(_ facts: RequestFacts) -> Bool {
    switch kind {
    case .data(let data): facts.body == data
    case .text(let text): facts.text == text
    case .regex(let regex): facts.text.map { regex.matches($0) } ?? false
    case .json(let value): facts.json == value
    case .jsonSubset(let value): facts.json?.contains(value) ?? false
    case .jsonSet(let value, let comparison): facts.json.map { comparison.accepts($0, value) } ?? false
    case .jsonPath(let path, let value): Self.matches(path, value, facts)
    case .form(let pattern): facts.mayBeForm && pattern.matches(facts.form)
    case .multipart(let parts, let isExact): PartPattern.matches(parts, isExact, facts)
    case .empty: facts.body.isEmpty
    case .present: !facts.body.isEmpty
    case .broken: false
    }
  }

  private static func matches(_ path: JSONPath, _ value: JSONNode?, _ facts: RequestFacts) -> Bool {
    guard let json = facts.json else { return false }
    let found = path.values(in: json)
    return value.map { found.contains($0) } ?? !found.isEmpty
  }
}

extension BodyMatcher: CustomStringConvertible {
  /// The condition in words.
  public var description: String {
    switch kind {
    case .data(let data): "body of \(data.count) given bytes"
    case .text(let text): "body \(JSONNode.quoted(Redaction.scrubbed(text)))"
    case .regex(let regex): "body matching \(regex)"
    case .json(let value): "JSON body \(Redaction.masked(value).text)"
    case .jsonSubset(let value): "JSON body with \(Redaction.masked(value).text)"
    case .jsonPath(let path, let value?): "JSON body with \(path.shown(value)) at \(path)"
    case .jsonPath(let path, nil): "JSON body with \(path)"
    case .form(let pattern): "form \(pattern)"
    case .jsonSet(let value, let comparison):
      "JSON body \(comparison.ignoresExtras ? "with " : "")\(Redaction.masked(value).text), lists in any order"
    case .multipart(let parts, _): "multipart form with \(parts.map(\.name).joined(separator: ", "))"
    case .empty: "no body"
    case .present: "a body"
    case .broken: "a body that cannot be described"
    }
  }
}
