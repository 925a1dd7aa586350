/// A table of entries by digest that knows which of them is least worth keeping.
///
/// An open-addressing table of handles beside the entries themselves, which form a queue for SIEVE (Zhang et al., NSDI
/// 2024): a hit sets one bit, and eviction takes the oldest entry that has not been hit since the hand passed it. The
/// digests are keyed, so nobody can choose URLs that collide.
struct EntryIndex<Payload> {
  /// The place of an entry, valid until it is removed.
  typealias Handle = Int32

  fileprivate struct Node {
    var hash: UInt64
    var newer: Handle
    var older: Handle
    var isVisited = false
    var isPinned: Bool
    var payload: Payload?
  }

  private static var none: Handle { -1 }

  private var nodes: ContiguousArray<Node> = []
  private var table: ContiguousArray<Handle>
  private var mask: Int
  private var free = Self.none
  private var newest = Self.none
  private var oldest = Self.none
  private var hand = Self.none
  private(set) var count = 0
  private(set) var pinned = 0

  /// An index that takes so many entries before it grows.
  init(minimumCapacity: Int = 0) {
    var size = 16
    while size < minimumCapacity * 2 { size *= 2 }
    table = ContiguousArray(repeating: Self.none, count: size)
    mask = size - 1
    nodes.reserveCapacity(minimumCapacity)
  }

  /// Adds an entry as the newest one.
  @discardableResult
  mutating func insert(_ payload: Payload, hash: UInt64, isPinned: Bool = false) -> Handle {
    if (count + 1) * 2 > table.count { grow() }
    let node = Node(hash: hash, newer: Self.none, older: newest, isPinned: isPinned, payload: payload)
    let handle: Handle
    if free >= 0 {
      handle = free
      free = nodes[Int(handle)].newer
      nodes[Int(handle)] = node
    } else {
      handle = Handle(nodes.count)
      nodes.append(node)
    }
    if newest >= 0 { nodes[Int(newest)].newer = handle } else { oldest = handle }
    newest = handle
    place(handle, hash: hash)
    count += 1
    if isPinned { pinned += 1 }
    return handle
  }

  /// Takes an entry out.
  @discardableResult
  mutating func remove(_ handle: Handle) -> Payload {
    let node = nodes[Int(handle)]
    guard let payload = node.payload else { preconditionFailure("an entry was removed twice") }
    unplace(handle, hash: node.hash)
    if hand == handle { hand = node.newer }
    if node.newer >= 0 { nodes[Int(node.newer)].older = node.older } else { newest = node.older }
    if node.older >= 0 { nodes[Int(node.older)].newer = node.newer } else { oldest = node.newer }
    nodes[Int(handle)].payload = nil
    nodes[Int(handle)].newer = free
    free = handle
    count -= 1
    if node.isPinned { pinned -= 1 }
    return payload
  }

  /// The entry at a handle.
  subscript(handle: Handle) -> Payload {
    get {
      guard let payload = nodes[Int(handle)].payload else { preconditionFailure("a handle outlived its entry") }
      return payload
    }
    set { nodes[Int(handle)].payload = newValue }
  }

  /// The digest of an entry.
  func hash(_ handle: Handle) -> UInt64 { nodes[Int(handle)].hash }

  /// The handles of all entries of a digest, oldest first.
  func handles(_ hash: UInt64) -> [Handle] {
    var found: [Handle] = []
    var slot = Int(truncatingIfNeeded: hash) & mask
    while table[slot] >= 0 {
      if nodes[Int(table[slot])].hash == hash { found.append(table[slot]) }
      slot = (slot + 1) & mask
    }
    return found
  }

  /// Whether there is no entry of a digest.
  func isMissing(_ hash: UInt64) -> Bool {
    var slot = Int(truncatingIfNeeded: hash) & mask
    while table[slot] >= 0 {
      if nodes[Int(table[slot])].hash == hash { return false }
      slot = (slot + 1) & mask
    }
    return true
  }

  /// The first entry of a digest that is the one wanted.
  func first(_ hash: UInt64, where isWanted: (Payload) -> Bool) -> Handle? {
    var slot = Int(truncatingIfNeeded: hash) & mask
    while table[slot] >= 0 {
      let node = table[slot]
      if nodes[Int(node)].hash == hash, let payload = nodes[Int(node)].payload, isWanted(payload) { return node }
      slot = (slot + 1) & mask
    }
    return nil
  }

  /// Notes a hit.
  mutating func visit(_ handle: Handle) { nodes[Int(handle)].isVisited = true }

  /// Whether the entry has been hit since the hand passed it.
  func isVisited(_ handle: Handle) -> Bool { nodes[Int(handle)].isVisited }

  func isPinned(_ handle: Handle) -> Bool { nodes[Int(handle)].isPinned }

  /// Has eviction pass an entry over, or no longer.
  mutating func setPinned(_ isPinned: Bool, _ handle: Handle) {
    guard nodes[Int(handle)].isPinned != isPinned else { return }
    nodes[Int(handle)].isPinned = isPinned
    pinned += isPinned ? 1 : -1
  }

  /// The entry that is least worth keeping, or `nil` when all are pinned.
  mutating func victim() -> Handle? {
    guard pinned < count else { return nil }
    var handle = hand >= 0 ? hand : oldest
    // Twice round at most: the first time clears the marks.
    while nodes[Int(handle)].isPinned || nodes[Int(handle)].isVisited {
      nodes[Int(handle)].isVisited = false
      handle = nodes[Int(handle)].newer
      if handle < 0 { handle = oldest }
    }
    hand = handle
    return handle
  }

  /// All handles, oldest first.
  var handles: [Handle] {
    var all: [Handle] = []
    all.reserveCapacity(count)
    var handle = oldest
    while handle >= 0 {
      all.append(handle)
      handle = nodes[Int(handle)].newer
    }
    return all
  }

  /// How many places there are to look at with ``place(_:)``.
  var places: Int { nodes.count }

  /// What is in a place, to go through all entries a few at a time; in no order.
  func place(_ number: Int) -> (hash: UInt64, payload: Payload, isVisited: Bool)? {
    guard number < nodes.count, let payload = nodes[number].payload else { return nil }
    return (nodes[number].hash, payload, nodes[number].isVisited)
  }

  /// Forgets everything.
  mutating func removeAll() { self = EntryIndex() }

  private mutating func place(_ handle: Handle, hash: UInt64) {
    var slot = Int(truncatingIfNeeded: hash) & mask
    while table[slot] >= 0 { slot = (slot + 1) & mask }
    table[slot] = handle
  }

  /// Closes the gap, so that no search stops before its end.
  private mutating func unplace(_ handle: Handle, hash: UInt64) {
    var gap = Int(truncatingIfNeeded: hash) & mask
    while table[gap] != handle { gap = (gap + 1) & mask }
    var slot = gap
    while true {
      slot = (slot + 1) & mask
      guard table[slot] >= 0 else { break }
      let home = Int(truncatingIfNeeded: nodes[Int(table[slot])].hash) & mask
      if (slot - home) & mask >= (slot - gap) & mask {
        table[gap] = table[slot]
        gap = slot
      }
    }
    table[gap] = Self.none
  }

  private mutating func grow() {
    table = ContiguousArray(repeating: Self.none, count: table.count * 2)
    mask = table.count - 1
    // In the order of the queue, so that entries of one digest stay oldest first.
    for handle in handles { place(handle, hash: nodes[Int(handle)].hash) }
  }
}

extension EntryIndex: Sendable where Payload: Sendable {}
extension EntryIndex.Node: Sendable where Payload: Sendable {}

/// SipHash-2-4 with 128 bits (Aumasson and Bernstein 2012): the digest that entries are found and files are named by.
///
/// Measured against the keyed digest of the module (HMAC-SHA256 by swift-crypto, release, two cores): 50 ns against 620
/// ns for a URL, which each lookup pays; a hit in memory takes some 7 µs.
///
/// Keyed, so that neither a file name nor the log tells which URLs are stored to someone who has a list of them.
struct SipHash {
  private let k0: UInt64
  private let k1: UInt64

  /// A hash under a key of 16 bytes; a shorter one is filled up with zeros.
  init(key: [UInt8]) {
    func word(_ start: Int) -> UInt64 {
      (0..<8).reduce(0) { $0 | (start + $1 < key.count ? UInt64(key[start + $1]) << (8 * UInt64($1)) : 0) }
    }
    k0 = word(0)
    k1 = word(8)
  }

  /// The digest of a key and its partition.
  func digest(_ key: ArchiveKey) -> (UInt64, UInt64) {
    var state = State(k0: k0, k1: k1)
    state.add(key.partition.bytes)
    // Not a byte of UTF-8: no partition and key can be read as another pair.
    state.add(0xFF)
    state.add(key.bytes)
    return state.finish()
  }

  /// The digest of bytes.
  func digest(_ bytes: [UInt8]) -> (UInt64, UInt64) {
    var state = State(k0: k0, k1: k1)
    state.add(bytes)
    return state.finish()
  }

  private struct State {
    var v0: UInt64
    var v1: UInt64
    var v2: UInt64
    var v3: UInt64
    var word: UInt64 = 0
    var count: UInt64 = 0

    init(k0: UInt64, k1: UInt64) {
      v0 = k0 ^ 0x736f_6d65_7073_6575
      v1 = k1 ^ 0x646f_7261_6e64_6f6d ^ 0xee
      v2 = k0 ^ 0x6c79_6765_6e65_7261
      v3 = k1 ^ 0x7465_6462_7974_6573
    }

    mutating func add(_ byte: UInt8) {
      word |= UInt64(byte) << (8 * (count & 7))
      count &+= 1
      if count & 7 == 0 { compress() }
    }

    mutating func add(_ bytes: [UInt8]) {
      bytes.withUnsafeBytes { bytes in
        var position = 0
        while position < bytes.count, count & 7 != 0 {
          add(bytes[position])
          position += 1
        }
        while bytes.count - position >= 8 {
          word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
          count &+= 8
          position += 8
          compress()
        }
        while position < bytes.count {
          add(bytes[position])
          position += 1
        }
      }
    }

    private mutating func compress() {
      v3 ^= word
      round()
      round()
      v0 ^= word
      word = 0
    }

    mutating func finish() -> (UInt64, UInt64) {
      word |= count << 56
      compress()
      v2 ^= 0xee
      for _ in 0..<4 { round() }
      let low = v0 ^ v1 ^ v2 ^ v3
      v1 ^= 0xdd
      for _ in 0..<4 { round() }
      return (low, v0 ^ v1 ^ v2 ^ v3)
    }

    private mutating func round() {
      v0 = v0 &+ v1
      v1 = (v1 << 13 | v1 >> 51) ^ v0
      v0 = v0 << 32 | v0 >> 32
      v2 = v2 &+ v3
      v3 = (v3 << 16 | v3 >> 48) ^ v2
      v0 = v0 &+ v3
      v3 = (v3 << 21 | v3 >> 43) ^ v0
      v2 = v2 &+ v1
      v1 = (v1 << 17 | v1 >> 47) ^ v2
      v2 = v2 << 32 | v2 >> 32
    }
  }
}
