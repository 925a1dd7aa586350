/// What to do with a request.
package struct CacheDecision: Sendable {
  package enum Action: Hashable, Sendable {
    /// Answer from the archive.
    case serve(CacheAnswer)
    /// Answer from the archive, and validate behind the answer.
    case serveAndRevalidate(CacheAnswer)
    /// Send the request on, with ``CacheDecision/addedFields``.
    case forward
    /// Answer 504: `only-if-cached`, and nothing that may be used (RFC 9111, section 5.2.1.7).
    case gatewayTimeout
    /// Fail: nothing is stored, and the network may not be asked.
    case unavailable
  }

  package var action: Action
  package var reason: ArchiveReason
  /// The fields that the request is to be sent with, in place of its own of the same names.
  package var addedFields: HTTPFields
  /// The fields of the request that are not sent: those that the answer behind has no use for.
  package var removedFields: [HTTPField.Name]
  /// The record that the request is about, if one matches.
  package var selected: Int?
  /// The records that the added conditions stand for; empty when there are none of ours.
  package var validating: [Int]
  /// Whether the added fields ask for the rest of the selected part.
  package var isCompleting: Bool

  init(_ action: Action, _ reason: ArchiveReason, selected: Int? = nil) {
    self.action = action
    self.reason = reason
    addedFields = [:]
    removedFields = []
    self.selected = selected
    validating = []
    isCompleting = false
  }

  /// The same without the conditions and the range that were added: for the request that is sent after
  /// ``ResponseOutcome/Answer/again``.
  package var unconditional: CacheDecision {
    var copy = self
    for name in [HTTPField.Name.ifNoneMatch, .ifModifiedSince, .ifRange, .range] { copy.addedFields[values: name] = [] }
    copy.validating = []
    copy.isCompleting = false
    return copy
  }
}

/// An answer out of a stored response.
package struct CacheAnswer: Hashable, Sendable {
  package enum Form: Hashable, Sendable {
    case whole
    /// 304: the client has it (RFC 9111, section 4.3.2).
    case notModified
    /// 206: those bytes of the representation. A record's body begins with the first byte of its extent.
    case range(Range<Int64>)
    /// 416, with the length of the representation.
    case unsatisfiableRange(Int64)
  }

  /// The position of the record in what was asked about.
  package var index: Int
  package var form: Form
  package var isStale: Bool

  package init(index: Int, form: Form, isStale: Bool) {
    self.index = index
    self.form = form
    self.isStale = isStale
  }
}
