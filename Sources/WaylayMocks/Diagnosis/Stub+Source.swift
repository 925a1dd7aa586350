public import WaylayHAR

extension Stub {
  /// Swift source of a stub that answers as an exchange of an HTTP archive was answered, ready to be pasted into a
  /// test.
  ///
  /// ```swift
  /// print(Stub.source(for: Redaction.standard.redacted(entry)) ?? "// was not answered")
  /// ```
  ///
  /// The request is written as reports write it for one that has no stub: fields and form items whose names say that
  /// they are secret are asked for, with whatever value. What the answer holds is in it as the entry has it: redact the
  /// entry first. A body of more than 64 KiB is left out, with a comment that says so.
  ///
  /// - Parameters:
  ///   - entry: The exchange.
  ///   - showsSecrets: Whether values of secret names are written too.
  /// - Returns: `nil` for an exchange that was not answered, or whose request is none of HTTP.
  public static func source(for entry: HAR.Entry, showsSecrets: Bool = false) -> String? {
    let (asked, answer) = (entry.request, entry.response)
    guard 200...999 ~= answer.status, let method = HTTPRequest.Method(asked.method), let url = URL(string: asked.url),
      url.host != nil
    else { return nil }
    var fields = HTTPFields()
    for field in asked.headers {
      if let name = HTTPField.Name(field.name) { fields.append(HTTPField(name: name, value: field.value)) }
    }
    let body = asked.body?.data ?? Data()
    let request = InterceptedRequest(method, url, fields: fields, body: body.isEmpty ? .empty : .data(body))
    let facts = RequestFacts(request, body: body)
    return Redaction.$hidesNothing.withValue(showsSecrets) {
      let source = SwiftSource.answer(answer, isHead: method == .head) { Redaction.hides($0) }
      return StubSource.text(for: facts, answer: source)
    }
  }
}
