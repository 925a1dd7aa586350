public import WaylayHAR

extension Stub {
  /// Returns Swift source of a stub that reproduces an exchange of an HTTP archive, ready to paste into a test.
  ///
  /// ```swift
  /// print(Stub.source(for: Redaction.standard.redacted(entry)) ?? "// was not answered")
  /// ```
  ///
  /// The request is written as in reports on unmatched requests: fields and form items with names that indicate a
  /// secret match any value. The response is written unchanged: redact the entry first. A body of more than 64 KiB is
  /// omitted, with a comment that says so.
  ///
  /// - Parameters:
  ///   - entry: The exchange.
  ///   - showsSecrets: Whether to write values of secret names too.
  /// - Returns: `nil` for an exchange without a response, or whose request is not HTTP.
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
