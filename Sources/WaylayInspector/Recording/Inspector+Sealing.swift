import Foundation

extension Inspector {
  /// How long messages wait as they are: redacting takes longer than a load may be kept waiting, and is done behind it.
  private static let patience = DispatchTimeInterval.milliseconds(20)

  func scheduleSealing() {
    sealing.asyncAfter(deadline: .now() + Self.patience) { [weak self] in self?.sealAll() }
  }

  /// Makes all that has ended what is kept of it.
  func sealAll() {
    while true {
      let waiting = memory.withLock { memory -> [Slot] in
        defer { memory.unsealed = [] }
        memory.isSealing = !memory.unsealed.isEmpty
        return memory.unsealed
      }
      if waiting.isEmpty { return }
      for slot in waiting {
        // What has gone meanwhile is made up for the journal alone.
        let isListed = memory.withLock { _ in slot.listing.isListed }
        guard isListed || journal != nil else { continue }
        let kept = slot.seal(by: self)
        if let journal, kept.isWhole { journal.append([kept.entry]) }
        let gone = memory.withLock { $0.settle(slot, cost: kept.cost) }
        for slot in gone { slot.forget() }
      }
    }
  }
}
