import Foundation
package import WaylayCore
package import WaylayHAR

extension HAR.Response {
  /// No answer: status 0, as browsers write it.
  package static let none = HAR.Response(status: 0, httpVersion: "")

  /// An answer, as an archive has it, with its trailers in `_trailers`.
  ///
  /// - Parameters:
  ///   - response: The answer. Its body is not read.
  ///   - body: What of its body has been seen; `nil` for the bytes that are in memory, or nothing.
  package init(_ response: InterceptedResponse, body: SeenBody? = nil) {
    let (fields, metrics) = (response.fields, response.metrics)
    let seen =
      body ?? response.body.inMemory.map { SeenBody($0) }
      ?? SeenBody(size: response.body.length.map(Int.init(clamping:)))
    self.init(
      status: response.status.code, statusText: response.status.reasonPhrase,
      httpVersion: metrics?.httpVersion ?? "HTTP/1.1",
      headers: HAR.Field.all(fields), body: seen.body(of: fields))
    bodySize = metrics?.responseBodyBytes.map(Int.init(clamping:))
    trailers = HAR.Field.all(response.trailers)
  }

  /// The trailers: `_trailers`, which is left out where there are none.
  package var trailers: [HAR.Field] {
    get {
      (extensions["_trailers"]?.array ?? []).compactMap { field in
        guard let name = field["name"]?.string, let value = field["value"]?.string else { return nil }
        return HAR.Field(name, value)
      }
    }
    set {
      let list = newValue.map { JSONValue.object(["name": .string($0.name), "value": .string($0.value)]) }
      extensions["_trailers"] = list.isEmpty ? nil : .array(list)
    }
  }
}

extension InterceptedResponse {
  /// The answer of an archive to a request, made such that it can be given again: what was said of how the body came
  /// over the wire is left out, and a length that is not the body's is put right.
  ///
  /// - Parameters:
  ///   - recorded: The recorded answer.
  ///   - request: What it is given to.
  ///   - source: Where it is said to come from.
  /// - Returns: `nil` for what no load can end with: no answer at all, or a status outside 200…999.
  package init?(_ recorded: HAR.Response, to request: InterceptedRequest, source: Source = .interceptor) {
    guard 200...999 ~= recorded.status else { return nil }
    var fields = HTTPFields()
    for field in recorded.headers where field.name.lowercased() != "transfer-encoding" {
      // HTTP/2's own fields, and what else is none.
      guard let name = HTTPField.Name(field.name) else { continue }
      // Some programs put several cookies into one field, line by line.
      let values = name == .setCookie ? field.value.split(whereSeparator: \.isNewline).map(String.init) : [field.value]
      for value in values { fields.append(HTTPField(name: name, value: value)) }
    }
    let data = recorded.body.data
    // The length of what was compressed is not that of the body, and nobody takes it for that. To HEAD there is none.
    if fields[.contentLength] != nil, fields[.contentEncoding] == nil, !(request.method == .head && data.isEmpty) {
      fields[.contentLength] = String(data.count)
    }
    self.init(
      to: request, status: HTTPResponse.Status(code: recorded.status, reasonPhrase: recorded.statusText),
      fields: fields,
      body: data.isEmpty ? .empty : .data(data), source: source)
    let trailers = recorded.trailers
    if !trailers.isEmpty {
      self.trailers = HTTPFields(
        trailers.compactMap { field in HTTPField.Name(field.name).map { HTTPField(name: $0, value: field.value) } })
    }
  }
}
