/// What to do with a response of the origin.
package struct ResponseOutcome: Sendable {
  package enum Answer: Hashable, Sendable {
    /// The client gets it.
    case network
    /// The client gets a stored response: in place of a 304, or of an error.
    ///
    /// Its record is ``ResponseOutcome/answerRecord``, where there is one, and else the one that was asked about.
    case stored(CacheAnswer)
    /// The client gets the stored part up to the offset of ``Storing/join(index:offset:_:)``, and behind it the body
    /// that comes; the head is that of the joined record, once ``CacheRecord/becomeWhole()`` has made it whole.
    case joined
    /// It answers none of the conditions that were added: ask again without them.
    case again
  }

  package enum Storing: Hashable, Sendable {
    /// Its body is to be stored with this record.
    case new(CacheRecord)
    /// Its body goes into the stored one's, at the given offset of the stored body, which is cut off there.
    case join(index: Int, offset: Int64, CacheRecord)
  }

  package var answer: Answer
  /// Why the answer is what it is, or why it is not stored.
  package var reason: ArchiveReason
  /// The record of a stored answer, freshened; it is what the client's head is made of, whether or not it is kept.
  package var answerRecord: CacheRecord?
  /// New heads for stored bodies.
  package var updates: [Update] = []
  /// Records to be removed: what is stored takes their place, or they must not be kept.
  package var removals: [Int] = []
  package var storing: Storing?

  package struct Update: Hashable, Sendable {
    package var index: Int
    package var record: CacheRecord
  }

  init(_ answer: Answer, _ reason: ArchiveReason) {
    self.answer = answer
    self.reason = reason
  }
}
