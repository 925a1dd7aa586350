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
  var request: HAR.Request { redacted ?? options.redaction.redacted(entry).request }
  private let entry: HAR.Entry
  private let options: Cassette.Options
  /// The request as it is compared with a redacted file.
  private let redacted: HAR.Request?
  private let mediaType: String
  private let ignored: Set<Cassette.Aspect>
  private let parsed = Locked<Content?>(nil)
  private let unredacted = Locked<ComparedRequest?>(nil)

  /// Parses a live request.
  convenience init(_ request: InterceptedRequest, body: Data, _ options: Cassette.Options, isRedacted: Bool) {
    let entry = HAR.Entry(
      started: Date(timeIntervalSince1970: 0), request: HAR.Request(request, body: SeenBody(body)), response: .none)
    self.init(entry, request.url.withoutUserInfo, options, isRedacted: isRedacted)
  }

  /// - Parameters:
  ///   - url: The URL to use if the entry's is invalid.
  ///   - isRedacted: Whether the file is redacted; otherwise the request is compared without redaction.
  init(_ entry: HAR.Entry, _ url: URL, _ options: Cassette.Options, isRedacted: Bool) {
    redacted =
      isRedacted
      ? options.redaction.redacted(entry).request.withoutHiddenNumbers(options.redaction.replacement) : nil
    (self.entry, self.options) = (entry, options)
    let compared = redacted ?? entry.request
    let ignored = options.ignored
    (self.ignored, self.url) = (ignored, ParsedURL(URL(string: compared.url) ?? url))
    method = compared.method.uppercased()
    query = self.url.items.sortedByName.items.filter { !ignored.contains(.query($0.name)) }
    headers = compared.headers
    body = compared.body?.data ?? Data()
    mediaType = compared.body?.mediaType ?? ""
  }

  /// The request as it was made, parsed once for all entries that it is compared with.
  var raw: ComparedRequest {
    if let known = unredacted.withLock({ $0 }) { return known }
    let raw = raw()
    if redacted != nil { unredacted.withLock { $0 = raw } }
    return raw
  }

  /// The request as it was made or recorded, or with another body.
  func raw(body: Data? = nil) -> ComparedRequest {
    guard redacted != nil || body != nil else { return self }
    var entry = entry
    if let body { entry.request.body?.data = body }
    return ComparedRequest(entry, url.url, options, isRedacted: false)
  }

  /// Runs `make`, which shows parts of the request, with the secrets of the request known.
  func reporting<Value>(_ make: () -> Value) -> Value {
    Redaction.$known.withValue(Redaction.secrets(of: entry.request), operation: make)
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

  /// A part of the request as a value.
  func part(_ aspect: Cassette.Aspect) -> JSONValue {
    switch aspect.kind {
    case .method: JSONValue(method)
    case .url: JSONValue([url.scheme, "\(url.port)", url.host] + url.segments)
    case .host: JSONValue(url.host)
    case .path: JSONValue(url.segments)
    case .query: query.json
    case .queryItem(let name): query.filter { $0.name == name }.json
    case .headerField(let name): JSONValue(field(name, inForms: false))
    case .field(let name): JSONValue(field(name, inForms: true))
    case .json(let path): JSONValue(values(at: path))
    case .body: content.json
    }
  }

  /// The body parsed by its media type, without ignored fields and values.
  enum Content: Sendable {
    case json(JSONValue)
    case form([QueryItems.Item])
    case parts([MultipartForm.Part])
    case text(String)
    case bytes(Data)

    var json: JSONValue {
      switch self {
      case .json(let value): value
      case .form(let items): ["form", items.json]
      case .parts(let parts): ["parts", parts.json]
      case .text(let text): JSONValue(text)
      case .bytes(let data): ["bytes", .init(data.base64EncodedString())]
      }
    }
  }

  var content: Content {
    parsed.withLock { parsed in
      let content = parsed ?? read()
      parsed = content
      return content
    }
  }

  private func read() -> Content {
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
  /// The request with the marks of hidden values, also of JSON's numbers.
  var recorded: ComparedRequest {
    guard list.values.contains(where: { $0.string?.hasPrefix(mark) == true }),
      let json = try? JSONValue(reading: entry.request.body?.data ?? Data())
    else { return question.raw() }
    return question.raw(body: Data(marked(json, at: "request.body").description.utf8))
  }

  private func marked(_ json: JSONValue, at place: String) -> JSONValue {
    switch json.kind {
    case .number("0"): list[place].flatMap { $0.isNull ? nil : $0 } ?? json
    case .array(let elements):
      JSONValue(elements.enumerated().map { marked($1, at: "\(place).\($0)") })
    case .object(let members):
      JSONValue(
        .object(
          members.map { JSONValue.Member(name: $0.name, value: marked($0.value, at: "\(place).\($0.name)")) }))
    default: json
    }
  }

  /// The redaction placeholder; in a recorded value it matches any text. Redaction may have found a secret through the
  /// response, which is not available when a live request is compared.
  let mark: String
  /// The replaced values of the request by place, each with `null`; files of earlier versions have digests or numbers.
  private let list: [String: JSONValue]
  private let isRedacted: Bool
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
    self.isRedacted = isRedacted
    list = entry.replaced.filter { place, _ in !options.ignored.contains { $0.covers(place) } }
  }

  /// The digests and numbers of hidden values in files of earlier versions: they differ for different values, and are
  /// never compared with a live one.
  func told(_ aspects: Set<Cassette.Aspect>) -> [JSONValue] {
    let told = list.filter { place, value in !value.isNull && aspects.contains { $0.covers(place) } }
    return told.isEmpty ? [] : [JSONValue(told)]
  }

  /// Whether the entry matches a request in the given aspects.
  func accepts(_ asked: ComparedRequest, _ aspects: Set<Cassette.Aspect>) -> Bool {
    aspects.allSatisfy { aspect in
      aspect == .body && question.body == asked.body || accepts(question.part(aspect), asked.part(aspect))
    }
  }

  func accepts(_ recorded: JSONValue, _ asked: JSONValue) -> Bool {
    asked.fitted(to: gaps(in: recorded), mark) == recorded
  }

  /// The parts of a recorded value from which redaction removed something; `null` for an unchanged value.
  func gaps(in recorded: JSONValue, at place: String = "request.body") -> JSONValue {
    guard isRedacted else { return nil }
    switch recorded.kind {
    case .number("0") where list[place] != nil: return recorded
    case .string(let text) where text.pieces(at: mark) != nil: return recorded
    case .array(let elements):
      let found = elements.enumerated().map { gaps(in: $1, at: "\(place).\($0)") }
      return found.allSatisfy(\.isNull) ? nil : JSONValue(found)
    case .object(let members):
      let found = members.map { member in
        JSONValue.Member(name: member.name, value: gaps(in: member.value, at: "\(place).\(member.name)"))
      }
      return found.allSatisfy(\.value.isNull) ? nil : JSONValue(.object(found))
    default: return nil
    }
  }
}

extension HAR.Entry {
  /// Whether redaction replaced values of the request, listed or not.
  func isRedacted(by redaction: Redaction) -> Bool {
    let mark = Data(redaction.replacement.utf8)
    return !replaced.isEmpty || !mark.isEmpty && data().firstRange(of: mark) != nil
  }
}

extension Cassette.Aspect {
  /// Whether the aspect includes the value at a place.
  fileprivate func covers(_ place: String) -> Bool {
    switch kind {
    case .url, .path, .query: place.hasPrefix("request.url")
    case .body, .json: place.hasPrefix("request.body")
    case .headerField(let name), .field(let name), .queryItem(let name): place.hasSuffix(".\(name)")
    case .method, .host: false
    }
  }
}

extension [QueryItems.Item] {
  var json: JSONValue { JSONValue(map { JSONValue([$0.name, $0.value] as [String?]) }) }
}

extension [MultipartForm.Part] {
  var json: JSONValue {
    JSONValue(
      map { part -> JSONValue in
        let text = String(decoding: part.body, as: UTF8.self)
        return JSONValue([part.name, part.filename, part.contentType, text] as [String?])
      })
  }
}

extension JSONValue {
  /// The value, in which each text that fits a gap is replaced by the recorded text.
  func fitted(to gaps: JSONValue, _ mark: String) -> JSONValue {
    switch (gaps.kind, kind) {
    case (.string(mark), _), (.number, .number): gaps
    case (.string(let recorded), .string(let text))
    where recorded.pieces(at: mark).flatMap { text.captures(between: $0.texts) } != nil:
      gaps
    case (.array(let gaps), .array(let elements)) where gaps.count == elements.count:
      JSONValue(zip(elements, gaps).map { $0.fitted(to: $1, mark) })
    case (.object, .object(let members)):
      JSONValue(
        .object(
          members.map { member in
            Member(name: member.name, value: member.value.fitted(to: gaps[member.name] ?? JSONValue(.null), mark))
          }))
    default: self
    }
  }

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
