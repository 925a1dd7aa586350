import Foundation
import WaylayHAR
import WaylayRecording

/// A request, redacted if the file is, and parsed for comparison.
final class ComparedRequest: Sendable {
  let url: ParsedURL
  let method: String
  let query: [QueryItems.Item]
  let headers: [HAR.Field]
  let body: Data
  /// The redacted request, passed to a custom matcher.
  let request: HAR.Request
  /// The values that redaction replaces, by place.
  let taken: [String: TakenValue]
  private let mediaType: String
  private let ignored: Set<Cassette.Aspect>

  /// Parses a live request.
  convenience init(_ request: InterceptedRequest, body: Data, _ options: Cassette.Options, isRedacted: Bool) {
    let entry = HAR.Entry(
      started: Date(timeIntervalSince1970: 0), request: HAR.Request(request, body: SeenBody(body)), response: .none)
    self.init(entry, request.url.withoutUserInfo, options, isRedacted: isRedacted)
  }

  /// - Parameters:
  ///   - url: The URL in place of an invalid one.
  ///   - isRedacted: Whether the file is redacted: a request is compared as it is with a file that is not.
  init(_ entry: HAR.Entry, _ url: URL, _ options: Cassette.Options, isRedacted: Bool) {
    var report = RedactionReport()
    request = options.redaction.redacted([entry], report: &report)[0].request
    taken = report.taken
    let compared = isRedacted ? request : entry.request
    let ignored = options.ignored
    (self.ignored, self.url) = (ignored, ParsedURL(URL(string: compared.url) ?? url))
    method = compared.method.uppercased()
    query = self.url.items.sortedByName.items.filter { !ignored.contains(.query($0.name)) }
    headers = compared.headers
    body = compared.body?.data ?? Data()
    mediaType = compared.body?.mediaType ?? ""
  }

  /// The value of a header field; with `isInForms`, otherwise of a form field or part of that name.
  func field(_ name: String, inForms isInForms: Bool) -> String? {
    guard !ignored.contains(.field(name)) else { return nil }
    var values = headers.filter { $0.name.lowercased() == name }.map(\.value)
    if values.isEmpty, isInForms {
      switch content {
      case .form(let items): values = items.filter { $0.name.lowercased() == name }.map { $0.value ?? "" }
      case .parts(let parts):
        values = parts.filter { $0.name.lowercased() == name }.map { String(decoding: $0.body, as: UTF8.self) }
      default: break
      }
    }
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }

  /// The values at a path of a JSON body.
  func values(at path: String) -> [JSONValue] {
    guard case .json(let root) = content else { return [] }
    return (try? JSONPath(path))?.values(in: root) ?? []
  }

  /// The body parsed by its media type, without ignored fields and values.
  enum Content {
    case json(JSONValue)
    case form([QueryItems.Item])
    case parts([MultipartForm.Part])
    case text(String)
    case bytes(Data)
  }

  var content: Content {
    if let first = body.first(where: { $0 > 0x20 }), "{[".utf8.contains(first), let json = try? JSONValue(reading: body)
    {
      let paths = ignored.compactMap { if case .json(let path) = $0.kind { try? JSONPath(path) } else { nil } }
      return .json(paths.reduce(json) { $0.without($1.steps[...]) })
    }
    if let parts = MultipartForm.parts(of: body, type: mediaType) {
      return .parts(parts.filter { !ignored.contains(.field($0.name)) })
    }
    guard let text = String(data: body, encoding: .utf8) else { return .bytes(body) }
    if mediaType.lowercased().hasPrefix("application/x-www-form-urlencoded") {
      return .form(QueryItems(text).sortedByName.items.filter { !ignored.contains(.field($0.name)) })
    }
    return .text(text)
  }
}

/// A playable entry of a cassette.
struct Track: Sendable {
  let entry: HAR.Entry
  /// The position of the entry in the file, from 1.
  let number: Int
  let question: ComparedRequest
  /// The redaction placeholder; in a recorded value it matches any text. Redaction may have found a secret through the
  /// response, which is not available when a live request is compared.
  let mark: String
  /// The replaced values of the request by place: digests, numbers that differ, or `null`.
  private let list: [String: JSONValue]
  var uses = 0

  /// - Returns: `nil` for an entry that no client can repeat, such as a WebSocket row in a browser's HAR file.
  init?(_ entry: HAR.Entry, number: Int, _ options: Cassette.Options, isRedacted: Bool) {
    guard let url = URL(string: entry.request.url), let scheme = url.scheme?.lowercased(),
      !["data", "blob", "about", "ws", "wss"].contains(scheme),
      entry.request.method.uppercased() != "CONNECT", entry.response.status != 101,
      entry.extensions["_webSocketMessages"] == nil
    else { return nil }
    self.entry = entry
    self.number = number
    question = ComparedRequest(entry, url, options, isRedacted: isRedacted)
    mark = options.redaction.replacement
    list = entry.replaced.filter { place, _ in !options.ignored.contains { $0.covers(place) } }
  }

  /// The replaced values in a part of the request that can be told from others in the file: digests, or numbers.
  func told(_ isIncluded: (String) -> Bool = { _ in true }) -> [String: JSONValue] {
    list.filter { !$1.isNull && isIncluded($0) }
  }

  /// The places where a request has a value of another digest.
  func others(in asked: ComparedRequest, _ aspects: Set<Cassette.Aspect>) -> [String] {
    let salt = entry.extensions[TakenValue.list]?[TakenValue.salt]?.string ?? ""
    let digests = told { place in aspects.contains { $0.covers(place) } }.compactMapValues(\.string)
    return digests.filter { asked.taken[$0.key]?.digest(salt) != $0.value }.map(\.key)
  }

  /// Whether the entry matches a request in the given aspects.
  func accepts(_ asked: ComparedRequest, _ aspects: Set<Cassette.Aspect>) -> Bool {
    aspects.allSatisfy { agrees(with: asked, in: $0.kind) }
  }

  private func agrees(with asked: ComparedRequest, in aspect: Cassette.Aspect.Kind) -> Bool {
    switch aspect {
    case .method: question.method == asked.method
    case .url:
      question.url.scheme == asked.url.scheme && question.url.port == asked.url.port && agrees(with: asked, in: .host)
        && agrees(with: asked, in: .path)
    case .host: acceptsText(question.url.host, asked.url.host)
    case .path:
      question.url.segments.count == asked.url.segments.count
        && zip(question.url.segments, asked.url.segments).allSatisfy { acceptsText($0, $1) }
    case .query: acceptsItems(question.query, asked.query)
    case .queryItem(let name):
      acceptsItems(question.query.filter { $0.name == name }, asked.query.filter { $0.name == name })
    case .headerField(let name): acceptsText(question.field(name, inForms: false), asked.field(name, inForms: false))
    case .field(let name): acceptsText(question.field(name, inForms: true), asked.field(name, inForms: true))
    case .json(let path): acceptsJSON(JSONValue(question.values(at: path)), JSONValue(asked.values(at: path)))
    case .body: question.body == asked.body || acceptsContent(question.content, asked.content)
    }
  }

  func acceptsItems(_ recorded: [QueryItems.Item], _ asked: [QueryItems.Item]) -> Bool {
    recorded.count == asked.count
      && zip(recorded, asked).allSatisfy { $0.name == $1.name && acceptsText($0.value, $1.value) }
  }

  func acceptsContent(_ recorded: ComparedRequest.Content, _ asked: ComparedRequest.Content) -> Bool {
    switch (recorded, asked) {
    case (.json(let recorded), .json(let asked)): acceptsJSON(recorded, asked)
    case (.form(let recorded), .form(let asked)): acceptsItems(recorded, asked)
    case (.text(let recorded), .text(let asked)): acceptsText(recorded, asked)
    case (.bytes(let recorded), .bytes(let asked)): recorded == asked
    case (.parts(let recorded), .parts(let asked)):
      recorded.count == asked.count
        && zip(recorded, asked).allSatisfy { recorded, asked in
          recorded.name == asked.name && acceptsText(recorded.filename, asked.filename)
            && acceptsText(recorded.contentType, asked.contentType)
            && (recorded.body == asked.body || acceptsText(text(recorded.body), text(asked.body)))
        }
    default: false
    }
  }

  private func text(_ data: Data) -> String { String(decoding: data, as: UTF8.self) }

  private func acceptsJSON(_ recorded: JSONValue, _ asked: JSONValue, at place: String = "request.body") -> Bool {
    switch (recorded.kind, asked.kind) {
    case (.number("0"), .number) where list[place] != nil: true
    case (.string(let text), _) where text == mark: true
    case (.string(let recorded), .string(let asked)): acceptsText(recorded, asked)
    case (.array(let recorded), .array(let asked)):
      recorded.count == asked.count
        && recorded.indices.allSatisfy { acceptsJSON(recorded[$0], asked[$0], at: "\(place).\($0)") }
    case (.object(let members), .object(let others)):
      members.count == others.count
        && members.allSatisfy { member in
          asked[member.name].map { acceptsJSON(member.value, $0, at: "\(place).\(member.name)") } ?? false
        }
    default: recorded == asked
    }
  }

  private func acceptsText(_ recorded: String?, _ asked: String?) -> Bool {
    guard let recorded, let asked else { return recorded == asked }
    if recorded == asked { return true }
    guard !mark.isEmpty, recorded.contains(mark) else { return false }
    // The texts between placeholders must occur in order, the first as prefix, the last as suffix.
    let pieces = recorded.components(separatedBy: mark)
    guard let first = pieces.first, let last = pieces.last, asked.hasPrefix(first),
      asked.dropFirst(first.count).hasSuffix(last)
    else { return false }
    var rest = asked.dropFirst(first.count).dropLast(last.count)
    for piece in pieces.dropFirst().dropLast() where !piece.isEmpty {
      guard let found = rest.range(of: piece) else { return false }
      rest = rest[found.upperBound...]
    }
    return true
  }
}

extension HAR.Entry {
  /// Whether values of the request were replaced, listed or not.
  func isRedacted(by redaction: Redaction) -> Bool {
    let mark = Data(redaction.replacement.utf8)
    return !replaced.isEmpty || !mark.isEmpty && data().firstRange(of: mark) != nil
  }
}

extension Cassette.Aspect {
  /// Whether it includes the value at a place.
  fileprivate func covers(_ place: String) -> Bool {
    switch kind {
    case .url, .path, .query: place.hasPrefix("request.url")
    case .body, .json: place.hasPrefix("request.body")
    case .headerField(let name), .field(let name), .queryItem(let name): place.hasSuffix(".\(name)")
    case .method, .host: false
    }
  }
}

extension JSONValue {
  /// The value without the values at a path.
  fileprivate func without(_ steps: ArraySlice<JSONPath.Step>) -> JSONValue {
    guard let step = steps.first else { return self }
    let rest = steps.dropFirst()
    switch kind {
    case .object(let members):
      return JSONValue(
        .object(
          members.compactMap { member in
            guard step == .all || step == .member(member.name) else { return member }
            return rest.isEmpty ? nil : Member(name: member.name, value: member.value.without(rest))
          }))
    case .array(let elements):
      return JSONValue(
        .array(
          elements.enumerated().compactMap { index, element in
            guard step == .all || step == .element(index) || step == .element(index - elements.count) else {
              return element
            }
            return rest.isEmpty ? nil : element.without(rest)
          }))
    default: return self
    }
  }
}
