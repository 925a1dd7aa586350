import Foundation

extension Inspector {
  /// A request and its outcome, as kept by an ``Inspector``: without secrets.
  ///
  /// ```swift
  /// for exchange in inspector.exchanges where exchange.state == .failed {
  ///   print(exchange.request.url, exchange.failure?.phase ?? "", exchange.failure?.message ?? "")
  /// }
  /// ```
  ///
  /// The exchange is a view of ``entry``, which has the same content in the format of an HTTP archive: ``init(_:)``
  /// makes an exchange from such an entry.
  public struct Exchange: Sendable, Hashable, Identifiable {
    /// The number, in the order in which exchanges began, starting at 1.
    public let id: Int
    /// The state of the exchange.
    public let state: OpenEnum<Inspector.Exchange>
    /// Where the response came from; `nil` if there is none.
    public let source: OpenEnum<InterceptedResponse>?
    /// Why the exchange failed; `nil` if it did not.
    public let failure: Failure?
    /// The requests sent to the network. With ``Inspector/attempts`` in the chain, every attempt; otherwise only the
    /// last one.
    public let attempts: [Attempt]
    /// Whether the exchange reused an open connection; `nil` if unknown.
    public let isConnectionReused: Bool?
    /// The whole exchange as an entry of an HTTP archive, with the custom fields that ``init(_:)`` lists.
    public let entry: HAR.Entry

    /// The request. Its body is the part that was kept: see `HAR.Body.isTruncated`.
    public var request: HAR.Request { entry.request }
    /// The response; `nil` if there is none, or none yet. Its body is the part received and kept.
    public var response: HAR.Response? { entry.response.status == 0 ? nil : entry.response }
    /// When the exchange began.
    public var started: Date { entry.started }
    /// How long the exchange took, or has taken so far.
    public var duration: Duration { .microseconds(Int64(exactly: (entry.time * 1000).rounded()) ?? 0) }
    /// The duration of each part.
    public var timings: HAR.Timings { entry.timings }

    /// Why an exchange failed.
    public struct Failure: Sendable, Hashable, CustomStringConvertible {
      /// The error's text, without secrets.
      public let message: String
      /// How far the exchange had progressed; `nil` if the error has no phase.
      public let phase: TransportError.Phase?

      /// Makes a failure.
      public init(message: String, phase: TransportError.Phase? = nil) {
        self.message = message
        self.phase = phase
      }

      /// Phase and message.
      public var description: String { phase.map { "while \($0): \(message)" } ?? message }
    }

    /// A request sent to the network for an exchange.
    public struct Attempt: Sendable, Hashable {
      /// The address that was dialed, or was to be dialed.
      public let address: String?
      /// The start, in milliseconds after the exchange began.
      public let start: Double
      /// The time in milliseconds until there was a head or an error; `nil` until then.
      public let time: Double?
      /// The status of the response.
      public let status: Int?
      /// Why there was no response.
      public let failure: Failure?
      /// Whether the attempt reused an open connection; `nil` if unknown.
      public let isConnectionReused: Bool?
    }
  }
}

extension Inspector.Exchange: CustomStringConvertible {
  /// The exchange on one line.
  public var description: String {
    var text = "#\(id) \(request.method) \(request.url) "
    if let response { text += "\(response.status) " }
    text += source.map { "\(state), \($0)" } ?? state.description
    if let failure { text += ", \(failure)" }
    return text + ", \((entry.time * 10).rounded() / 10) ms, \(entry.response.body.size) B"
  }
}

extension Inspector.Exchange {
  /// Makes an exchange from an entry of an inspector or of another program. For an entry without `_state`, the response
  /// determines the state.
  ///
  /// An inspector's entry has these custom fields in addition to those of HAR 1.2; together they contain the whole
  /// exchange.
  ///
  /// | Field | In | Type | Meaning |
  /// |---|---|---|---|
  /// | `_id` | entry | number | ``id`` |
  /// | `_state` | entry | text | `open`, `finished`, `failed` or `unseen` |
  /// | `_source` | entry | text | `network`, `archive`, `mocked`, or another source; omitted if there is no response |
  /// | `_error` | entry | text | why the exchange failed; omitted if it did not |
  /// | `_phase` | entry | text | how far it got: `resolving`, `connecting`, `securing`, `sending`, `receiving` |
  /// | `_attempts` | entry | array | the requests sent to the network: objects with `address`, `at`, `time` (milliseconds), `status`, `error`, `phase`, `reused`; all optional except `at` |
  /// | `_reused` | entry | Boolean | whether the connection was reused; omitted if unknown |
  /// | `_truncated` | entry | Boolean | `true` if only the beginning of a body is kept; otherwise omitted |
  /// | `_redacted` | entry | object | the places of values that were replaced |
  /// | `_resourceType` | entry | text | `websocket` for a WebSocket task |
  /// | `_truncated` | `postData`, `content` | Boolean | `true` for the body of which only the beginning is kept |
  /// | `_size` | `postData` | number | the full size, if only the beginning is kept; for `content` it is `size` |
  /// | `_base64` | `postData` | text | the bytes, if they are not text |
  /// | `_trailers` | response | array | objects with `name` and `value` |
  public init(_ entry: HAR.Entry) {
    let fields = entry.extensions
    self.entry = entry
    id = fields["_id"]?.int ?? 0
    let error = fields["_error"]?.string
    failure = error.map { Failure(message: $0, phase: fields["_phase"]?.string.map { TransportError.Phase($0) }) }
    let hasResponse = entry.response.status != 0
    state = fields["_state"]?.string.map { OpenEnum($0) } ?? (error == nil && hasResponse ? .finished : .failed)
    source = fields["_source"]?.string.map { OpenEnum($0) } ?? (hasResponse ? .network : nil)
    attempts = fields["_attempts"]?.array?.map { Attempt($0) } ?? []
    isConnectionReused = fields["_reused"]?.bool
  }

  /// The custom fields of an entry.
  static func fields(
    id: Int, state: OpenEnum<Inspector.Exchange>, source: OpenEnum<InterceptedResponse>?, failure: Failure?,
    attempts: [Attempt], isReused: Bool?, truncated: Bool
  ) -> [String: JSONValue] {
    var fields: [String: JSONValue] = ["_id": JSONValue(id), "_state": JSONValue(state.description)]
    if let source { fields["_source"] = JSONValue(source.description) }
    fields["_error"] = failure.map { JSONValue($0.message) }
    fields["_phase"] = failure?.phase.map { JSONValue($0.description) }
    if !attempts.isEmpty { fields["_attempts"] = JSONValue(attempts.map(\.json)) }
    if let isReused { fields["_reused"] = JSONValue(isReused) }
    if truncated { fields["_truncated"] = true }
    if state == .unseen { fields["_resourceType"] = "websocket" }
    return fields
  }
}

extension Inspector.Exchange.Attempt {
  init(_ json: JSONValue) {
    address = json["address"]?.string
    start = json["at"]?.double ?? 0
    time = json["time"]?.double
    status = json["status"]?.int
    failure = json["error"]?.string.map {
      Inspector.Exchange.Failure(message: $0, phase: json["phase"]?.string.map { TransportError.Phase($0) })
    }
    isConnectionReused = json["reused"]?.bool
  }

  var json: JSONValue {
    var fields: [String: JSONValue] = ["at": JSONValue(start)]
    if let address { fields["address"] = JSONValue(address) }
    if let time { fields["time"] = JSONValue(time) }
    if let status { fields["status"] = JSONValue(status) }
    fields["error"] = failure.map { JSONValue($0.message) }
    fields["phase"] = failure?.phase.map { JSONValue($0.description) }
    if let isConnectionReused { fields["reused"] = JSONValue(isConnectionReused) }
    return JSONValue(fields)
  }
}

extension OpenEnum where Domain == Inspector.Exchange {
  /// The response, or the rest of its body, has not arrived yet.
  public static var open: Self { Self("open") }
  /// The exchange ended with a response. If its body was dropped before its end, `HAR.Entry.comment` says so.
  public static var finished: Self { Self("finished") }
  /// The exchange failed or was cancelled.
  public static var failed: Self { Self("failed") }
  /// A WebSocket task began; its messages are not visible.
  public static var unseen: Self { Self("unseen") }
}

/// Where a response came from.
extension OpenEnum where Domain == InterceptedResponse {
  /// The network.
  public static var network: Self { Self("network") }
  /// An archive, according to the response's source or its `Cache-Status` field (RFC 9211).
  public static var archive: Self { Self("archive") }
  /// An interceptor that made the response itself, such as a mock.
  public static var mocked: Self { Self("mocked") }
}
