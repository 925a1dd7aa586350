import WaylayHAR

/// A parsed multipart body (RFC 7578, RFC 2046 section 5.1), independent of its boundary.
enum MultipartForm {
  /// One part of a form.
  struct Part: Hashable {
    let name: String
    /// The file name, if the part is a file.
    let filename: String?
    /// The media type, if the part states one.
    let contentType: String?
    let body: Data

    /// The media type without parameters, in lower case (RFC 7578, section 4.4).
    var mediaType: String { MultipartForm.mediaType(contentType ?? "text/plain") ?? "" }
  }

  /// A media type without parameters, in lower case.
  static func mediaType(_ field: String?) -> String? {
    field?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
  }

  /// The parts of a body; `nil` if `type` is not a multipart type or the body is malformed.
  static func parts(of body: Data, type: String) -> [Part]? {
    guard type.lowercased().hasPrefix("multipart/"), let boundary = parameter("boundary", of: type), !boundary.isEmpty
    else { return nil }
    let marker = Data("--\(boundary)".utf8)
    guard var start = body.range(of: marker)?.upperBound else { return nil }
    var parts: [Part] = []
    while true {
      let rest = body[start...]
      if rest.starts(with: Data("--".utf8)) { return parts }
      guard let lineEnd = rest.range(of: Data("\r\n".utf8)),
        let next = body.range(of: Data("\r\n".utf8) + marker, in: start..<body.endIndex)
      else { return nil }
      // A part without a header begins at once with the empty line.
      guard lineEnd.upperBound <= next.lowerBound || lineEnd.lowerBound == next.lowerBound else { return nil }
      if lineEnd.lowerBound < next.lowerBound { parts.append(part(body[lineEnd.upperBound..<next.lowerBound])) }
      start = next.upperBound
    }
  }

  private static func part(_ bytes: Data) -> Part {
    let blank = Data("\r\n\r\n".utf8)
    let head: Data
    let body: Data
    if let end = bytes.range(of: blank) {
      (head, body) = (bytes[..<end.lowerBound], bytes[end.upperBound...])
    } else if bytes.starts(with: Data("\r\n".utf8)) {
      (head, body) = (Data(), bytes.dropFirst(2))
    } else {
      (head, body) = (bytes, Data())
    }
    var fields: [String: String] = [:]
    for line in String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n") {
      guard let colon = line.firstIndex(of: ":") else { continue }
      fields[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
    let disposition = fields["content-disposition"] ?? ""
    return Part(
      name: parameter("name", of: disposition) ?? "", filename: parameter("filename", of: disposition),
      contentType: fields["content-type"],
      body: Data(body))
  }

  private static func parameter(_ name: String, of field: String) -> String? {
    Array(field.utf8)[...].parameter(name).map { String(decoding: $0.value, as: UTF8.self) }
  }
}

/// A pattern for one part of a multipart form.
struct PartPattern: Sendable {
  let name: String
  let body: BodyMatcher

  /// The differences between a part and the pattern.
  ///
  /// - Parameter facts: The part, wrapped in a request.
  fileprivate func compare(_ facts: RequestFacts, _ result: inout Comparison) {
    var comparison = Comparison(explains: true)
    body.compare(facts, &comparison)
    for mismatch in comparison.found {
      let part = "part \(name)"
      result.add(
        Mismatch(
          mismatch.aspect == "body" ? part : "\(part), \(mismatch.aspect)",
          expected: Redaction.hides(name) ? Redaction.mark : mismatch.texts.expected,
          actual: Redaction.hides(name) ? Redaction.mark : mismatch.texts.actual, distance: 0.3))
    }
  }
}

/// Patterns for the parts of a multipart form, in any order.
final class PartsPattern: Sendable {
  let parts: [PartPattern]
  let isExact: Bool

  init(_ parts: [PartPattern], isExact: Bool) {
    (self.parts, self.isExact) = (parts, isExact)
  }

  func compare(_ facts: RequestFacts, _ result: inout Comparison) {
    guard let parts = facts.multipart else {
      return result.add(
        Mismatch(
          "parts", expected: self.parts.map(\.name).joined(separator: ", "), actual: "no multipart form",
          distance: 0.6))
    }
    let details = facts.multipartFacts
    let assignment =
      facts.assignments[ObjectIdentifier(self)]
      ?? Assignment(of: self.parts.count, among: parts.count) { given, index in
        self.parts[index].name == parts[given].name && self.parts[index].body.matches(details[given])
      }
    facts.assignments[ObjectIdentifier(self)] = assignment
    var rest = parts.indices.filter { assignment.owners[$0] == nil }
    for pattern in assignment.missing.map({ self.parts[$0] }) where !result.isDone {
      // A part of the same name that matched no pattern is most likely the intended one.
      if let place = rest.firstIndex(where: { parts[$0].name == pattern.name }) {
        let position = rest.remove(at: place)
        if result.explains { pattern.compare(details[position], &result) } else { result.add(.unshown) }
      } else {
        result.add(
          Mismatch("part \(pattern.name)", expected: pattern.description, actual: "no such part", distance: 0.3))
      }
    }
    result.check(
      !isExact || rest.isEmpty,
      Mismatch(
        "parts", expected: "no other parts",
        actual: Excerpt.of(rest.prefix(20).map { parts[$0].shown }.joined(separator: ", ")), distance: 0.3))
  }
}

extension PartPattern: CustomStringConvertible {
  var description: String { "\(name): \(Redaction.hides(name) ? Redaction.mark : body.description)" }
}

extension MultipartForm.Part {
  /// The part, redacted for a report.
  var shown: String { "\(name): " + (filename.map { "the file \($0), " } ?? "") + shownBody }

  /// The part's body, redacted for a report.
  var shownBody: String {
    if Redaction.hides(name) { return Redaction.mark }
    guard filename == nil, let text = String(data: body, encoding: .utf8) else { return "\(body.count) bytes" }
    if body.count <= RequestFacts.longest, let json = try? JSONValue(reading: body) { return Excerpt.of(json) }
    return JSONValue(Excerpt.ofText(text)).description
  }
}

extension MockRequest {
  /// Decodes the body, a form: strings, numbers and Booleans by name, arrays for repeated names.
  ///
  /// ```swift
  /// let login = try request.form(Login.self)
  /// let fields = try mock.requests(.post, "/login").only().form([String: String].self)
  /// ```
  ///
  /// - Throws: `MockError.invalidForm` for a body of another media type; the decoder's error.
  public func form<Value: Decodable>(
    _ type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    let contentType = field("Content-Type")
    if let contentType, !contentType.lowercased().hasPrefix("application/x-www-form-urlencoded") {
      throw MockError(.invalidForm, "the body is not a form: its media type is \"\(contentType)\".")
    }
    guard let text = String(data: body, encoding: .utf8) else {
      throw MockError(.invalidForm, "the body is not a form: it is not UTF-8.")
    }
    var fields: [String: FormField] = [:]
    for item in QueryItems(text).items { fields[item.name, default: FormField()].values.append(item.value ?? "") }
    // Form values are text. On a type mismatch, read that field another way (number, Boolean, list) and decode again.
    while true {
      let object = JSONValue(.object(fields.map { JSONValue.Member(name: $0.key, value: $0.value.node) }))
      do { return try decoder.decode(type, from: Data(object.description.utf8)) } catch DecodingError.typeMismatch(
        let wanted, let context)
      {
        guard let name = context.codingPath.first?.stringValue, fields[name]?.readDifferently() == true else {
          throw DecodingError.typeMismatch(wanted, context)
        }
      }
    }
  }
}

/// The values of a form field, and how to decode them.
private struct FormField {
  var values: [String] = []
  /// Whether to read texts as JSON literals, and a single value as a list.
  var (readsLiterals, readsList) = (false, false)

  var node: JSONValue {
    let nodes = values.map { text in
      guard readsLiterals, let node = try? JSONValue(reading: text.utf8), node.double != nil || node.bool != nil else {
        return JSONValue(.string(text))
      }
      return node
    }
    return nodes.count == 1 && !readsList ? nodes[0] : JSONValue(.array(nodes))
  }

  /// Switches to the next combination; `false` after the last.
  mutating func readDifferently() -> Bool {
    if readsLiterals, readsList { return false }
    (readsLiterals, readsList) = (!readsLiterals, readsList || readsLiterals)
    return true
  }
}
