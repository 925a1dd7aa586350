import Foundation
import HTTPTypes

extension MockResponse {
  /// A response with that status and no body.
  public static func status(_ code: Int) -> MockResponse {
    MockResponse(.message(Message())).status(code)
  }

  /// A response with a text as UTF-8.
  public static func text(_ text: String, status: Int = 200) -> MockResponse {
    .data(Data(text.utf8), type: "text/plain; charset=utf-8", status: status)
  }

  /// A response with the given bytes.
  public static func data(_ data: Data, type: String? = nil, status: Int = 200) -> MockResponse {
    let response = MockResponse(.message(Message(body: .data(data)))).status(status)
    return type.map { response.header("Content-Type", $0) } ?? response
  }

  /// A response with a value as JSON.
  public static func json(_ value: some Encodable, status: Int = 200, encoder: JSONEncoder = JSONEncoder()) -> MockResponse {
    do {
      return .data(try encoder.encode(value), type: "application/json", status: status)
    } catch {
      return MockResponse(
        .message(Message()),
        defect: MockError(.invalidJSON, "a value of \(type(of: value)) cannot be encoded as JSON: \(error).", underlying: error))
    }
  }

  /// A failure with that code, as the network gives it.
  public static func error(_ code: URLError.Code) -> MockResponse {
    MockResponse(.error(URLError(code)))
  }

  /// A failure of one's own.
  public static func error(_ error: any Error) -> MockResponse {
    MockResponse(.error(error))
  }

  /// No answer, until the load is cancelled or times out.
  public static var never: MockResponse { MockResponse(.never) }

  /// An answer that is computed from the request.
  public static func computed(_ make: @escaping @Sendable (MockRequest) throws -> MockResponse) -> MockResponse {
    MockResponse(.computed(needsBody: true, make))
  }

  /// An answer that is computed from the request, and takes its time.
  public static func computed(_ make: @escaping @Sendable (MockRequest) async throws -> MockResponse) -> MockResponse {
    MockResponse(.awaited(make))
  }
}

extension MockResponse {
  /// The same with another status.
  public func status(_ code: Int) -> MockResponse {
    guard (200...999).contains(code) else {
      return with { $0.note(MockError(.invalidResponse, "\(code) is no status of a response: use 200 to 599.")) }
    }
    return edited { $0.status = HTTPResponse.Status(code: code) }
  }

  /// The same with a header field, in place of one of that name.
  public func header(_ name: String, _ value: String) -> MockResponse {
    guard let name = HTTPField.Name(name) else {
      return with { $0.note(MockError(.invalidResponse, "\"\(name)\" is no name of a header field (RFC 9110, section 5.1).")) }
    }
    return edited { $0.fields[name] = value }
  }

  /// The same after a delay.
  public func delay(_ duration: Duration) -> MockResponse {
    with { $0.timing.firstByte = .fixed(duration) }
  }

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
