public import HTTPTypes

extension MockResponse {
  /// The same response with another status, 200 to 999.
  public func status(_ code: Int) -> MockResponse {
    guard (200...999).contains(code) else {
      return with { $0.note(MockError(.invalidResponse, "\(code) is not a valid status code: use 200 to 599.")) }
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
  ///   - name: The field's name. An invalid name fails the load with ``MockError/Code/invalidResponse``.
  ///   - value: The value, without line breaks.
  public func header(_ name: String, _ value: String) -> MockResponse {
    field(name, value) { $0.fields[$1.name] = $1.value }
  }

  /// The same response with a header field, which replaces any of the same name.
  public func header(_ name: HTTPField.Name, _ value: String) -> MockResponse {
    header(name.rawName, value)
  }

  /// The same response with these header fields, each of which replaces any of the same name.
  public func headers(_ fields: [String: String]) -> MockResponse {
    fields.sorted { $0.key < $1.key }.reduce(self) { $0.header($1.key, $1.value) }
  }

  /// The same response with an additional header field, which keeps those of the same name.
  public func addingHeader(_ name: String, _ value: String) -> MockResponse {
    if case .message(let message) = content, message.fields.count >= MessageLimits.mostFields {
      return with {
        $0.note(
          MockError(
            .invalidResponse, "a response exceeds the limit of \(MessageLimits.mostFields) header fields.")
        )
      }
    }
    return field(name, value) { if $0.fields.count < MessageLimits.mostFields { $0.fields.append($1) } }
  }

  /// The same response without the header fields of the given name.
  public func removingHeader(_ name: String) -> MockResponse {
    guard let name = HTTPField.Name(name) else { return self }
    return edited { $0.fields[name] = nil }
  }

  /// The same response with an additional `Set-Cookie` field, which goes into the session's cookie storage.
  ///
  /// ```swift
  /// .status(204).cookie("session=42; Path=/; HttpOnly").cookie("theme=dark")
  /// ```
  public func cookie(_ value: String) -> MockResponse {
    addingHeader("Set-Cookie", value)
  }

  private func field(
    _ name: String, _ value: String, _ change: @escaping @Sendable (inout Message, HTTPField) -> Void
  ) -> MockResponse {
    guard let fieldName = HTTPField.Name(name) else {
      return with {
        $0.note(MockError(.invalidResponse, "\"\(name)\" is not a valid header field name (RFC 9110, section 5.1)."))
      }
    }
    guard HTTPField.isValidValue(value) else {
      return with {
        $0.note(
          MockError(
            .invalidResponse,
            "the value of \(name) contains a line break or another control character, or begins or ends with a space."))
      }
    }
    let field = HTTPField(name: fieldName, value: value)
    return edited { change(&$0, field) }
  }
}
