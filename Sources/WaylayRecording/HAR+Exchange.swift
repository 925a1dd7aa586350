package import Foundation
package import WaylayCore
package import WaylayHAR

// The one place where messages on their way through a chain become those of an HTTP archive, and back. It redacts
// nothing: the caller does, before it keeps an entry.

/// What was seen of a body in transit: the first bytes, and how many there were.
package struct SeenBody: Sendable {
  /// The first bytes, or all of them.
  package var data: Data
  /// How many there were in all.
  package var size: Int
  /// The pieces in which it came, where that is known.
  package var pieces: [HAR.Body.Piece]

  /// Makes a body of which all is there, or, with a size, the beginning.
  package init(_ data: Data = Data(), size: Int? = nil, pieces: [HAR.Body.Piece] = []) {
    self.data = data
    self.pieces = pieces
    self.size = max(size ?? 0, data.count)
  }

  /// The bytes of a body that are in memory, or none.
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
  /// A request, as an archive has it.
  ///
  /// - Parameters:
  ///   - request: The request. Its body is not read.
  ///   - body: What of its body has been seen; `nil` for the bytes that are in memory, or nothing.
  ///   - metrics: What a transport has measured, for the version.
  package init(_ request: InterceptedRequest, body: SeenBody? = nil, metrics: LoadMetrics? = nil) {
    let seen = body ?? SeenBody(request.body)
    self.init(
      method: request.method.rawValue, url: request.url.absoluteString, httpVersion: metrics?.httpVersion ?? "HTTP/1.1",
      headers: HAR.Field.all(request.fields), body: seen.size == 0 ? nil : seen.body(of: request.fields))
    bodySize = seen.size
  }
}

extension HAR.Field {
  /// The fields of a message in their order.
  package static func all(_ fields: HTTPFields) -> [HAR.Field] { fields.map { HAR.Field($0.name.rawName, $0.value) } }
}

extension LoadMetrics {
  /// The version, as browsers write it into archives.
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

  /// The address that was dialled, without its port.
  package var host: String? {
    guard let address, let colon = address.lastIndex(of: ":") else { return address }
    // More than one colon, and no brackets: an IPv6 address alone.
    if !address.hasPrefix("["), address[..<colon].contains(":") { return address }
    return String(address[..<colon]).trimmingCharacters(in: ["[", "]"])
  }
}

extension HAR.Response {
  /// No response: status 0, as browsers write it.
  package static let none = HAR.Response(status: 0, httpVersion: "")

  /// A response, as an archive has it, with its trailers in `_trailers`.
  ///
  /// - Parameters:
  ///   - response: The response. Its body is not read.
  ///   - body: What of its body has been seen; `nil` for the bytes that are in memory, or nothing.
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

  /// The trailers: `_trailers`, which is left out where there are none.
  package var trailers: [HAR.Field] {
    get {
      (extensions["_trailers"]?.array ?? []).compactMap { field in
        guard let name = field["name"]?.string, let value = field["value"]?.string else { return nil }
        return HAR.Field(name, value)
      }
    }
    set {
      let list = newValue.map { ["name": JSONValue($0.name), "value": JSONValue($0.value)] as JSONValue }
      extensions["_trailers"] = list.isEmpty ? nil : JSONValue(list)
    }
  }
}

extension InterceptedResponse {
  /// The response of an archive to a request, made such that it can be given again: what was said of how the body came
  /// over the wire is left out, and a length that is not the body's is put right.
  ///
  /// - Parameters:
  ///   - recorded: The recorded response.
  ///   - request: What it is given to.
  ///   - source: Where it is said to come from.
  /// - Returns: `nil` for what no load can end with: no response at all, or a status outside 200…999.
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
    let pieces = recorded.body.pieces
    if !pieces.isEmpty {
      var start = data.startIndex
      let chunks = pieces.map { piece in
        defer { start += piece.size }
        return data[start..<start + piece.size]
      }
      body = .stream(length: Int64(data.count)) { PieceSequence(pieces: chunks) }
    }
    let trailers = recorded.trailers
    if !trailers.isEmpty {
      self.trailers = HTTPFields(
        trailers.compactMap { field in HTTPField.Name(field.name).map { HTTPField(name: $0, value: field.value) } })
    }
  }
}

/// A list as an asynchronous sequence.
package struct PieceSequence: AsyncSequence, Sendable {
  package let pieces: [Data]

  package init(pieces: [Data]) {
    self.pieces = pieces
  }

  package func makeAsyncIterator() -> Iterator { Iterator(rest: pieces.makeIterator()) }

  package struct Iterator: AsyncIteratorProtocol {
    fileprivate var rest: IndexingIterator<[Data]>

    package mutating func next() async -> Data? { rest.next() }
  }
}

extension HAR.Entry {
  /// One request and its response, as an archive has them.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - body: What of its body has been seen.
  ///   - response: The response; `nil` where there was none.
  ///   - responseBody: What of the response's body has been seen.
  ///   - started: When it began.
  ///   - head: How long after that the head of the response was there.
  ///   - elapsed: How long all of it took.
  ///   - metrics: What a transport has measured, where there is no response to say it.
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
  /// The parts of an exchange: what a transport has measured, within what the caller has measured. They add up to
  /// all of it.
  ///
  /// What the transport was not asked in, waiting for interceptors before it and behind it, is ``blocked``.
  ///
  /// - Parameters:
  ///   - metrics: What a transport has measured.
  ///   - head: How long it took until the head of the response was there, for a response that no transport has
  ///     measured.
  ///   - elapsed: How long all of it took.
  package init(_ metrics: LoadMetrics?, head: Duration? = nil, elapsed: Duration) {
    let elapsed = max(elapsed, .zero)
    guard let metrics, let firstByte = metrics.firstByte ?? metrics.total else {
      let head = min(max(head ?? elapsed, .zero), elapsed)
      self.init(wait: head.milliseconds, receive: (elapsed - head).milliseconds)
      return
    }
    // Each point in time is no earlier than the one before: what a transport says may be anything.
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
