/// An answer that is the same for every request, made when its stub was: giving it costs next to nothing.
struct PreparedResponse: Sendable {
  let status: HTTPResponse.Status
  let fields: HTTPFields
  let body: MessageBody
  /// The last answer. Most stubs are for one URL; from the second request for it on the answer is the same one, and so
  /// is its head, which takes the loading system longer to make than all else here.
  private let last = Locked<InterceptedResponse?>(nil)

  init(status: HTTPResponse.Status, fields: HTTPFields, body: MessageBody) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// The answer to a request; `nil` for `HEAD`, whose answers are finished in another way.
  func answer(to facts: RequestFacts) -> InterceptedResponse? {
    guard facts.method != "HEAD" else { return nil }
    let url = facts.url.url
    var answer: InterceptedResponse
    if let known = last.withLock({ $0 }), known.url == url {
      guard !known.keepsHead else { return known }
      answer = known
      answer.keepHead()
    } else {
      answer = InterceptedResponse(status: status, fields: fields, url: url, body: body, source: .mock)
    }
    last.withLock { $0 = answer }
    return answer
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
