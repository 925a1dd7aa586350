/// What a stub's closure sees of a request.
///
/// ```swift
/// Stub(.put, "/users/:id") { request in
///   let user = try request.json(User.self)
///   return .text("\(user.name) is number \(request.parameters["id"] ?? "")")
/// }
/// ```
public struct MockRequest: Sendable {
  /// The request, whose body may be read again.
  public let request: InterceptedRequest
  /// The whole body, from whatever kind of task: data, file or stream.
  public let body: Data
  /// The values of the URL pattern's names: `id` for `/users/:id`.
  public let parameters: [String: String]
  /// How often the stub was called before, from 0.
  public let call: Int

  /// Makes a request, for the test of a closure.
  public init(_ request: InterceptedRequest, body: Data = Data(), parameters: [String: String] = [:], call: Int = 0) {
    self.request = request
    self.body = body
    self.parameters = parameters
    self.call = call
  }

  /// The header fields.
  public var fields: HTTPFields { request.fields }
  /// The request as the loading system knows it, without a body.
  public var urlRequest: URLRequest { request.urlRequest }
  /// The method, in upper case.
  public var method: String { request.method.rawValue.uppercased() }
  /// The URL.
  public var url: URL { request.url }
  /// The body as text; bytes that are not UTF-8 are repaired.
  public var text: String { String(decoding: body, as: UTF8.self) }

  /// The value of a header field, whatever the case of its name.
  public func header(_ name: String) -> String? { request.headerValue(name) }

  /// The value of the first query item of that name; empty for one without a value, `nil` when there is no such item.
  public func query(_ name: String) -> String? {
    ParsedURL(url).items.values(of: name).first.map { $0 ?? "" }
  }

  /// The body as a value.
  ///
  /// - Throws: What the decoder throws.
  public func json<Value: Decodable>(
    _ type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    try decoder.decode(type, from: body)
  }
}
