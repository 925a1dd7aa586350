package import Foundation
package import WaylayCore
package import WaylayHAR

// The only conversion between messages of a chain and HAR entries. It does not redact: callers redact before they keep
// an entry.

/// The bytes of a body observed in transit: a prefix, and the total size.
package struct SeenBody: Sendable {
  /// A prefix of the body, or all of it.
  package var data: Data
  /// The total size.
  package var size: Int
  /// The pieces in which the body arrived, if known.
  package var pieces: [HAR.Body.Piece]

  /// Makes a complete body, or with a size a prefix of one.
  package init(_ data: Data = Data(), size: Int? = nil, pieces: [HAR.Body.Piece] = []) {
    self.data = data
    self.pieces = pieces
    self.size = max(size ?? 0, data.count)
  }

  /// The bytes of a body in memory, or none.
  fileprivate init(_ body: MessageBody) {
    self.init(body.inMemory ?? Data(), size: body.length.map(Int.init(clamping:)))
  }

  func body(of fields: HTTPFields) -> HAR.Body {
    var body = HAR.Body(data, mediaType: fields[.contentType] ?? "", size: size)
    body.pieces = pieces
    return body
  }
}

extension HAR.Request {
  /// Converts a request.
  ///
  /// - Parameters:
  ///   - request: The request. Its body is not read.
  ///   - body: The observed bytes of the body; `nil` for the bytes in memory, if any.
  ///   - metrics: The transport's metrics, for the HTTP version.
  package init(_ request: InterceptedRequest, body: SeenBody? = nil, metrics: LoadMetrics? = nil) {
    let seen = body ?? SeenBody(request.body)
    self.init(
      method: request.method.rawValue, url: request.url.absoluteString, httpVersion: metrics?.httpVersion ?? "HTTP/1.1",
      headers: HAR.Field.all(request.fields), body: seen.size == 0 ? nil : seen.body(of: request.fields))
    bodySize = seen.size
  }
}

extension HAR.Field {
  /// Converts the fields of a message in order.
  package static func all(_ fields: HTTPFields) -> [HAR.Field] { fields.map { HAR.Field($0.name.rawName, $0.value) } }
}

extension LoadMetrics {
  /// The HTTP version, as browsers write it in HAR files.
  var httpVersion: String? {
    switch protocolName {
    case nil, "": nil
    case "http/1.0": "HTTP/1.0"
    case "http/1.1": "HTTP/1.1"
    case "h2", "h2c": "HTTP/2"
    case "h3": "HTTP/3"
    case let name: name
    }
  }

  /// The remote address without its port.
  package var host: String? {
    guard let address, let colon = address.lastIndex(of: ":") else { return address }
    // More than one colon and no brackets: an IPv6 address without a port.
    if !address.hasPrefix("["), address[..<colon].contains(":") { return address }
    return String(address[..<colon]).trimmingCharacters(in: ["[", "]"])
  }
}

extension HAR.Response {
  /// The placeholder for a missing response: status 0, as browsers write it.
  package static let none = HAR.Response(status: 0, httpVersion: "")

  /// Converts a response, with its trailers in `_trailers`.
  ///
  /// - Parameters:
  ///   - response: The response. Its body is not read.
  ///   - body: The observed bytes of the body; `nil` for the bytes in memory, if any.
  package init(_ response: InterceptedResponse, body: SeenBody? = nil) {
    let (fields, metrics) = (response.fields, response.metrics)
    let seen = body ?? SeenBody(response.body)
    self.init(
      status: response.status.code, statusText: response.status.reasonPhrase,
      httpVersion: metrics?.httpVersion ?? "HTTP/1.1",
      headers: HAR.Field.all(fields), body: seen.body(of: fields))
    bodySize = metrics?.responseBodyBytes.map(Int.init(clamping:))
    trailers = HAR.Field.all(response.trailers)
  }

  /// The trailers in `_trailers`; without trailers the member is omitted.
  package var trailers: [HAR.Field] {
    get {
      (extensions["_trailers"]?.array ?? []).compactMap { field in
        guard let name = field["name"]?.string, let value = field["value"]?.string else { return nil }
        return HAR.Field(name, value)
      }
    }
    set {
      let list = newValue.map { ["name": JSONValue($0.name), "value": JSONValue($0.value)] as JSONValue }
      extensions["_trailers"] = list.isEmpty ? Optional.none : JSONValue(list)
    }
  }
}

extension InterceptedResponse {
  /// Makes a recorded response replayable: fields of the transfer are dropped, and a wrong length is corrected.
  ///
  /// - Parameters:
  ///   - recorded: The recorded response.
  ///   - request: The request to answer.
  ///   - source: The source given in the response.
  /// - Returns: `nil` for a response that a load cannot end with: none, or one with a status outside 200…999.
  package init?(_ recorded: HAR.Response, to request: InterceptedRequest, source: Source = .interceptor) {
    guard 200...999 ~= recorded.status else { return nil }
    var fields = HTTPFields()
    for field in recorded.headers where field.name.lowercased() != "transfer-encoding" {
      // Skip HTTP/2 pseudo-fields and invalid names.
      guard let name = HTTPField.Name(field.name) else { continue }
      // Some programs write several cookies into one field, separated by line breaks.
      let values = name == .setCookie ? field.value.split(whereSeparator: \.isNewline).map(String.init) : [field.value]
      for value in values { fields.append(HTTPField(name: name, value: value)) }
    }
    let data = recorded.body.data
    // The length of an encoded body differs from the decoded one, and clients expect that. A response to HEAD has no
    // body.
    if fields[.contentLength] != nil, fields[.contentEncoding] == nil, !(request.method == .head && data.isEmpty) {
      fields[.contentLength] = String(data.count)
    }
    self.init(
      to: request, status: HTTPResponse.Status(code: recorded.status, reasonPhrase: recorded.statusText),
      fields: fields,
      body: data.isEmpty ? .empty : .data(data), source: source)
    let pieces = recorded.body.pieces
    if !pieces.isEmpty {
      var start = data.startIndex
      let chunks = pieces.map { piece in
        defer { start += piece.size }
        return data[start..<start + piece.size]
      }
      body = .pieces(chunks, length: Int64(data.count))
    }
    let trailers = recorded.trailers
    if !trailers.isEmpty {
      self.trailers = HTTPFields(
        trailers.compactMap { field in HTTPField.Name(field.name).map { HTTPField(name: $0, value: field.value) } })
    }
  }
}

extension MessageBody {
  /// A body that is given piece by piece.
  package static func pieces(_ pieces: [Data], length: Int64? = nil) -> MessageBody {
    .stream(length: length) {
      AsyncStream { continuation in
        for piece in pieces { continuation.yield(piece) }
        continuation.finish()
      }
    }
  }
}

extension HAR.Entry {
  /// Converts one exchange.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - body: The observed bytes of the request's body.
  ///   - response: The response; `nil` without one.
  ///   - responseBody: The observed bytes of the response's body.
  ///   - started: The start of the exchange.
  ///   - head: The time until the response's head arrived.
  ///   - elapsed: The total time.
  ///   - metrics: The transport's metrics, for an exchange without a response.
  package init(
    _ request: InterceptedRequest, body: SeenBody? = nil, _ response: InterceptedResponse?,
    responseBody: SeenBody? = nil,
    started: Date, head: Duration? = nil, elapsed: Duration, metrics: LoadMetrics? = nil
  ) {
    let metrics = response?.metrics ?? metrics
    self.init(
      started: started, request: HAR.Request(request, body: body, metrics: metrics),
      response: response.map { HAR.Response($0, body: responseBody) } ?? .none,
      timings: HAR.Timings(metrics, head: head, elapsed: elapsed))
    serverAddress = metrics?.host
  }
}

extension HAR.Timings {
  /// The phases of an exchange, from the transport's metrics within the total time that the caller measured. They add
  /// up to the total.
  ///
  /// The time outside the transport, spent in interceptors, is ``blocked``.
  ///
  /// - Parameters:
  ///   - metrics: The transport's metrics.
  ///   - head: The time until the response's head arrived, for a response without metrics.
  ///   - elapsed: The total time.
  package init(_ metrics: LoadMetrics?, head: Duration? = nil, elapsed: Duration) {
    let elapsed = max(elapsed, .zero)
    guard let metrics, let firstByte = metrics.firstByte ?? metrics.total else {
      let head = min(max(head ?? elapsed, .zero), elapsed)
      self.init(wait: head.milliseconds, receive: (elapsed - head).milliseconds)
      return
    }
    // Make the points in time monotonic: a transport's metrics may be inconsistent.
    let lookup = max(metrics.nameLookup ?? .zero, .zero)
    let connected = max(metrics.connect ?? lookup, lookup)
    let secured = max(metrics.secureConnection ?? connected, connected)
    let first = max(firstByte, secured)
    let end = max(metrics.total ?? max(first, elapsed), first)
    let isKept = metrics.isConnectionReused == true
    self.init(
      blocked: (elapsed - end).milliseconds, dns: isKept ? nil : metrics.nameLookup.map { _ in lookup.milliseconds },
      connect: isKept ? nil : metrics.connect.map { _ in (secured - lookup).milliseconds },
      ssl: isKept ? nil : metrics.secureConnection.map { _ in (secured - connected).milliseconds },
      wait: isKept ? first.milliseconds : (first - secured).milliseconds, receive: (end - first).milliseconds)
  }
}

extension Duration {
  /// Milliseconds, with a fraction.
  package var milliseconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) * 1e3 + Double(attoseconds) / 1e15
  }
}
