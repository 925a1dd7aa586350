import Foundation
import WaylayRecording

/// What is kept of an exchange: its entry without secrets, packed. An entry with all its lists takes ten times as much.
final class KeptExchange: Sendable {
  let number: Int
  let started: Date
  let state: Inspector.Exchange.State
  /// 0 where nothing was answered.
  let status: Int
  /// Milliseconds.
  let time: Double
  /// All of its texts, then its bodies: one piece of memory, whose size is known.
  let bytes: [UInt8]
  let places: Places
  let requestBody: Body
  let responseBody: Body
  let isReused: Bool?
  /// The bytes of the answer's body on the wire.
  let wireBytes: Int?
  let source: Inspector.Exchange.Source?
  let phase: TransportError.Phase?
  let attempts: [Inspector.Exchange.Attempt]
  private let timings: PackedTimings
  private let requestFields: Int
  private let trailers: Int

  /// The texts that come before those of the fields, in their order.
  enum Part: Int, CaseIterable {
    case method, url, requestVersion, statusText, responseVersion, address, error, comment
  }

  /// Where in the bytes what is looked for most is.
  struct Places {
    /// All texts, each with a ``PackedTexts/end`` behind it: see ``Part``, then names and values of the fields of both
    /// messages. Those of the trailers come after them.
    var texts = 0..<0
    var url = 0..<0
    var host = 0..<0
    var error = 0..<0
    /// Names and values of the fields of both messages.
    var fields = 0..<0
    /// The value of the answer's `Content-Type`.
    var mediaType = 0..<0
  }

  /// A body as it is kept.
  struct Body {
    /// Whether there is one.
    let isThere: Bool
    /// Where its bytes are.
    let place: Range<Int>
    let size: Int
  }

  /// Times in milliseconds, negative where they are not known.
  struct PackedTimings {
    let blocked, dns, connect, ssl, send, wait, receive: Float
  }

  /// Whether there was anything to keep.
  var isWhole: Bool { bytes.first != PackedTexts.end }

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
    let (request, response) = (entry.request, entry.response)
    self.number = number
    started = entry.started
    state = exchange.state
    status = response.status
    time = entry.time
    isReused = exchange.isConnectionReused
    (source, phase, attempts) = (exchange.source, exchange.failure?.phase, exchange.attempts)
    wireBytes = response.bodySize
    timings = PackedTimings(entry.timings)
    let trailers = response.trailers
    (requestFields, self.trailers) = (request.headers.count, trailers.count)

    var texts = PackedTexts()
    for part in Part.allCases {
      switch part {
      case .method: texts.add(request.method)
      case .url: texts.add(request.url)
      case .requestVersion: texts.add(request.httpVersion)
      case .statusText: texts.add(response.statusText)
      case .responseVersion: texts.add(response.httpVersion)
      case .address: texts.add(entry.serverAddress ?? "")
      case .error: texts.add(exchange.failure?.message ?? "")
      case .comment: texts.add(entry.comment ?? "")
      }
    }
    for field in request.headers + response.headers + trailers {
      texts.add(field.name)
      texts.add(field.value)
    }
    let (sent, received) = (request.body?.data ?? Data(), response.body.data)
    bytes = texts.packed(with: sent, received)

    let answer = Part.allCases.count + 2 * request.headers.count
    let beginning = texts.place(Part.comment.rawValue).upperBound + 1
    let end = texts.beginning(answer + 2 * response.headers.count)
    let mediaType = response.headers.firstIndex { $0.name.lowercased() == "content-type" }
    places = Places(
      texts: 0..<end, url: texts.place(Part.url.rawValue),
      host: Self.host(in: bytes, texts.place(Part.url.rawValue)), error: texts.place(Part.error.rawValue),
      fields: beginning..<end,
      mediaType: mediaType.map { texts.place(answer + 2 * $0 + 1) } ?? 0..<0)
    let middle = texts.size + sent.count
    requestBody = Body(isThere: request.body != nil, place: texts.size..<middle, size: request.body?.size ?? 0)
    responseBody = Body(isThere: true, place: middle..<bytes.count, size: response.body.size)
  }

  /// Where the host of a URL is: behind the scheme and a user, before a port.
  private static func host(in bytes: [UInt8], _ url: Range<Int>) -> Range<Int> {
    guard let scheme = bytes[url].firstRange(of: "://".utf8) else { return url.lowerBound..<url.lowerBound }
    let rest = bytes[scheme.upperBound..<url.upperBound]
    var authority = rest.prefix { !"/?#".utf8.contains($0) }
    if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[(at + 1)...] }
    if authority.first == UInt8(ascii: "["), let end = authority.firstIndex(of: UInt8(ascii: "]")) {
      return authority.startIndex..<end + 1
    }
    return authority.startIndex..<(authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex)
  }

  /// The entry that it was made from.
  var entry: HAR.Entry {
    let texts = bytes[..<requestBody.place.lowerBound].split(
      separator: PackedTexts.end, omittingEmptySubsequences: false
    )
    .map { String(decoding: $0, as: UTF8.self) }
    func text(_ part: Part) -> String { texts[part.rawValue] }
    let fields = stride(from: Part.allCases.count, to: texts.count - 1, by: 2).map {
      HAR.Field(texts[$0], texts[$0 + 1])
    }
    let sent = Array(fields.prefix(requestFields))
    let received = Array(fields[requestFields..<fields.count - trailers])
    var request = HAR.Request(
      method: text(.method), url: text(.url), httpVersion: text(.requestVersion), headers: sent,
      body: body(requestBody, sent))
    request.bodySize = requestBody.size
    var response = HAR.Response(
      status: status, statusText: text(.statusText), httpVersion: text(.responseVersion), headers: received,
      body: body(responseBody, received) ?? HAR.Body())
    response.bodySize = wireBytes
    response.trailers = fields.suffix(trailers)
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

  private func body(_ body: Body, _ fields: [HAR.Field]) -> HAR.Body? {
    guard body.isThere else { return nil }
    return HAR.Body(
      Data(bytes[body.place]), mediaType: fields.first { $0.name.lowercased() == "content-type" }?.value ?? "",
      size: body.size)
  }
}

extension KeptExchange.Body {
  var isTruncated: Bool { size > place.count }
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
