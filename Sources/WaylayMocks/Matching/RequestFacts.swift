/// A request taken apart for matching, once for all stubs.
///
/// Used by the one task that loads the request; what is costly is made when the first condition asks for it.
final class RequestFacts {
  let request: InterceptedRequest
  let url: ParsedURL
  let method: String
  let body: Data

  init(_ request: InterceptedRequest, body: Data) {
    self.request = request
    self.body = body
    method = request.method.rawValue.uppercased()
    url = ParsedURL(request.url)
  }

  lazy var query = url.items
  lazy var text: String? = String(data: body, encoding: .utf8)
  lazy var json: JSONNode? = try? JSONNode(parsing: body)
  lazy var form = QueryItems(String(decoding: body, as: UTF8.self))
  lazy var multipart: [MultipartForm.Part]? = MultipartForm.parts(of: body, type: header("Content-Type") ?? "")
  /// Each part of a multipart form as if it were a request.
  lazy var multipartFacts: [RequestFacts] = (multipart ?? []).map { part in
    var request = InterceptedRequest(.post, request.url, body: .data(part.body))
    request.fields[.contentType] = part.contentType
    return RequestFacts(request, body: part.body)
  }

  /// The value of a header field, whatever the case of its name.
  func header(_ name: String) -> String? { request.headerValue(name) }

  /// Whether the body says that it is a form.
  var statesForm: Bool { header("Content-Type")?.lowercased().hasPrefix("application/x-www-form-urlencoded") ?? false }

  /// Whether the body may be a form: the loading system calls what has no media type one.
  var mayBeForm: Bool { header("Content-Type") == nil || statesForm }
}

extension InterceptedRequest {
  /// The value of a header field, whatever the case of its name.
  func headerValue(_ name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }
}
