import Foundation

extension Inspector.Exchange {
  /// The custom fields of an inspector's entry, in addition to those of HAR 1.2. A page or another program needs
  /// nothing else.
  ///
  /// | Field | In | Type | Meaning |
  /// |---|---|---|---|
  /// | `_id` | entry | number | ``Inspector/Exchange/id`` |
  /// | `_state` | entry | text | `open`, `finished`, `failed` or `unseen` |
  /// | `_source` | entry | text | `network`, `archive`, `mocked`, or another source; omitted if there is no response |
  /// | `_error` | entry | text | why the exchange failed; omitted if it did not |
  /// | `_phase` | entry | text | how far it got: `resolving`, `connecting`, `securing`, `sending`, `receiving` |
  /// | `_attempts` | entry | array | the requests sent to the network: objects with `address`, `at`, `time` (milliseconds), `status`, `error`, `phase`, `reused`; all optional except `at` |
  /// | `_reused` | entry | Boolean | whether the connection was reused; omitted if unknown |
  /// | `_truncated` | entry | Boolean | `true` if only the beginning of a body is kept; otherwise omitted |
  /// | `_resourceType` | entry | text | `websocket` for a WebSocket task |
  /// | `_truncated` | `postData`, `content` | Boolean | `true` for the body of which only the beginning is kept |
  /// | `_size` | `postData` | number | the full size, if only the beginning is kept; for `content` it is `size` |
  /// | `_base64` | `postData` | text | the bytes, if they are not text |
  /// | `_trailers` | response | array | objects with `name` and `value` |
  public enum Field {
    /// The number.
    public static let id = "_id"
    /// The state.
    public static let state = "_state"
    /// Where the response came from.
    public static let source = "_source"
    /// Why it failed.
    public static let error = "_error"
    /// How far the exchange had progressed.
    public static let phase = "_phase"
    /// The requests sent to the network.
    public static let attempts = "_attempts"
    /// Whether the exchange reused an open connection.
    public static let reused = "_reused"
    /// Whether only the beginning of a body is kept.
    public static let truncated = "_truncated"
    /// The kind of task.
    public static let resourceType = "_resourceType"
  }

  /// Makes an exchange from an entry, written by an inspector or by anything else. In the latter case its state follows
  /// from its response.
  public init(_ entry: HAR.Entry) {
    let fields = entry.extensions
    self.entry = entry
    id = ID(fields[Field.id]?.int ?? 0)
    let error = fields[Field.error]?.string
    failure = error.map { Failure(message: $0, phase: fields[Field.phase]?.string.map { TransportError.Phase($0) }) }
    let hasAnswer = entry.response.status != 0
    state = fields[Field.state]?.string.map { State($0) } ?? (error == nil && hasAnswer ? .finished : .failed)
    source = fields[Field.source]?.string.map { Source($0) } ?? (hasAnswer ? .network : nil)
    attempts = fields[Field.attempts]?.array?.map { Attempt($0) } ?? []
    isConnectionReused = fields[Field.reused]?.bool
  }

  /// The fields of an entry that are not the format's own.
  static func fields(
    id: Int, state: State, source: Source?, failure: Failure?, attempts: [Attempt], isReused: Bool?, truncated: Bool
  ) -> [String: JSONValue] {
    var fields: [String: JSONValue] = [Field.id: .integer(Int64(id)), Field.state: .string(state.description)]
    if let source { fields[Field.source] = .string(source.description) }
    if let failure {
      fields[Field.error] = .string(failure.message)
      if let phase = failure.phase { fields[Field.phase] = .string(phase.description) }
    }
    if !attempts.isEmpty { fields[Field.attempts] = .array(attempts.map(\.json)) }
    if let isReused { fields[Field.reused] = .bool(isReused) }
    if truncated { fields[Field.truncated] = true }
    if state == .unseen { fields[Field.resourceType] = "websocket" }
    return fields
  }
}

extension Inspector.Exchange.Attempt {
  init(_ json: JSONValue) {
    address = json["address"]?.string
    at = json["at"]?.double ?? 0
    time = json["time"]?.double
    status = json["status"]?.int
    failure = json["error"]?.string.map {
      Inspector.Exchange.Failure(message: $0, phase: json["phase"]?.string.map { TransportError.Phase($0) })
    }
    isConnectionReused = json["reused"]?.bool
  }

  var json: JSONValue {
    var fields: [String: JSONValue] = ["at": .number(at)]
    if let address { fields["address"] = .string(address) }
    if let time { fields["time"] = .number(time) }
    if let status { fields["status"] = .integer(Int64(status)) }
    if let failure {
      fields["error"] = .string(failure.message)
      if let phase = failure.phase { fields["phase"] = .string(phase.description) }
    }
    if let isConnectionReused { fields["reused"] = .bool(isConnectionReused) }
    return .object(fields)
  }
}
