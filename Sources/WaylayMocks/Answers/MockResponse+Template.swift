extension MockResponse {
  /// A response with text filled in from the request.
  ///
  /// ```swift
  /// Stub(.get, "/users/:id") {
  ///   .template(#"{"id": {{path.id}}, "page": {{query.page|1}}}"#, type: "application/json")
  /// }
  /// ```
  ///
  /// | placeholder | stands for |
  /// |---|---|
  /// | `{{method}}`, `{{url}}`, `{{host}}` | the method, the URL, the host |
  /// | `{{path}}` | the path, percent-encoded |
  /// | `{{path.id}}` | the value of `:id` in the stub's URL pattern |
  /// | `{{query.page}}` | the query item's decoded value; the first of several |
  /// | `{{header.Accept}}` | the header field; the name is case-insensitive |
  /// | `{{body}}` | the whole body as text |
  /// | `{{body.user.name}}`, `{{body.items[0]}}` | a value of the JSON body: strings unchanged, anything else as JSON |
  /// | `{{call}}` | the number of earlier calls of the stub, starting at 0 |
  ///
  /// `{{query.page|1}}` falls back to `1`, and `\{{` gives two literal braces. With a JSON type, values are escaped for
  /// JSON strings; the surrounding quotes belong in the template. An unknown placeholder, and a value missing from the
  /// request, fail the load with ``MockError/Code/invalidTemplate``. For conditions and loops, use a closure.
  ///
  /// - Parameters:
  ///   - text: The template.
  ///   - type: The value of `Content-Type`.
  ///   - status: The status.
  public static func template(
    _ text: String, type: String = "text/plain; charset=utf-8", status: Int = 200
  ) -> MockResponse {
    let media = type.prefix { $0 != ";" }.lowercased()
    do throws(MockError) {
      let template = try MockTemplate(text, isJSON: media.hasSuffix("/json") || media.hasSuffix("+json"))
      return MockResponse(.message(Message(body: .template(template)))).status(status).header("Content-Type", type)
    } catch {
      return .broken(error)
    }
  }
}
