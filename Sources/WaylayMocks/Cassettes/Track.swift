import Foundation
import WaylayHAR
import WaylayRecording

/// A request as it is compared: redacted, and taken apart.
final class ComparedRequest: Sendable {
  let url: ParsedURL
  let method: String
  let query: [QueryItems.Item]
  let headers: [HAR.Field]
  let body: Data
  private let mediaType: String

  /// A request that was recorded; `nil` where its URL is none.
  convenience init?(_ request: HAR.Request) {
    guard let url = URL(string: request.url), url.scheme != nil else { return nil }
    self.init(url, request)
  }

  /// A request that is asked now. What is a secret in it is none any more.
  convenience init(_ request: InterceptedRequest, body: Data, _ redaction: Redaction) {
    let entry = HAR.Entry(
      started: Date(timeIntervalSince1970: 0), request: HAR.Request(request, body: SeenBody(body)), response: .none)
    let redacted = redaction.redacted(entry).request
    self.init(URL(string: redacted.url) ?? request.url.withoutUserInfo, redacted)
  }

  private init(_ url: URL, _ request: HAR.Request) {
    self.url = ParsedURL(url)
    method = request.method.uppercased()
    query = self.url.items.sortedByName.items
    headers = request.headers
    body = request.body?.data ?? Data()
    mediaType = request.body?.mediaType ?? ""
  }

  func header(_ name: String) -> String? {
    let values = headers.filter { $0.name.lowercased() == name }.map(\.value)
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }

  /// The body as what it says that it is.
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
      return .json(json)
    }
    if let parts = MultipartForm.parts(of: body, type: mediaType) { return .parts(parts) }
    guard let text = String(data: body, encoding: .utf8) else { return .bytes(body) }
    if mediaType.lowercased().hasPrefix("application/x-www-form-urlencoded") {
      return .form(QueryItems(text).sortedByName.items)
    }
    return .text(text)
  }
}

/// An entry of a cassette that can be played.
struct Track: Sendable {
  let entry: HAR.Entry
  /// Which entry of the file it is, from 1.
  let number: Int
  let question: ComparedRequest
  /// What stands in place of secrets: it stands for anything when it was recorded. A secret may have been found by
  /// what came back, which is not known yet when a request is asked.
  let mark: String
  var uses = 0

  /// - Returns: `nil` for what is no exchange that a client could repeat, such as the rows of WebSockets in archives of
  ///   browsers.
  init?(_ entry: HAR.Entry, number: Int, _ redaction: Redaction) {
    // Files of browsers are not redacted, and what is asked is.
    guard let question = ComparedRequest(redaction.redacted(entry).request),
      !["data", "blob", "about", "ws", "wss"].contains(question.url.scheme),
      question.method != "CONNECT", entry.response.status != 101, entry.extensions["_webSocketMessages"] == nil
    else { return nil }
    self.entry = entry
    self.number = number
    self.question = question
    mark = redaction.replacement
  }

  /// Whether the entry is for a request.
  func accepts(_ asked: ComparedRequest, _ aspects: Set<Cassette.Aspect>) -> Bool {
    aspects.allSatisfy { accepts(asked, $0.kind) }
  }

  private func accepts(_ asked: ComparedRequest, _ aspect: Cassette.Aspect.Kind) -> Bool {
    switch aspect {
    case .method: question.method == asked.method
    case .url:
      question.url.scheme == asked.url.scheme && question.url.port == asked.url.port && accepts(asked, .host)
        && accepts(asked, .path)
    case .host: accepts(question.url.host, asked.url.host)
    case .path:
      question.url.segments.count == asked.url.segments.count
        && zip(question.url.segments, asked.url.segments).allSatisfy { accepts($0, $1) }
    case .query: accepts(question.query, asked.query)
    case .header(let name): accepts(question.header(name), asked.header(name))
    case .body: question.body == asked.body || accepts(question.content, asked.content)
    }
  }

  private func accepts(_ recorded: [QueryItems.Item], _ asked: [QueryItems.Item]) -> Bool {
    recorded.count == asked.count
      && zip(recorded, asked).allSatisfy { $0.name == $1.name && accepts($0.value, $1.value) }
  }

  private func accepts(_ recorded: ComparedRequest.Content, _ asked: ComparedRequest.Content) -> Bool {
    switch (recorded, asked) {
    case (.json(let recorded), .json(let asked)): accepts(recorded, asked)
    case (.form(let recorded), .form(let asked)): accepts(recorded, asked)
    case (.text(let recorded), .text(let asked)): accepts(recorded, asked)
    case (.bytes(let recorded), .bytes(let asked)): recorded == asked
    case (.parts(let recorded), .parts(let asked)):
      recorded.count == asked.count
        && zip(recorded, asked).allSatisfy { recorded, asked in
          recorded.name == asked.name && recorded.filename == asked.filename
            && recorded.contentType == asked.contentType
            && (recorded.body == asked.body || accepts(text(recorded.body), text(asked.body)))
        }
    default: false
    }
  }

  private func text(_ data: Data) -> String { String(decoding: data, as: UTF8.self) }

  private func accepts(_ recorded: JSONValue, _ asked: JSONValue) -> Bool {
    switch (recorded.kind, asked.kind) {
    case (.string(let text), _) where text == mark: true
    case (.string(let recorded), .string(let asked)): accepts(recorded, asked)
    case (.array(let recorded), .array(let asked)):
      recorded.count == asked.count && zip(recorded, asked).allSatisfy { accepts($0, $1) }
    case (.object(let members), .object(let others)):
      members.count == others.count
        && members.allSatisfy { member in asked[member.name].map { accepts(member.value, $0) } ?? false }
    default: recorded == asked
    }
  }

  private func accepts(_ recorded: String?, _ asked: String?) -> Bool {
    guard let recorded, let asked else { return recorded == asked }
    if recorded == asked { return true }
    guard !mark.isEmpty, recorded.contains(mark) else { return false }
    // The pieces between marks, in their order; the first at the beginning, the last at the end.
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
