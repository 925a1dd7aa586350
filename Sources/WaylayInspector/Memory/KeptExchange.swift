import Foundation
import WaylayRecording

/// What is kept of an exchange: its entry without secrets, packed. An entry with all its lists takes ten times as much.
final class KeptExchange: Sendable {
  /// What it takes beside its texts and bodies, by estimate.
  static let overhead = 768

  let number: Int
  let started: Date
  let state: Inspector.Exchange.State
  /// 0 where nothing was answered.
  let status: Int
  /// Milliseconds.
  let time: Double
  /// The texts with a zero byte after each, so that one search goes through all of them; see ``Part``, then the fields.
  let texts: [UInt8]
  let requestBody: PackedBody
  let responseBody: PackedBody
  let isReused: Bool?
  /// The bytes of the answer's body on the wire.
  let wireBytes: Int?
  let source: Inspector.Exchange.Source?
  let phase: TransportError.Phase?
  let attempts: [Inspector.Exchange.Attempt]
  /// Where in the texts what is looked for most is.
  let places: Places
  private let timings: PackedTimings
  private let requestFields: Int
  private let trailers: JSONValue?

  /// The texts that come before those of the fields, in their order.
  enum Part: Int, CaseIterable {
    case method, url, requestVersion, statusText, responseVersion, address, error, comment
  }

  /// Parts of the texts.
  struct Places {
    var url = 0..<0
    var host = 0..<0
    var error = 0..<0
    /// Names and values of the fields of both messages.
    var fields = 0..<0
    /// The value of the answer's `Content-Type`.
    var mediaType = 0..<0
  }

  /// A body as it is kept.
  struct PackedBody {
    /// Whether there is one.
    let isThere: Bool
    let data: Data
    let size: Int
  }

  /// Times in milliseconds, negative where they are not known.
  struct PackedTimings {
    let blocked, dns, connect, ssl, send, wait, receive: Float
  }

  /// Whether there was anything to keep.
  var isWhole: Bool { texts.first != 0 }

  var cost: Int {
    Self.overhead + texts.count + requestBody.data.count + responseBody.data.count + attempts.count * 256
  }

  /// What is to be kept of an exchange, or, while it is open, what is known of it.
  convenience init(_ slot: Slot, _ raw: RawExchange, _ inspector: Inspector) {
    let entry = Inspector.Exchange.entry(of: raw, slot, now: inspector.clock.now(), limit: inspector.limits.mostOfABody)
    self.init(inspector.redaction.redacted(entry), slot.number)
  }

  /// What is kept of an exchange that is not kept any more.
  static func forgotten(_ number: Int, _ started: Date) -> KeptExchange {
    KeptExchange(HAR.Entry(started: started, request: HAR.Request(method: "", url: ""), response: .none), number)
  }

  /// Packs an entry that holds no secrets.
  init(_ entry: HAR.Entry, _ number: Int) {
    let exchange = Inspector.Exchange(entry)
    let (request, response, timings) = (entry.request, entry.response, entry.timings)
    self.number = number
    started = entry.started
    state = exchange.state
    status = response.status
    time = entry.time
    isReused = exchange.isConnectionReused
    (source, phase, attempts) = (exchange.source, exchange.failure?.phase, exchange.attempts)
    wireBytes = response.bodySize
    requestBody = PackedBody(request.body)
    responseBody = PackedBody(response.body)
    self.timings = PackedTimings(timings)
    requestFields = request.headers.count
    trailers = response.extensions["_trailers"]
    var texts: [UInt8] = []
    var places = Places()
    texts.reserveCapacity(512)
    func add(_ text: String) -> Range<Int> {
      let start = texts.count
      texts.append(contentsOf: text.utf8)
      defer { texts.append(0) }
      return start..<texts.count
    }
    for part in Part.allCases {
      switch part {
      case .method: _ = add(request.method)
      case .url: places.url = add(request.url)
      case .requestVersion: _ = add(request.httpVersion)
      case .statusText: _ = add(response.statusText)
      case .responseVersion: _ = add(response.httpVersion)
      case .address: _ = add(entry.serverAddress ?? "")
      case .error: places.error = add(exchange.failure?.message ?? "")
      case .comment: _ = add(entry.comment ?? "")
      }
    }
    let beginning = texts.count
    for field in request.headers {
      _ = add(field.name)
      _ = add(field.value)
    }
    for field in response.headers {
      _ = add(field.name)
      let value = add(field.value)
      if places.mediaType.isEmpty, field.name.lowercased() == "content-type" { places.mediaType = value }
    }
    places.fields = beginning..<texts.count
    places.host = Self.host(in: texts, places.url)
    self.places = places
    self.texts = texts
  }

  /// Where the host of a URL is: behind the scheme and a user, before a port.
  private static func host(in texts: [UInt8], _ url: Range<Int>) -> Range<Int> {
    guard let scheme = texts[url].firstRange(of: "://".utf8) else { return url.lowerBound..<url.lowerBound }
    let rest = texts[scheme.upperBound..<url.upperBound]
    var authority = rest.prefix { !"/?#".utf8.contains($0) }
    if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[(at + 1)...] }
    if authority.first == UInt8(ascii: "["), let end = authority.firstIndex(of: UInt8(ascii: "]")) {
      return authority.startIndex..<end + 1
    }
    return authority.startIndex..<(authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex)
  }

  /// The entry that it was made from.
  var entry: HAR.Entry {
    let texts = texts.split(separator: 0, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    func text(_ part: Part) -> String { texts[part.rawValue] }
    var fields: [HAR.Field] = []
    for index in stride(from: Part.allCases.count, to: texts.count - 1, by: 2) {
      fields.append(HAR.Field(texts[index], texts[index + 1]))
    }
    let (sent, received) = (Array(fields.prefix(requestFields)), Array(fields.dropFirst(requestFields)))
    var request = HAR.Request(
      method: text(.method), url: text(.url), httpVersion: text(.requestVersion), headers: sent,
      body: requestBody.body(sent))
    request.bodySize = requestBody.size
    var response = HAR.Response(
      status: status, statusText: text(.statusText), httpVersion: text(.responseVersion), headers: received,
      body: responseBody.body(received) ?? HAR.Body())
    response.bodySize = wireBytes
    if let trailers { response.extensions["_trailers"] = trailers }
    var entry = HAR.Entry(started: started, request: request, response: response, timings: timings.timings)
    entry.serverAddress = text(.address).isEmpty ? nil : text(.address)
    entry.comment = text(.comment).isEmpty ? nil : text(.comment)
    let failure =
      text(.error).isEmpty ? nil : Inspector.Exchange.Failure(message: text(.error), phase: phase)
    entry.extensions = Inspector.Exchange.fields(
      id: number, state: state, source: source, failure: failure, attempts: attempts, isReused: isReused,
      truncated: requestBody.isTruncated || responseBody.isTruncated)
    return entry
  }
}

extension KeptExchange.PackedBody {
  init(_ body: HAR.Body?) {
    isThere = body != nil
    data = body?.data ?? Data()
    size = body?.size ?? 0
  }

  var isTruncated: Bool { size > data.count }

  func body(_ fields: [HAR.Field]) -> HAR.Body? {
    guard isThere else { return nil }
    return HAR.Body(data, mediaType: fields.first { $0.name.lowercased() == "content-type" }?.value ?? "", size: size)
  }
}

extension KeptExchange.PackedTimings {
  init(_ timings: HAR.Timings) {
    (blocked, dns) = (Self.packed(timings.blocked), Self.packed(timings.dns))
    (connect, ssl) = (Self.packed(timings.connect), Self.packed(timings.ssl))
    (send, wait, receive) = (Float(timings.send), Float(timings.wait), Float(timings.receive))
  }

  private static func packed(_ time: Double?) -> Float { time.map { Float($0) } ?? -1 }

  var timings: HAR.Timings {
    func time(_ packed: Float) -> Double? { packed < 0 ? nil : Double(packed) }
    return HAR.Timings(
      blocked: time(blocked), dns: time(dns), connect: time(connect), ssl: time(ssl), send: Double(send),
      wait: Double(wait),
      receive: Double(receive))
  }
}
