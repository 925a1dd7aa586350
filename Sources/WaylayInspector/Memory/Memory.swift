import DequeModule

/// The exchanges of an inspector, within its limits; guarded by the inspector's lock.
struct Memory {
  private let limits: Inspector.Limits
  private(set) var bytes = 0
  private(set) var dropped = 0
  private(set) var last = 0
  var isRecording = true
  var watchesAttempts = false
  var buffers: [Int: EventBuffer] = [:]
  /// The ended exchanges that are not packed yet.
  var unsealed: [Slot] = []
  var isSealing = false

  /// Exchanges that were open when the limits would have removed them; all of them are older than ``slots``.
  private var open: [Slot] = []
  private var slots: Deque<Slot> = []
  /// Evicted exchanges, until the caller takes them.
  private var removed: [Slot] = []
  /// The number of exchanges in ``open`` that have ended since.
  private var endedAmongOpen = 0

  init(limits: Inspector.Limits) {
    self.limits = limits
  }

  var count: Int { open.count + slots.count }

  /// All exchanges in the order of their numbers.
  var all: [Slot] { open + slots }

  func slot(_ number: Int) -> Slot? { Self.slot(number, in: slots) ?? Self.slot(number, in: open) }

  private static func slot(_ number: Int, in slots: some RandomAccessCollection<Slot>) -> Slot? {
    var range = slots.startIndex..<slots.endIndex
    while !range.isEmpty {
      let middle = slots.index(
        range.lowerBound, offsetBy: slots.distance(from: range.lowerBound, to: range.upperBound) / 2)
      let found = slots[middle]
      if found.number == number { return found }
      range = found.number < number ? slots.index(after: middle)..<range.upperBound : range.lowerBound..<middle
    }
    return nil
  }

  mutating func nextNumber() -> Int {
    last += 1
    return last
  }

  // MARK: Limits

  /// Removes and returns the evicted exchanges; the caller discards them after releasing the lock.
  mutating func takeRemoved() -> [Slot] { exchange(&removed, with: []) }

  /// Adds a new exchange.
  mutating func add(_ slot: Slot, cost: Int) {
    slot.listing = Slot.Listing(cost: cost, isListed: true)
    slots.append(slot)
    bytes += cost
    trim(for: slot)
  }

  /// Reserves bytes for an open exchange.
  ///
  /// - Returns: Whether the bytes fit.
  mutating func grow(_ slot: Slot, by more: Int) -> Bool {
    guard slot.listing.isListed else { return false }
    guard more > 0 else { return true }
    // Evict nothing if the bytes would not fit anyway.
    guard slot.listing.cost + more <= limits.bytes else { return false }
    charge(slot, more)
    guard bytes > limits.bytes else { return true }
    slot.listing.cost -= more
    bytes -= more
    return false
  }

  /// Adds bytes to the cost of an open exchange, even beyond the limit.
  mutating func charge(_ slot: Slot, _ more: Int) {
    guard slot.listing.isListed else { return }
    slot.listing.cost += more
    bytes += more
    trim(for: slot)
  }

  /// Marks an exchange as ended, so that it may be evicted.
  ///
  /// - Parameter more: Its additional bytes.
  mutating func end(_ slot: Slot, more: Int = 0) {
    guard slot.listing.isListed, slot.listing.isOpen else { return }
    slot.listing.isOpen = false
    slot.listing.cost += more
    bytes += more
    if slot.listing.isAmongOpen { endedAmongOpen += 1 }
    trim(for: nil)
  }

  /// Sets the cost of a packed exchange.
  mutating func settle(_ slot: Slot, cost: Int) {
    guard slot.listing.isListed else { return }
    bytes += cost - slot.listing.cost
    slot.listing.cost = cost
    trim(for: nil)
  }

  mutating func removeAll() -> [Slot] {
    let removed = all
    for slot in removed { slot.listing.isListed = false }
    (open, slots, unsealed, bytes, endedAmongOpen) = ([], [], [], 0, 0)
    return removed
  }

  /// - Parameter user: The exchange that needs the space: it is not evicted.
  private mutating func trim(for user: Slot?) {
    while count > limits.exchanges || bytes > limits.bytes {
      if endedAmongOpen > 0, let index = open.firstIndex(where: { !$0.listing.isOpen }) {
        endedAmongOpen -= 1
        remove(open.remove(at: index))
      } else if let first = slots.popFirst() {
        guard first.listing.isOpen || first === user else {
          remove(first)
          continue
        }
        first.listing.isAmongOpen = true
        open.append(first)
      } else if count > limits.exchanges, let index = open.firstIndex(where: { $0 !== user }) {
        // All exchanges are open.
        remove(open.remove(at: index))
      } else {
        break
      }
    }
  }

  private mutating func remove(_ slot: Slot) {
    slot.listing.isListed = false
    bytes -= slot.listing.cost
    dropped += 1
    removed.append(slot)
  }
}
