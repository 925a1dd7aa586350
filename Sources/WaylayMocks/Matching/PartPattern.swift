/// What is wanted of one part of a multipart form.
struct PartPattern: Sendable {
  let name: String
  /// The file's name and the media type; `nil` for any.
  var filename: String?
  var contentType: String?
  let body: BodyMatcher
  /// The whole part, where it is given byte for byte.
  private var exact: MultipartForm.Part?

  init(_ name: String, _ body: BodyMatcher) {
    self.name = name
    self.body = body
  }

  init(_ part: MultipartForm.Part) {
    name = part.name
    filename = part.filename
    contentType = part.contentType
    body = .data(part.body)
    exact = part
  }

  /// What is different about a request's part; nothing when it is what is wanted.
  ///
  /// - Parameter facts: The part as if it were a request.
  func mismatches(_ part: MultipartForm.Part, _ facts: RequestFacts) -> [Mismatch] {
    var found: [Mismatch] = []
    if let filename, filename != part.filename {
      found.append(
        Mismatch("part \(name)", expected: "the file \(filename)", actual: part.filename ?? "no file", distance: 0.2))
    }
    if let contentType, contentType.lowercased() != part.contentType?.lowercased() {
      found.append(
        Mismatch("part \(name)", expected: contentType, actual: part.contentType ?? "no media type", distance: 0.2))
    }
    if body.matches(facts) { return found }
    if let exact {
      found.append(Mismatch("part \(name)", expected: exact.shownBody, actual: part.shownBody, distance: 0.3))
    } else if Redaction.hides(name) {
      found.append(Mismatch("part \(name)", expected: Redaction.mark, actual: Redaction.mark, distance: 0.3))
    } else {
      found += body.mismatches(facts).map {
        Mismatch(
          "part \(name)\($0.aspect == "body" ? "" : ", \($0.aspect)")", expected: $0.expected, actual: $0.actual,
          distance: 0.3)
      }
    }
    return found
  }

  func accepts(_ part: MultipartForm.Part, _ facts: RequestFacts) -> Bool {
    name == part.name && mismatches(part, facts).isEmpty
  }
}

extension PartPattern {
  /// Whether the parts of a request, in whatever order, are what is wanted.
  static func matches(_ wanted: [PartPattern], _ isExact: Bool, _ facts: RequestFacts) -> Bool {
    guard let parts = facts.multipart, isExact ? parts.count == wanted.count : parts.count >= wanted.count else {
      return false
    }
    return assignment(wanted, parts, facts.multipartFacts).isComplete
  }

  /// The parts that differ, are missing, or are too many.
  static func mismatches(_ wanted: [PartPattern], _ isExact: Bool, _ facts: RequestFacts) -> [Mismatch] {
    guard let parts = facts.multipart else {
      return [
        Mismatch(
          "parts", expected: wanted.map(\.name).joined(separator: ", "), actual: "no multipart form", distance: 0.6)
      ]
    }
    let details = facts.multipartFacts
    let assignment = assignment(wanted, parts, details)
    var rest = parts.indices.filter { assignment.owners[$0] == nil }
    var found: [Mismatch] = []
    for index in assignment.missing {
      let pattern = wanted[index]
      // The part of that name which nobody else wants is most likely the one that was meant.
      if let place = rest.firstIndex(where: { parts[$0].name == pattern.name }) {
        let position = rest.remove(at: place)
        found += pattern.mismatches(parts[position], details[position])
      } else {
        found.append(
          Mismatch("part \(pattern.name)", expected: pattern.description, actual: "no such part", distance: 0.3))
      }
    }
    if isExact, !rest.isEmpty {
      found.append(
        Mismatch(
          "parts", expected: "no other parts", actual: rest.map { parts[$0].shown }.joined(separator: ", "),
          distance: 0.3))
    }
    return found
  }

  private static func assignment(
    _ wanted: [PartPattern], _ parts: [MultipartForm.Part], _ details: [RequestFacts]
  ) -> Assignment {
    Assignment(of: wanted.count, among: parts.count) { wanted[$1].accepts(parts[$0], details[$0]) }
  }
}

extension PartPattern: CustomStringConvertible {
  var description: String { exact?.shown ?? "\(name): \(Redaction.hides(name) ? Redaction.mark : body.description)" }
}

extension MultipartForm.Part {
  /// The part as a report shows it.
  var shown: String { "\(name): " + (filename.map { "the file \($0), " } ?? "") + shownBody }

  /// Its bytes as a report shows them.
  var shownBody: String {
    if Redaction.hides(name) { return Redaction.mark }
    guard filename == nil, let text = String(data: body, encoding: .utf8) else { return "\(body.count) bytes" }
    if let json = try? JSONNode(parsing: body) { return Excerpt.of(Redaction.masked(json).text) }
    return JSONNode.quoted(Excerpt.ofText(text))
  }
}
