public import Foundation
public import HTTPTypes

extension MockResponse {
  /// A response with the given status and no body.
  ///
  /// - Parameter code: 200 to 999; any other fails the load with ``MockError/Code/invalidResponse``.
  public static func status(_ code: Int) -> MockResponse {
    MockResponse(.message(Message())).status(code)
  }

  /// A response with the given status and no body.
  public static func status(_ status: HTTPResponse.Status) -> MockResponse {
    MockResponse(.message(Message())).status(status)
  }

  /// A response with text in UTF-8.
  public static func text(_ text: String, status: Int = 200) -> MockResponse {
    .data(Data(text.utf8), type: "text/plain; charset=utf-8", status: status)
  }

  /// A response with the given bytes.
  ///
  /// - Parameters:
  ///   - data: The body.
  ///   - type: The value of `Content-Type`; `nil` omits the field.
  ///   - status: The status.
  public static func data(_ data: Data, type: String? = nil, status: Int = 200) -> MockResponse {
    body(.data(data), type: type, status: status)
  }

  /// A response with a value encoded as JSON.
  ///
  /// ```swift
  /// Stub(.get, "/users/:id") { .json(User(name: "Ada")) }
  /// ```
  ///
  /// - Parameters:
  ///   - value: The value. If it cannot be encoded, the load fails with ``MockError/Code/invalidJSON``.
  ///   - status: The status.
  ///   - encoder: The encoder, which runs at once; the default sorts keys, so that equal values give equal bytes.
  public static func json(_ value: some Encodable, status: Int = 200, encoder: JSONEncoder? = nil) -> MockResponse {
    do {
      return .data(try (encoder ?? .sorted).encode(value), type: "application/json", status: status)
    } catch {
      return .broken(
        MockError(
          .invalidJSON, "a value of \(type(of: value)) cannot be encoded as JSON: \(error.redacted).", underlying: error
        ))
    }
  }

  /// A response with a JSON value written as literals, whose members keep their order.
  ///
  /// ```swift
  /// Stub(.get, "/users/:id") { .json(["id": 42, "name": "Ada", "tags": [], "address": nil]) }
  /// ```
  public static func json(_ value: JSONValue, status: Int = 200) -> MockResponse {
    .data(Data(value.node.text.utf8), type: "application/json", status: status)
  }

  /// A response with text that is already JSON, sent byte for byte.
  ///
  /// Text that is not JSON fails the load with ``MockError/Code/invalidJSON`` and the line in the text; to send broken
  /// JSON on purpose, use ``text(_:status:)`` with a header field.
  public static func json(text: String, status: Int = 200) -> MockResponse {
    var response = MockResponse.data(Data(text.utf8), type: "application/json", status: status)
    do {
      _ = try JSONNode(parsing: text)
    } catch {
      response.note(MockError(.invalidJSON, "the text of a response is not JSON: \(error.redacted)", underlying: error))
    }
    return response
  }

  /// A response with any body: data, a file, or a stream.
  ///
  /// A one-shot stream serves one request; use `MessageBody.stream(length:replaying:)` for more.
  public static func body(_ body: MessageBody, type: String? = nil, status: Int = 200) -> MockResponse {
    let response = MockResponse(.message(Message(body: .message(body)))).status(status)
    return type.map { response.header("Content-Type", $0) } ?? response
  }

  /// A redirect.
  ///
  /// The loading system follows the redirect through the mock again: the target needs its own stub.
  ///
  /// - Parameters:
  ///   - target: The value of `Location`, absolute or relative to the request's URL.
  ///   - status: 301, 302, 303, 307 or 308 (RFC 9110, section 15.4); any other fails the load with
  ///     ``MockError/Code/invalidResponse``.
  public static func redirect(to target: String, status: Int = 302) -> MockResponse {
    var response = MockResponse.status(status).header("Location", target)
    if ![301, 302, 303, 307, 308].contains(status) {
      response.note(
        MockError(.invalidResponse, "\(status) is not a redirect that clients follow: use 301, 302, 303, 307 or 308."))
    }
    return response
  }

  /// A response computed from the request.
  ///
  /// ```swift
  /// .computed { request in .text("call \(request.call) of \(request.parameters["id"] ?? "?")") }
  /// ```
  ///
  /// An error from the closure fails the load; a `URLError` is passed on unchanged.
  public static func computed(_ make: @escaping @Sendable (MockRequest) throws -> MockResponse) -> MockResponse {
    MockResponse(.computed(make))
  }

  /// A response computed from the request asynchronously.
  public static func computed(_ make: @escaping @Sendable (MockRequest) async throws -> MockResponse) -> MockResponse {
    MockResponse(.awaited(make))
  }
}

extension JSONEncoder {
  /// The encoder that makes equal values equal bytes.
  static var sorted: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }
}
