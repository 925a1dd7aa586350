public import Foundation
public import HTTPTypes

/// The result of a stub: a response, a failure, or a recipe for one, together with its timing.
///
/// ```swift
/// let found = MockResponse.json(["name": "Ada"]).field("ETag", "\"1\"").delay(.milliseconds(200))
/// let broken = MockResponse.text("half of it").fault(.connectionReset(afterBytes: 4))
/// ```
///
/// | kind | made by |
/// |---|---|
/// | a response | `status(404)`, ``json(_:status:encoder:)``, ``text(_:status:)``, ``data(_:type:status:)`` |
/// | from a file | ``file(_:type:status:)``, ``resource(_:withExtension:subdirectory:in:status:)`` |
/// | chunk by chunk | `chunks(_:every:)`, ``stream(_:type:status:)``, `events(_:every:)` |
/// | from the request | a closure: `Stub(.get, url) { request in … }` |
/// | from the real response | ``passThrough``, changed by `mergingJSON(_:)`, `field(_:_:)` and the like |
/// | a failure | `error(.timedOut)`, `fault(.offline)`, ``never`` |
///
/// A mock response is a value: make it once and use it for any number of requests. A mistake in it, such as a status of
/// 99 or a value that cannot be encoded, is kept and fails the load with a ``MockError`` that names the stub; nothing
/// traps.
///
/// `Content-Length` is set automatically if the length is known; a response to `HEAD`, or with the status 204 or 304,
/// loses its body.
public struct MockResponse: Sendable, Changeable {
  /// Where a response comes from.
  enum Content: Sendable {
    case message(Message)
    case error(any Error)
    case failure(NetworkFault.Failure)
    case never
    case passThrough
  }

  /// A change of the response before it is sent; changes apply in the order they are written.
  enum Edit: Sendable {
    case message(@Sendable (inout Message) -> Void)
    case response(@Sendable (InterceptedResponse, MockRequest) async throws -> InterceptedResponse)
  }

  /// A response that is complete, or reads its body from a file.
  struct Message: Sendable {
    var status: HTTPResponse.Status = .ok
    var fields: HTTPFields = [:]
    var body = Body.message(.empty)
  }

  /// Where the body of a message comes from.
  enum Body: Sendable {
    case message(MessageBody)
    /// A file, opened when a request arrives.
    case file(URL)
  }

  var content: Content
  var edits: [Edit] = []
  var timing = MockTiming()
  var credentials: MockCredentials?
  var servesRanges = false
  /// The fault while the body is sent.
  var bodyFault: NetworkFault?

  /// The mistake in the response, independent of any request: a status of 99, a delay below zero. It fails every load.
  package internal(set) var defect: MockError?

  /// Keeps the first mistake only.
  mutating func note(_ mistake: MockError?) {
    defect = defect ?? mistake
  }

  func noting(_ code: MockError.Code, _ message: String, underlying error: (any Error)? = nil) -> MockResponse {
    with { $0.note(MockError(code, message, underlying: error)) }
  }

  /// A copy with a change of the message, applied now if the message is complete.
  func edited(_ change: @escaping @Sendable (inout Message) -> Void) -> MockResponse {
    with { copy in
      if case .message(var message) = copy.content, copy.edits.isEmpty {
        change(&message)
        copy.content = .message(message)
      } else {
        copy.edits.append(.message(change))
      }
    }
  }
}

extension MockResponse {
  /// A copy with a text as its body, if it has none.
  func explained(by text: String) -> MockResponse {
    guard case .message(let message) = content, case .message(let body) = message.body, body.length == 0 else {
      return self
    }
    return edited { message in
      message.fields[.contentType] = "text/plain; charset=utf-8"
      message.body = .message(.data(Data(text.utf8)))
    }
  }
}

extension MockResponse {
  /// A response with the given status and no body.
  ///
  /// - Parameter code: 200 to 999; any other fails the load with `MockError.invalidResponse`.
  public static func status(_ code: Int) -> MockResponse {
    MockResponse(content: .message(Message())).status(code)
  }

  /// A response with the given status and no body.
  public static func status(_ status: HTTPResponse.Status) -> MockResponse {
    MockResponse(content: .message(Message())).status(status)
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
  /// Stub(.get, "/users/:id", .json(User(name: "Ada")))
  /// ```
  ///
  /// - Parameters:
  ///   - value: The value. If it cannot be encoded, the load fails with `MockError.invalidJSON`.
  ///   - status: The status.
  ///   - encoder: The encoder, which runs at once; the default sorts keys, so that equal values give equal bytes.
  @_disfavoredOverload
  public static func json(_ value: some Encodable, status: Int = 200, encoder: JSONEncoder? = nil) -> MockResponse {
    // An encoder would change the order of members and the digits of numbers.
    if encoder == nil, let values = value as? [JSONValue] { return .json(values.jsonValue, status: status) }
    do {
      return .data(try (encoder ?? .sorted).encode(value), type: "application/json", status: status)
    } catch {
      return MockResponse(content: .message(Message())).noting(
        .invalidJSON, "a value of \(type(of: value)) cannot be encoded as JSON: \(error.redacted).", underlying: error)
    }
  }

  /// A response with a JSON value written as literals, whose members keep their order.
  ///
  /// ```swift
  /// Stub(.get, "/users/:id", .json(["id": 42, "name": "Ada", "tags": [], "address": nil]))
  /// ```
  public static func json(_ value: JSONValue, status: Int = 200) -> MockResponse {
    .data(Data(value.description.utf8), type: "application/json", status: status)
  }

  /// A response with a JSON literal that has variables in it, whose members keep their order.
  ///
  /// ```swift
  /// Stub(.get, "/users/:id", .json(["id": id, "name": name]))
  /// ```
  ///
  /// In a literal inside a literal, and beside `[]`, a variable is written `.init(id)`.
  @_disfavoredOverload
  public static func json(_ value: JSONLiteral, status: Int = 200) -> MockResponse {
    .json(value.jsonValue, status: status)
  }

  /// A response with a JSON object written as a literal whose variables have one type, and whose members keep their
  /// order.
  ///
  /// ```swift
  /// Stub(.get, "/users/:id", .json(["name": name, "city": city]))
  /// ```
  public static func json(
    _ members: KeyValuePairs<String, some JSONConvertible>, status: Int = 200
  ) -> MockResponse {
    .json(JSONValue(members), status: status)
  }

  /// A response with text that is already JSON, sent byte for byte.
  ///
  /// Text that is not JSON fails the load with `MockError.invalidJSON` and the line in the text; to send broken
  /// JSON on purpose, use ``text(_:status:)`` with a header field.
  public static func json(text: String, status: Int = 200) -> MockResponse {
    let response = MockResponse.data(Data(text.utf8), type: "application/json", status: status)
    do {
      _ = try JSONValue(reading: text.utf8)
      return response
    } catch {
      return response.noting(.invalidJSON, "the text of a response is not JSON: \(error)", underlying: error)
    }
  }

  /// A response with any body: data, a file, or a stream.
  ///
  /// A one-shot stream serves one request; use `MessageBody.stream(length:replaying:)` for more.
  public static func body(_ body: MessageBody, type: String? = nil, status: Int = 200) -> MockResponse {
    let response = MockResponse(content: .message(Message(body: .message(body)))).status(status)
    return type.map { response.field("Content-Type", $0) } ?? response
  }

  /// A redirect.
  ///
  /// The loading system follows the redirect through the mock again: the target needs its own stub.
  ///
  /// - Parameters:
  ///   - target: The value of `Location`, absolute or relative to the request's URL.
  ///   - status: 301, 302, 303, 307 or 308 (RFC 9110, section 15.4); any other fails the load with
  ///     `MockError.invalidResponse`.
  public static func redirect(to target: String, status: Int = 302) -> MockResponse {
    let response = MockResponse.status(status).field("Location", target)
    guard ![301, 302, 303, 307, 308].contains(status) else { return response }
    return response.noting(
      .invalidResponse, "\(status) is not a redirect that clients follow: use 301, 302, 303, 307 or 308.")
  }
}

extension JSONEncoder {
  /// An encoder whose output is the same for equal values.
  static var sorted: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }
}

extension MockResponse {
  /// A response with the contents of a file, read on demand.
  ///
  /// - Parameters:
  ///   - url: The file. If it does not exist when a request arrives, the load fails with
  ///     `MockError.unreadableFile`.
  ///   - type: The value of `Content-Type`; by default derived from common file extensions.
  ///   - status: The status.
  public static func file(_ url: URL, type: String? = nil, status: Int = 200) -> MockResponse {
    let fileType = type ?? MediaType.of(pathExtension: url.pathExtension)
    // Do not cache the length: a test may write the file later.
    let response = MockResponse(content: .message(Message(body: .file(url)))).status(status)
    return fileType.map { response.field("Content-Type", $0) } ?? response
  }

  /// A response with a resource of a bundle, read on demand.
  ///
  /// ```swift
  /// Stub(.get, "/users", .resource("users", withExtension: "json", in: .module))
  /// ```
  ///
  /// A resource that the bundle does not contain fails the load with `MockError.unreadableFile`.
  public static func resource(
    _ name: String, withExtension pathExtension: String? = nil, subdirectory: String? = nil, in bundle: Bundle,
    status: Int = 200
  ) -> MockResponse {
    guard let url = bundle.url(forResource: name, withExtension: pathExtension, subdirectory: subdirectory) else {
      let file = [subdirectory.map { $0 + "/" } ?? "", name, pathExtension.map { "." + $0 } ?? ""].joined()
      return MockResponse(content: .message(Message())).noting(
        .unreadableFile,
        "the bundle at \(bundle.bundlePath) has no resource \(file): list it under resources: of its target in "
          + "Package.swift.")
    }
    return .file(url, status: status)
  }
}

extension MessageBody {
  /// The body of a readable file.
  static func existing(_ file: URL) throws -> MessageBody {
    var isDirectory: ObjCBool = false
    let exists = FileManager.default.fileExists(atPath: file.path, isDirectory: &isDirectory)
    guard exists, !isDirectory.boolValue, FileManager.default.isReadableFile(atPath: file.path) else {
      let reason = !exists ? "does not exist" : isDirectory.boolValue ? "is a folder" : "cannot be read"
      throw MockError(.unreadableFile, "the file \(file.path) of a response \(reason): check its path.")
    }
    return .file(file)
  }
}

extension MockResponse {
  /// The same response with another status, 200 to 999.
  public func status(_ code: Int) -> MockResponse {
    guard (200...999).contains(code) else {
      return noting(.invalidResponse, "\(code) is not a valid status code: use 200 to 999.")
    }
    return status(HTTPResponse.Status(code: code))
  }

  /// The same response with another status.
  public func status(_ status: HTTPResponse.Status) -> MockResponse {
    guard (200...999).contains(status.code) else { return self.status(status.code) }
    return edited { $0.status = status }
  }

  /// The same response with a header field, which replaces any of the same name.
  ///
  /// - Parameters:
  ///   - name: The field's name. An invalid name fails the load with `MockError.invalidResponse`.
  ///   - value: The value, without line breaks.
  public func field(_ name: String, _ value: String) -> MockResponse {
    field(name, value) { $0.fields[$1.name] = $1.value }
  }

  /// The same response with a header field, which replaces any of the same name.
  public func field(_ name: HTTPField.Name, _ value: String) -> MockResponse {
    field(name.rawName, value)
  }

  /// The same response with these header fields, each of which replaces any of the same name.
  public func fields(_ fields: [String: String]) -> MockResponse {
    fields.sorted { $0.key < $1.key }.reduce(self) { $0.field($1.key, $1.value) }
  }

  /// The same response with an additional header field, which keeps those of the same name.
  public func addingField(_ name: String, _ value: String) -> MockResponse {
    if case .message(let message) = content, message.fields.count >= MessageLimits.mostFields {
      return noting(.invalidResponse, "a response exceeds the limit of \(MessageLimits.mostFields) header fields.")
    }
    return field(name, value) { if $0.fields.count < MessageLimits.mostFields { $0.fields.append($1) } }
  }

  /// The same response without the header fields of the given name.
  public func removingField(_ name: String) -> MockResponse {
    guard let name = HTTPField.Name(name) else { return self }
    return edited { $0.fields[name] = nil }
  }

  /// The same response with an additional `Set-Cookie` field, which goes into the session's cookie storage.
  ///
  /// ```swift
  /// .status(204).cookie("session=42; Path=/; HttpOnly").cookie("theme=dark")
  /// ```
  public func cookie(_ value: String) -> MockResponse {
    addingField("Set-Cookie", value)
  }

  private func field(
    _ name: String, _ value: String, _ change: @escaping @Sendable (inout Message, HTTPField) -> Void
  ) -> MockResponse {
    guard let fieldName = HTTPField.Name(name) else {
      return noting(.invalidResponse, "\"\(name)\" is not a valid header field name (RFC 9110, section 5.1).")
    }
    guard HTTPField.isValidValue(value) else {
      return noting(
        .invalidResponse,
        "the value of \(name) contains a line break or another control character, or begins or ends with a space.")
    }
    let field = HTTPField(name: fieldName, value: value)
    return edited { change(&$0, field) }
  }
}

extension MockResponse: CustomStringConvertible {
  /// A short description of the response for reports, without body and credentials.
  public var description: String {
    if let defect { return "invalid response: \(defect.message)" }
    let waits = timing.firstByte.map { " after \($0)" } ?? ""
    return contentDescription + (bodyFault.map { ", \($0)" } ?? "") + waits
  }

  private var contentDescription: String {
    switch content {
    case .message(let message):
      let type = message.fields.first { $0.name == .contentType }.map { " " + $0.value } ?? ""
      return "\(message.status.code)\(type)" + message.body.description
    case .error(let error): return "error \(error.redacted)"
    case .failure(let failure): return "URLError \(failure.urlErrorCode.rawValue) while \(failure.phase)"
    case .never: return "never responds"
    case .passThrough: return edits.isEmpty ? "the next response" : "the next response, changed"
    }
  }
}

extension MockResponse.Body {
  fileprivate var description: String {
    switch self {
    case .message(let body): body.isEmpty ? "" : body.length.map { ", \($0) bytes" } ?? ", a stream"
    case .file(let file): ", \(file.lastPathComponent)"
    }
  }
}
