/// The action for a request.
struct CacheDecision: Sendable {
  enum Action: Hashable, Sendable {
    /// Answer from the archive.
    case serve(CacheReply)
    /// Answer from the archive, and validate in the background.
    case serveAndRevalidate(CacheReply)
    /// Forward the request with ``CacheDecision/addedFields``.
    case forward
    /// Answer 504: `only-if-cached` without a usable response (RFC 9111, section 5.2.1.7).
    case gatewayTimeout
    /// Fail: there is no usable response, and the network is not allowed.
    case unavailable
  }

  var action: Action
  var reason: ArchiveReason
  /// Fields to set in the forwarded request, replacing fields of the same names.
  var addedFields: HTTPFields = [:]
  /// Fields to remove from the forwarded request: conditions and ranges that a background validation must not send.
  var removedFields: [HTTPField.Name] = []
  /// The index of the matching record, if any.
  var selected: Int?
  /// The indices of the records whose validators are in the added conditions; empty without added conditions.
  var validating: [Int] = []
  /// Whether the added fields request the rest of the selected part.
  var isCompleting = false

  init(_ action: Action, _ reason: ArchiveReason, selected: Int? = nil) {
    self.action = action
    self.reason = reason
    self.selected = selected
  }

  /// The reply from the archive, if any.
  var reply: CacheReply? {
    switch action {
    case .serve(let reply), .serveAndRevalidate(let reply): reply
    case .forward, .gatewayTimeout, .unavailable: nil
    }
  }

  /// The decision without added conditions and range, for the request that follows ``ResponseOutcome/Reply/again``.
  var unconditional: CacheDecision {
    var copy = self
    for name in [HTTPField.Name.ifNoneMatch, .ifModifiedSince, .ifRange, .range] { copy.addedFields[values: name] = [] }
    copy.validating = []
    copy.isCompleting = false
    return copy
  }
}

/// A reply from a stored response.
struct CacheReply: Hashable, Sendable {
  enum Form: Hashable, Sendable {
    case whole
    /// 304: the client's copy is current (RFC 9111, section 4.3.2).
    case notModified
    /// 206: a byte range of the representation. The stored body starts at the lower bound of the record's extent.
    case range(Range<Int64>)
    /// 416, with the length of the representation.
    case unsatisfiableRange(Int64)
  }

  /// The index of the record in the list passed to the policy.
  var index: Int
  var form: Form
  var isStale: Bool
}

/// The action for the origin's response.
struct ResponseOutcome: Sendable {
  enum Reply: Hashable, Sendable {
    /// The client gets the origin's response.
    case network
    /// The client gets a stored response, instead of a 304 or an error.
    ///
    /// Its record is ``ResponseOutcome/replyRecord`` if set, otherwise the stored one.
    case stored(CacheReply)
    /// The client gets the stored part up to the offset of ``Storing/join(index:offset:_:)``, followed by the received
    /// body; the head is that of the joined record after ``CacheRecord/becomeWhole()``.
    case joined
    /// The response satisfies none of the added conditions: repeat the request without them.
    case again
  }

  enum Storing: Hashable, Sendable {
    /// Store the body with this record.
    case new(CacheRecord)
    /// Append the body to a stored one, which is truncated at the given offset first.
    case join(index: Int, offset: Int64, CacheRecord)
  }

  var reply: Reply
  /// The reason for the reply, or for not storing the response.
  var reason: ArchiveReason
  /// The freshened record for the client's head, whether or not it is stored.
  var replyRecord: CacheRecord?
  /// New records for stored bodies.
  var updates: [Update] = []
  /// Records to remove, because they are replaced or must not be kept.
  var removals: [Int] = []
  var storing: Storing?

  struct Update: Hashable, Sendable {
    var index: Int
    var record: CacheRecord
  }

  init(_ reply: Reply, _ reason: ArchiveReason) {
    self.reply = reply
    self.reason = reason
  }
}

/// Settings of one load.
struct CacheOptions: Sendable {
  /// The result of `willStore` for a head.
  struct Revision: Sendable {
    var fields: HTTPFields
    var lifetime: LifetimeOverride?
  }

  var mode = ArchiveMode.online
  /// The lifetime by the app's rules, for storing and freshening.
  var lifetime: LifetimeOverride?
  /// Whether the body is part of the key: the request is then treated as a `GET` (GraphQL over `POST`).
  var isKeyedByBody = false
  /// Applies `willStore` to a freshened head, so that a 304 does not restore fields that the app removed.
  var revise: (@Sendable (_ status: Int, _ fields: HTTPFields) -> Revision)?

  /// The method whose caching rules apply to the request.
  func method(of request: CacheRequest) -> CacheMethod { isKeyedByBody ? .get : request.method }
}
