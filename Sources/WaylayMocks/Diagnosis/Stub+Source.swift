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
      StubSource.text(for: facts, answer: StubSource.answer(answer, isHead: method == .head))
    }
  }
}

extension StubSource {
  /// The most bytes of a body that are written.
  private static let bodyLimit = 64 << 10

  /// Fields that say how the answer came over the wire, or that are made of the body.
  private static let wire: Set<String> = [
    "age", "alt-svc", "connection", "content-encoding", "content-length", "content-type", "date", "keep-alive",
    "proxy-connection", "te",
    "trailer", "transfer-encoding", "upgrade", "via",
  ]

  /// A recorded answer as source.
  fileprivate static func answer(_ response: HAR.Response, isHead: Bool) -> [String] {
    let type = response.headers.first { $0.name.lowercased() == "content-type" }?.value ?? response.body.mediaType
    var lines = body(response, type: type, isHead: isHead)
    for field in response.headers where !wire.contains(field.name.lowercased()) && HTTPField.Name(field.name) != nil {
      guard !Redaction.hides(field.name) else { continue }
      // Some programs put several cookies into one field, line by line.
      for value in field.value.split(whereSeparator: \.isNewline) {
        lines.append("  .addingHeader(\(swift(field.name)), \(swift(String(value))))")
      }
    }
    return lines
  }

  private static func body(_ response: HAR.Response, type: String, isHead: Bool) -> [String] {
    let (data, status) = (response.body.data, response.status)
    let plain = [".status(\(status))"] + (type.isEmpty ? [] : ["  .header(\"Content-Type\", \(swift(type)))"])
    guard !data.isEmpty else {
      let isLeftOut = response.body.isTruncated && !isHead
      return (isLeftOut ? ["// The body of \(response.body.size) bytes is not in the archive."] : []) + plain
    }
    guard data.count <= bodyLimit else {
      return ["// The body of \(data.count) bytes is left out: put it into a file."] + plain
    }
    let cut = response.body.isTruncated ? ["// The first \(data.count) of \(response.body.size) bytes."] : []
    let end = status == 200 ? ")" : ", status: \(status))"
    let name = type.isEmpty ? "" : ", type: \(swift(type))"
    guard let text = String(data: data, encoding: .utf8) else {
      return cut + [".data(Data(base64Encoded: \(swift(data.base64EncodedString()))) ?? Data()\(name)\(end)"]
    }
    if type.lowercased().hasPrefix("application/json"), (try? JSONNode(parsing: text)) != nil {
      let other = type.lowercased() == "application/json" ? [] : ["  .header(\"Content-Type\", \(swift(type)))"]
      return cut + [".json(text: \(swift(text))\(end)"] + other
    }
    return cut + [".data(Data(\(swift(text)).utf8)\(name)\(end)"]
  }
}
