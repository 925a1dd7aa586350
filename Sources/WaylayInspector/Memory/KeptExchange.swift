import Foundation
import WaylayRecording

/// A packed, redacted entry: `HAR.Entry` with all its arrays takes ten times as much memory.
final class KeptExchange: Sendable {
  let number: Int
  let started: Date
  let state: OpenEnum<Inspector.Exchange>
  /// 0 if there is no response.
  let status: Int
  /// Milliseconds.
  let time: Double
  /// All texts, each terminated by ``PackedTexts/end``, then the bodies, in one allocation of known size.
  let bytes: [UInt8]
  /// The range of the URL's host in the bytes.
  let host: Range<Int>
  let requestBody: Body
  let responseBody: Body
  let isReused: Bool?
  /// The size of the response's body on the wire.
  let wireBytes: Int?
  let source: OpenEnum<InterceptedResponse>?
  let phase: TransportError.Phase?
  let attempts: [Inspector.Exchange.Attempt]
  private let timings: PackedTimings
  private let requestFields: Int
  private let trailers: Int

  /// The order of the texts before those of the fields.
  enum Part: Int, CaseIterable {
    case method, url, requestVersion, statusText, responseVersion, address, error, comment, replaced
  }

  /// The location of a body.
  struct Body {
    /// Whether the message has a body.
    let isThere: Bool
    /// The range of its bytes.
    let place: Range<Int>
    let size: Int
  }

  /// Times in milliseconds; negative if unknown.
  struct PackedTimings {
    let blocked, dns, connect, ssl, send, wait, receive: Float
  }

  /// Whether it has content: `false` for ``empty(_:_:)``.
  var isWhole: Bool { bytes.first != PackedTexts.end }

  /// Packs an exchange; for an open one, its current state.
  convenience init(_ slot: Slot, _ raw: RawExchange, _ inspector: Inspector) {
    let entry = Inspector.Exchange.entry(of: raw, slot, now: inspector.clock.now(), limit: inspector.limits.mostOfABody)
    self.init(inspector.redacted(entry), slot.number)
  }

  /// Packs a redacted entry.
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
      case .replaced: texts.add(entry.extensions[HAR.Entry.redacted]?.description ?? "")
      }
    }
    for field in request.headers + response.headers + trailers {
      texts.add(field.name)
      texts.add(field.value)
    }
    let (sent, received) = (request.body?.data ?? Data(), response.body.data)
    bytes = texts.packed(with: sent, received)

    let url = request.method.utf8.count + 1
    host = Self.host(in: bytes, url..<url + request.url.utf8.count)
    let middle = texts.size + sent.count
    requestBody = Body(isThere: request.body != nil, place: texts.size..<middle, size: request.body?.size ?? 0)
    responseBody = Body(isThere: true, place: middle..<bytes.count, size: response.body.size)
  }

  /// The range of the host in a URL: after the scheme and user, before the port.
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

  /// The unpacked entry.
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
    entry.extensions[HAR.Entry.redacted] = try? JSONValue(reading: text(.replaced).utf8)
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

/// Texts in one allocation.
struct PackedTexts {
  /// The terminator: a byte that does not occur in UTF-8.
  static let end: UInt8 = 0xFF

  private var texts: [String] = []
  /// The number of bytes, including the terminators.
  private(set) var size = 0

  mutating func add(_ text: String) {
    texts.append(text)
    size += text.utf8.count + 1
  }

  /// The texts and the bodies, in one allocation of the exact size.
  func packed(with bodies: Data...) -> [UInt8] {
    let count = bodies.reduce(size) { $0 + $1.count }
    return [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
      for text in texts {
        filled = bytes[filled...].initialize(fromContentsOf: text.utf8)
        filled = bytes[filled...].initialize(fromContentsOf: CollectionOfOne(Self.end))
      }
      for body in bodies { filled = bytes[filled...].initialize(fromContentsOf: body) }
    }
  }
}

// MARK: Cost

// Estimates of memory, measured with glibc on 64-bit Linux. `inspector-sizes` compares them with the allocator's
// numbers, and fails if they differ much.

extension KeptExchange {
  /// The fixed part: the slot, its lock, this object, its list entry.
  private static let fixed = 512

  /// The estimated memory in bytes.
  var cost: Int { Self.fixed + bytes.count + attempts.reduce(0) { $0 + $1.cost } }
}

extension Inspector.Exchange.Attempt {
  var cost: Int {
    MemoryLayout<Self>.stride + (address?.utf8.count ?? 0) + (failure?.message.utf8.count ?? 0) + 64
  }
}

extension RawExchange {
  /// The fixed part before packing: the slot, and the messages without fields and bodies.
  private static let fixed = 1_600

  /// The estimated memory at the beginning, without the body.
  var cost: Int { Self.fixed + 2 * request.url.absoluteString.utf8.count + request.fields.cost }
}

extension HTTPFields {
  /// The estimated memory in bytes.
  var cost: Int { reduce(0) { $0 + 128 + $1.name.rawName.utf8.count + $1.value.utf8.count } }
}
