/// A stub that is for a request and does not answer it.
struct Spent: Error {
  enum Reason: Equatable {
    /// It has answered as often as it may.
    case usedUp
    /// Its scenario is in that state.
    case otherState(String)
    /// It was removed while the request was being matched.
    case removed
  }

  let entry: StubEntry
  let reason: Reason

  init(_ entry: StubEntry, _ reason: Reason) {
    self.entry = entry
    self.reason = reason
  }
}
