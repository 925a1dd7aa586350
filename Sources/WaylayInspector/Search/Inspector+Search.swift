import Foundation

extension Inspector {
  /// Returns the exchanges that match a query, in the order in which they began.
  ///
  /// The search covers all kept exchanges, on several threads if there are many.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - limit: The maximum number of exchanges to return, the newest ones; creating one takes longer than finding it.
  public func exchanges(matching query: Query, newest limit: Int = .max) -> [Exchange] {
    matches(query).suffix(max(0, limit)).map { Exchange($0.entry) }
  }

  /// Returns the number of exchanges that match a query.
  public func count(matching query: Query) -> Int { matches(query).count }

  /// What of all that is kept a query is for.
  func matches(_ query: Query?) -> [KeptExchange] {
    let slots = slots
    guard slots.count > Self.fewEnough else { return matches(query, slots) }
    let parts = (slots.count + Self.fewEnough - 1) / Self.fewEnough
    let found = Locked<[Int: [KeptExchange]]>([:])
    DispatchQueue.concurrentPerform(iterations: parts) { part in
      let range = part * Self.fewEnough..<min(slots.count, (part + 1) * Self.fewEnough)
      let matches = matches(query, slots[range])
      found.withLock { $0[part] = matches }
    }
    let all = found.withLock { $0 }
    return (0..<parts).flatMap { all[$0] ?? [] }
  }

  /// So many are looked through by one thread at a time.
  private static let fewEnough = 16_384

  private func matches(_ query: Query?, _ slots: some Sequence<Slot>) -> [KeptExchange] {
    var found: [KeptExchange] = []
    for slot in slots {
      let exchange = slot.seal(by: self)
      if query?.matches(exchange) ?? true { found.append(exchange) }
    }
    return found
  }
}
