/// A request as seen by a stub's closure.
///
/// ```swift
/// Stub(.put, "/users/:id") { request in
///   let user = try request.json(User.self)
///   return .text("\(user.name) is number \(request.parameters["id"] ?? "")")
/// }
/// ```
public struct MockRequest: Sendable {
  /// The request, whose body can be read again.
  public let request: InterceptedRequest
  /// The whole body, for any kind of task: data, file or stream.
  public let body: Data
  /// The values of the URL pattern's parameters: `id` for `/users/:id`.
  public let parameters: [String: String]
  /// The number of earlier calls of the stub, starting at 0.
  public let call: Int

  /// Makes a request to test a closure.
  public init(_ request: InterceptedRequest, body: Data = Data(), parameters: [String: String] = [:], call: Int = 0) {
    self.request = request
    self.body = body
    self.parameters = parameters
    self.call = call
  }

  /// The header fields.
  public var fields: HTTPFields { request.fields }
  /// The request as a `URLRequest`, without a body.
  public var urlRequest: URLRequest { request.urlRequest }
  /// The method, in uppercase.
  public var method: String { request.method.rawValue.uppercased() }
  /// The URL.
  public var url: URL { request.url }
  /// The body as text; invalid UTF-8 is repaired.
  public var text: String { String(decoding: body, as: UTF8.self) }

  /// Returns the value of a header field; the name is case-insensitive.
  public func header(_ name: String) -> String? { request.headerValue(name) }

  /// Returns the value of the first query item with the given name; empty for an item without a value, `nil` if there
  /// is no such item.
  public func query(_ name: String) -> String? {
    ParsedURL(url).items.values(of: name).first.map { $0 ?? "" }
  }

  /// Decodes the body from JSON.
  ///
  /// - Throws: What the decoder throws.
  public func json<Value: Decodable>(
    _ type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    try decoder.decode(type, from: body)
  }
}
