/// What to do with a request.
struct CacheDecision: Sendable {
  enum Action: Hashable, Sendable {
    /// Answer from the archive.
    case serve(CacheReply)
    /// Answer from the archive, and validate behind the response.
    case serveAndRevalidate(CacheReply)
    /// Send the request on, with ``CacheDecision/addedFields``.
    case forward
    /// Answer 504: `only-if-cached`, and nothing that may be used (RFC 9111, section 5.2.1.7).
    case gatewayTimeout
    /// Fail: nothing is stored, and the network may not be asked.
    case unavailable
  }

  var action: Action
  var reason: ArchiveReason
  /// The fields that the request is to be sent with, in place of its own of the same names.
  var addedFields: HTTPFields = [:]
  /// The fields of the request that are not sent: those that the response behind has no use for.
  var removedFields: [HTTPField.Name] = []
  /// The record that the request is about, if one matches.
  var selected: Int?
  /// The records that the added conditions stand for; empty when there are none of ours.
  var validating: [Int] = []
  /// Whether the added fields ask for the rest of the selected part.
  var isCompleting = false

  init(_ action: Action, _ reason: ArchiveReason, selected: Int? = nil) {
    self.action = action
    self.reason = reason
    self.selected = selected
  }

  /// What is given out of the archive; `nil` where nothing is.
  var reply: CacheReply? {
    switch action {
    case .serve(let reply), .serveAndRevalidate(let reply): reply
    case .forward, .gatewayTimeout, .unavailable: nil
    }
  }

  /// The same without the conditions and the range that were added: for the request that is sent after
  /// ``ResponseOutcome/Reply/again``.
  var unconditional: CacheDecision {
    var copy = self
    for name in [HTTPField.Name.ifNoneMatch, .ifModifiedSince, .ifRange, .range] { copy.addedFields[values: name] = [] }
    copy.validating = []
    copy.isCompleting = false
    return copy
  }
}

/// A response out of a stored response.
struct CacheReply: Hashable, Sendable {
  enum Form: Hashable, Sendable {
    case whole
    /// 304: the client has it (RFC 9111, section 4.3.2).
    case notModified
    /// 206: those bytes of the representation. A record's body begins with the first byte of its extent.
    case range(Range<Int64>)
    /// 416, with the length of the representation.
    case unsatisfiableRange(Int64)
  }

  /// The position of the record in what was asked about.
  var index: Int
  var form: Form
  var isStale: Bool
}

/// What to do with a response of the origin.
struct ResponseOutcome: Sendable {
  enum Reply: Hashable, Sendable {
    /// The client gets it.
    case network
    /// The client gets a stored response: in place of a 304, or of an error.
    ///
    /// Its record is ``ResponseOutcome/replyRecord``, where there is one, and else the one that was asked about.
    case stored(CacheReply)
    /// The client gets the stored part up to the offset of ``Storing/join(index:offset:_:)``, and behind it the body
    /// that comes; the head is that of the joined record, once ``CacheRecord/becomeWhole()`` has made it whole.
    case joined
    /// It answers none of the conditions that were added: ask again without them.
    case again
  }

  enum Storing: Hashable, Sendable {
    /// Its body is to be stored with this record.
    case new(CacheRecord)
    /// Its body goes into the stored one's, at the given offset of the stored body, which is cut off there.
    case join(index: Int, offset: Int64, CacheRecord)
  }

  var reply: Reply
  /// Why the response is what it is, or why it is not stored.
  var reason: ArchiveReason
  /// The record of a stored response, freshened; it is what the client's head is made of, whether or not it is kept.
  var replyRecord: CacheRecord?
  /// New heads for stored bodies.
  var updates: [Update] = []
  /// Records to be removed: what is stored takes their place, or they must not be kept.
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

/// What one load adds to the question, beside the request.
struct CacheOptions: Sendable {
  /// What the app makes of a head that is about to be stored.
  struct Revision: Sendable {
    var fields: HTTPFields
    var lifetime: LifetimeOverride?
  }

  var mode = ArchiveMode.online
  /// Seen when a response is stored or freshened.
  var lifetime: LifetimeOverride?
  /// What an unsafe-looking request, keyed by its body, is treated as: a `GET` (GraphQL over `POST`).
  var isKeyedByBody = false
  /// Asked about the head that a stored response gets when it is freshened, so that what was edited out does not come
  /// back with a 304.
  var revise: (@Sendable (_ status: Int, _ fields: HTTPFields) -> Revision)?

  /// The method of a request, as far as the rules go.
  func method(of request: CacheRequest) -> CacheMethod { isKeyedByBody ? .get : request.method }
}
