import WaylayHAR

/// A condition on a request's body. The body is read once, however many stubs inspect it.
///
/// ```swift
/// Stub(.post, "/orders", .status(201)).where(.body(.json(["id": 42, "paid": true])))
/// Stub(.post, "/orders", .status(402)).where(.body(.jsonPath("$.card.number", equals: "4000")))
/// Stub(.post, "/login", .status(200)).where(.body(.form(["user": "ada", "password": "*"])))
/// ```
public struct BodyMatcher: Sendable {
  indirect enum Kind: Sendable {
    case data(Data)
    case text(String)
    case regex(TextRegex)
    case json(JSONComparison)
    case jsonPath(JSONPath, JSONValue?)
    case form(QueryPattern)
    case multipart(PartsPattern)
    case file(name: String?, type: String?, BodyMatcher)
    case empty
    case present
    case broken
  }

  let kind: Kind
  var problem: MockError?

  init(_ kind: Kind, problem: MockError? = nil) {
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

  /// JSON equal to this value, regardless of member order, whitespace and number notation, and of the order of arrays
  /// if that is ignored.
  ///
  /// ```swift
  /// Stub(.post, "/tags", .status(204)).where(.body(.json(["tags": ["a", "b"]], ignoringArrayOrder: true)))
  /// ```
  public static func json(_ value: JSONValue, ignoringArrayOrder: Bool = false) -> BodyMatcher {
    BodyMatcher(.json(JSONComparison(value, ignoresOrder: ignoringArrayOrder)))
  }

  /// JSON equal to a literal with variables in it.
  @_disfavoredOverload
  public static func json(_ value: JSONLiteral, ignoringArrayOrder: Bool = false) -> BodyMatcher {
    .json(value.jsonValue, ignoringArrayOrder: ignoringArrayOrder)
  }

  /// JSON equal to a literal with variables of one type in it.
  public static func json(
    _ members: KeyValuePairs<String, some JSONConvertible>, ignoringArrayOrder: Bool = false
  ) -> BodyMatcher {
    .json(JSONValue(members), ignoringArrayOrder: ignoringArrayOrder)
  }

  /// JSON equal to the encoded form of `value`.
  @_disfavoredOverload
  public static func json(_ value: some Encodable) -> BodyMatcher {
    make { () throws(MockError) in
      do { return .json(JSONComparison(try JSONValue(encoding: value))) } catch {
        throw MockError(
          .invalidJSON, "\(type(of: value)) cannot be encoded as JSON: \(error.redacted)", underlying: error)
      }
    }
  }

  /// JSON equal to the value of this text. Text that is not JSON is reported at the line of the stub.
  public static func json(parsing text: String) -> BodyMatcher {
    make { () throws(MockError) in
      do { return .json(JSONComparison(try JSONValue(reading: text.utf8))) } catch {
        throw MockError(.invalidJSON, "this is not JSON: \(error)", underlying: error)
      }
    }
  }

  /// JSON that contains at least these members, at every depth. Arrays are compared element by element; if their order
  /// is ignored, they may have further elements.
  public static func jsonSubset(_ value: JSONValue, ignoringArrayOrder: Bool = false) -> BodyMatcher {
    BodyMatcher(.json(JSONComparison(value, ignoresOrder: ignoringArrayOrder, ignoresExtras: true)))
  }

  /// JSON that contains at least the members of a literal with variables in it.
  @_disfavoredOverload
  public static func jsonSubset(_ value: JSONLiteral, ignoringArrayOrder: Bool = false) -> BodyMatcher {
    .jsonSubset(value.jsonValue, ignoringArrayOrder: ignoringArrayOrder)
  }

  /// JSON that contains at least the members of a literal with variables of one type in it.
  public static func jsonSubset(
    _ members: KeyValuePairs<String, some JSONConvertible>, ignoringArrayOrder: Bool = false
  ) -> BodyMatcher {
    .jsonSubset(JSONValue(members), ignoringArrayOrder: ignoringArrayOrder)
  }

  /// JSON with the given value at a path.
  ///
  /// - Parameters:
  ///   - path: A path such as `$.items[0].name`; `[*]` matches every element, and at least one must have the value.
  ///   - value: The value.
  public static func jsonPath(_ path: String, equals value: JSONValue) -> BodyMatcher {
    make { () throws(MockError) in .jsonPath(try JSONPath(path), value) }
  }

  /// JSON with the value of a variable at a path.
  @_disfavoredOverload
  public static func jsonPath(_ path: String, equals value: some JSONConvertible) -> BodyMatcher {
    .jsonPath(path, equals: value.jsonValue)
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

  /// A multipart form with parts of these names in any order, with any boundary, each of which satisfies a condition.
  ///
  /// ```swift
  /// Stub(.post, "/photos", .status(201))
  ///   .where(.body(.multipart(["meta": .jsonSubset(["album": 7]), "photo": .file("a.png", type: "image/png")])))
  /// ```
  ///
  /// - Parameters:
  ///   - parts: The conditions by part name. A name may occur several times, for parts that share it.
  ///   - exactly: Whether other parts are disallowed.
  public static func multipart(_ parts: KeyValuePairs<String, BodyMatcher>, exactly: Bool = true) -> BodyMatcher {
    BodyMatcher(
      .multipart(PartsPattern(parts.map { PartPattern(name: $0.key, body: $0.value) }, isExact: exactly)),
      problem: parts.lazy.compactMap(\.value.problem).first)
  }

  /// A part of a multipart form with a file name, a media type, or both; no whole body matches.
  ///
  /// - Parameters:
  ///   - name: The file name; `nil` for any, or none.
  ///   - type: The media type, without parameters; `nil` for any.
  ///   - content: The condition on the part's bytes.
  public static func file(_ name: String?, type: String? = nil, content: BodyMatcher = .present) -> BodyMatcher {
    BodyMatcher(.file(name: name, type: type, content), problem: content.problem)
  }

  /// No body.
  public static let empty = BodyMatcher(.empty)

  /// Any body with at least one byte.
  public static let present = BodyMatcher(.present)
}

extension BodyMatcher {
  func matches(_ facts: RequestFacts) -> Bool {
    var result = Comparison()
    compare(facts, &result)
    return !result.differs
  }

  func compare(_ facts: RequestFacts, _ result: inout Comparison) {
    func check(_ fits: Bool, _ expected: @autoclosure @escaping () -> String) {
      result.check(fits, Mismatch("body", expected: expected(), actual: Excerpt.of(facts), distance: 0.6))
    }
    switch kind {
    case .data(let data): check(facts.body == data, "\(data.count) given bytes")
    case .text(let text): check(facts.text == text, "\(JSONValue(Excerpt.ofText(text)))")
    case .regex(let regex): check(facts.text.map { regex.matches($0) } ?? false, "a match of \(regex)")
    case .json, .jsonPath:
      if result.leavesOut(self, facts, .json) { return }
      guard let json = facts.json else {
        return result.add(Mismatch("body", expected: "JSON", actual: Excerpt.of(facts), distance: 0.8))
      }
      if case .json(let comparison) = kind { comparison.compare(facts, json, &result) }
      if case .jsonPath(let path, let value) = kind { path.compare(value, json, &result) }
    case .form(let pattern):
      guard facts.mayBeForm else {
        return result.add(
          Mismatch(
            "header Content-Type", expected: "application/x-www-form-urlencoded",
            actual: facts.field("Content-Type") ?? "no such field", distance: 0.3))
      }
      if !result.leavesOut(self, facts, .form) { pattern.compare(facts.form, "form field", &result) }
    case .multipart(let parts):
      if !result.leavesOut(self, facts, .parts) { parts.compare(facts, &result) }
    case .file(let name, let type, let content):
      let part = facts.part
      if !result.isDone { content.compare(facts, &result) }
      result.check(
        part != nil && (name ?? part?.filename) == part?.filename,
        Mismatch("file name", expected: name ?? "any", actual: part?.filename ?? "none", distance: 0.3))
      result.check(
        type == nil || type?.lowercased() == part?.mediaType,
        Mismatch("type", expected: type ?? "any", actual: part?.mediaType ?? "none", distance: 0.3))
    case .empty: check(facts.body.isEmpty, "none")
    case .present: check(!facts.body.isEmpty, "any")
    case .broken: result.add(.unshown)
    }
  }
}

extension BodyMatcher: CustomStringConvertible {
  /// The condition in words.
  public var description: String {
    switch kind {
    case .data(let data): "body of \(data.count) given bytes"
    case .text(let text): "body \(JSONValue(Redaction.scrubbed(text)).description)"
    case .regex(let regex): "body matching \(regex)"
    case .json(let comparison):
      "JSON body \(comparison.ignoresExtras ? "with " : "")\(Redaction.masked(comparison.expected).description)"
        + (comparison.ignoresOrder ? ", arrays in any order" : "")
    case .jsonPath(let path, let value?): "JSON body with \(path.shown(value)) at \(path)"
    case .jsonPath(let path, nil): "JSON body with \(path)"
    case .form(let pattern): "form \(pattern)"
    case .multipart(let pattern): "multipart form with \(pattern.parts.map(\.name).joined(separator: ", "))"
    case .file(let name, let type, let content):
      "file" + (name.map { " \($0)" } ?? "") + (type.map { " of type \($0)" } ?? "") + " with \(content)"
    case .empty: "no body"
    case .present: "a body"
    case .broken: "a body that cannot be described"
    }
  }
}
