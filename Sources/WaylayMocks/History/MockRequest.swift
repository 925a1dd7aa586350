public import WaylayHAR

/// A request that a mock received, with its body: a stub's closure gets it, and the mock's history keeps it.
///
/// ```swift
/// Stub(.put, "/users/:id") { request in
///   let user = try request.json(User.self)
///   return .text("\(user.name) is number \(request.parameters["id"] ?? "")")
/// }
/// ```
public struct MockRequest: Sendable {
  /// Data of a request in the history.
  struct Record: Sendable {
    /// The stub that answered; dropped once the stub is removed, to free its memory.
    var entry: StubEntry?
    /// The number and location of that stub, if any.
    let stub: (number: Int, location: MockSourceLocation)?
    /// Whether the answering stub belongs to this mock, not to an outer mock.
    let isOwn: Bool
    /// Names whose values reports may show.
    let shownNames: Set<String>
    /// The response or the error.
    let outcome: MockOutcome?
  }

  /// The request, with a replayable body.
  public let request: InterceptedRequest
  /// The whole body, for any kind of task: data, file or stream.
  public let body: Data
  /// The values of the URL pattern's parameters: `id` for `/users/:id`.
  public let parameters: [String: String]
  /// The position among the requests that the stub answers, from 0.
  public let index: Int
  /// `nil` outside the history.
  var record: Record?

  /// The location of the stub that answered the request, in a mock's history; `nil` if none did.
  public var stubLocation: MockSourceLocation? { record?.stub?.location }

  /// The header fields.
  public var fields: HTTPFields { request.fields }
  /// The request as a `URLRequest`, without a body.
  public var urlRequest: URLRequest { record == nil ? request.urlRequest : request.untagged }
  /// The method, in uppercase.
  public var method: String { request.method.rawValue.uppercased() }
  /// The URL.
  public var url: URL { request.url }
  /// The body as text; invalid UTF-8 is repaired.
  public var text: String { String(decoding: body, as: UTF8.self) }

  /// Returns the value of a header field; the name is case-insensitive.
  public func field(_ name: String) -> String? { request.headerValue(name) }

  /// Returns the value of the first query item with the given name; empty for an item without a value, `nil` if there
  /// is no such item.
  public func query(_ name: String) -> String? {
    ParsedURL(url).items.values(of: name).first.map { $0 ?? "" }
  }

  /// Decodes the body from JSON.
  ///
  /// - Throws: The decoder's error.
  public func json<Value: Decodable>(
    _ type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    try decoder.decode(type, from: body)
  }
}

extension MockRequest {
  /// Makes a request to test a closure.
  public init(_ request: InterceptedRequest, body: Data = Data(), parameters: [String: String] = [:], index: Int = 0) {
    self.init(request: request, body: body, parameters: parameters, index: index, record: nil)
  }
}

extension MockRequest: CustomStringConvertible {
  /// Method and URL, without the user info, the fragment, and the values of query items whose names indicate a secret.
  public var description: String {
    Redaction.$shownNames.withValue(record?.shownNames ?? []) { "\(method) \(Redaction.shown(url))" }
  }
}

extension MockRequest {
  var facts: RequestFacts { RequestFacts(request, body: body) }
  package var graphQLOperations: [String]? { facts.graphQLOperations }

  package func matches(_ pattern: RequestPattern) -> Bool { pattern.matches(facts) }

  /// Whether the response to this request may have led to `next`: an earlier hop of the same load, or, where the
  /// loading system starts a new load per hop, a redirect to its URL.
  func mayHaveSent(_ next: RequestFacts) -> Bool {
    guard let stub = record?.entry?.stub else { return false }
    if request.id == next.request.id { return request.hop < next.request.hop }
    guard next.request.hop > 0, let responses = stub.listed else { return false }
    return responses.contains { response in
      guard case .message(let message) = response.content, let location = message.fields[.location] else {
        return false
      }
      return URL(string: location, relativeTo: url)?.absoluteString == next.url.url.absoluteString
    }
  }
}

extension MockRequest {
  /// The exchange as an entry of an HTTP archive, without secrets: in a mock's history, with the response.
  ///
  /// ```swift
  /// let entry = try MockInterceptor.current.requests(.post, "/orders").only().harEntry
  /// ```
  public var harEntry: HAR.Entry { redaction.redacted(entry) }

  /// Returns a `curl` command that sends the request again, without secrets.
  ///
  /// ```swift
  /// #expect(try mock.requests(.get, "/users").only().curlCommand() == expected)
  /// ```
  ///
  /// - Parameter isMultiline: Whether to write each option on its own line.
  public func curlCommand(isMultiline: Bool = true) -> String {
    harEntry.request.curlCommand(isMultiline: isMultiline)
  }

  /// The request as a `curl` command for a report; `nil` for a long body.
  var repetition: String? {
    body.count > 2048 ? nil : harEntry.request.curlCommand(isMultiline: false)
  }

  var redaction: Redaction { Redaction.standard.showing(record?.shownNames ?? []) }

  /// The exchange with its secrets.
  package var entry: HAR.Entry { (record?.outcome ?? MockOutcome()).entry(of: request, body) }
}

extension Redaction {
  fileprivate func showing(_ names: Set<String>) -> Redaction {
    names.reduce(into: self) { $0.show($1) }
  }
}

extension MockInterceptor {
  /// All exchanges of the history as an HTTP archive, without secrets.
  ///
  /// - Parameter redaction: The secrets to remove; by default the standard names, except those that the options show.
  package func traffic(redaction: Redaction?) -> HAR {
    var report = RedactionReport()
    return (redaction ?? .standard).showing(shownNames).redacted(HAR(entries: received.map(\.entry)), report: &report)
  }
}
