/// An answer that is the same for every request, made when its stub was: giving it costs next to nothing.
struct PreparedResponse: Sendable {
  let status: HTTPResponse.Status
  let fields: HTTPFields
  let body: MessageBody

  /// The answer to a request; `nil` for `HEAD`, whose answers are finished in another way.
  func answer(to facts: RequestFacts) -> InterceptedResponse? {
    guard facts.method != "HEAD" else { return nil }
    return InterceptedResponse(status: status, fields: fields, url: facts.url.url, body: body, source: .mock)
  }
}

extension MockResponse {
  /// The answer to every request; `nil` when it depends on the request, takes time, fails, or is to be read from
  /// somewhere.
  var prepared: PreparedResponse? {
    guard defect == nil, timing.isImmediate, bodyFault == nil, credentials == nil, !servesRanges,
      case .message(var message) = content,
      case .message(let body) = message.body, body.inMemory != nil
    else { return nil }
    for edit in edits {
      guard case .message(let change) = edit else { return nil }
      change(&message)
    }
    let hasBody = ![204, 304].contains(message.status.code)
    if hasBody, let length = body.length, !message.fields.contains(.contentLength),
      !message.fields.contains(.transferEncoding)
    {
      message.fields.append(HTTPField(name: .contentLength, value: String(length)))
    }
    return PreparedResponse(status: message.status, fields: message.fields, body: hasBody ? body : .empty)
  }
}
