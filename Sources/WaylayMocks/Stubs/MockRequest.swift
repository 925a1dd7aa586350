/// What a stub's closure sees of a request.
public struct MockRequest: Sendable {
  /// The request, whose body may be read again.
  public let request: InterceptedRequest
  /// The whole body.
  public let body: Data
  /// The values of the path's names: `id` for `/users/:id`.
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

  /// Method, URL and header fields.
  public var urlRequest: URLRequest { request.urlRequest }
}
