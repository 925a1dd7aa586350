import Foundation

extension Inspector {
  /// The exchanges that a query is for, in the order in which they began.
  ///
  /// All that is kept is looked through, on several threads where it is much.
  ///
  /// - Parameters:
  ///   - query: What to look for.
  ///   - limit: How many are wanted, the newest; to make one up takes longer than to find it.
  public func exchanges(matching query: Query, newest limit: Int = .max) -> [Exchange] {
    matches(query).suffix(max(0, limit)).map { Exchange($0.entry) }
  }

  /// How many exchanges a query is for.
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
