/// A request that a mock received, with its body.
public struct RecordedCall: Sendable {
  private let request: InterceptedRequest
  /// The whole body.
  public let body: Data
  /// The values of the URL pattern's parameters: `id` for `/users/:id`.
  public let parameters: [String: String]
  private let entry: StubEntry?
  /// Whether the stub that answered is one of the mock's own, and not of a mock round it.
  private let isOwn: Bool
  /// The names whose values may be shown.
  private let shownNames: Set<String>

  init(_ facts: RequestFacts, _ entry: StubEntry?, isOwn: Bool, _ parameters: [String: String], showing: Set<String>) {
    shownNames = showing
    request = facts.request
    body = facts.body
    self.entry = entry
    self.isOwn = isOwn
    self.parameters = parameters
  }

  /// The location of the stub that answered the request; `nil` if none did.
  public var stubLocation: MockSourceLocation? { entry?.stub.location }

  /// The number, in the mock, of the stub that answered.
  var number: Int? { isOwn ? entry?.number : nil }

  /// The header fields.
  public var fields: HTTPFields { request.fields }
  /// The request as a `URLRequest`, without a body.
  public var urlRequest: URLRequest { request.untagged }
  /// The method, in uppercase.
  public var method: String { request.method.rawValue.uppercased() }
  /// The URL.
  public var url: URL { request.url }

  /// Returns the value of a header field; the name is case-insensitive.
  public func header(_ name: String) -> String? { request.headerValue(name) }

  /// Decodes the body from JSON.
  ///
  /// - Throws: What the decoder throws.
  public func json<Value: Decodable>(
    _ type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    try decoder.decode(type, from: body)
  }

  var facts: RequestFacts { RequestFacts(request, body: body) }

  /// Whether the answer to this one led to another request: an earlier hop of the same load, or, where the loading
  /// system makes a load of each hop, a redirect to its URL.
  func mayHaveSent(_ next: RequestFacts) -> Bool {
    guard entry != nil else { return false }
    if request.id == next.request.id { return request.hop < next.request.hop }
    guard next.request.hop > 0, case .declared(let answers)? = entry?.stub.answer else { return false }
    return answers.contains { answer in
      guard case .message(let message) = answer.content, let location = message.fields[.location] else { return false }
      return URL(string: location, relativeTo: url)?.absoluteString == next.url.url.absoluteString
    }
  }
}

extension RecordedCall: CustomStringConvertible {
  /// Method and URL, without the user info, the fragment, and the values of query items whose names indicate a secret.
  public var description: String {
    Redaction.$shownNames.withValue(shownNames) { "\(method) \(Redaction.shown(url))" }
  }
}
