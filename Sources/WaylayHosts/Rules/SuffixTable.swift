extension HostName {
  /// Whether it is an address, a single label or below `local` or `localhost`: left alone unless a rule names it.
  var isLeftAlone: Bool {
    isAddress || isSingleLabel || description.hasSuffix(".local") || description.hasSuffix(".localhost")
  }
}

/// Finds the longest pattern for a name, with one pass over the name's bytes, from its end, and no allocation.
///
/// An open hash table from suffixes to nodes. The hash goes from the last byte to the first, so that one pass yields
/// the hash of every suffix.
struct SuffixTable: Sendable {
  /// The patterns that end alike.
  private struct Node: Sendable {
    let suffix: [UInt8]
    /// For the name itself, and for what is below it.
    var exact = Choices()
    var below = Choices()
  }

  /// The rules of one name, by port.
  private struct Choices: Sendable {
    var anyPort: Int?
    var byPort: [Int: Int] = [:]

    func index(_ port: Int) -> Int? { byPort.isEmpty ? anyPort : byPort[port] ?? anyPort }

    mutating func insert(_ index: Int, _ port: Int?) -> Int? {
      guard let port else {
        if let anyPort { return anyPort }
        anyPort = index
        return nil
      }
      if let other = byPort[port] { return other }
      byPort[port] = index
      return nil
    }
  }

  /// What `*` stands for.
  private var everything = Choices()
  private var nodes: [Node] = []
  /// For each bucket zero, or a node's number plus one and, in the upper half, the upper half of its hash, so that
  /// hardly any other node is looked at. A power of two of them, at most half of them taken.
  private var buckets: [UInt64]

  init(minimumCapacity: Int = 0) {
    var size = 16
    while size < 2 * minimumCapacity { size *= 2 }
    buckets = [UInt64](repeating: 0, count: size)
  }

  /// Adds a pattern. Returns the index of the one that is there already, if there is one.
  mutating func insert(_ pattern: HostPattern, index: Int) -> Int? {
    guard let name = pattern.name else { return everything.insert(index, pattern.port) }
    let suffix = Array(name.description.utf8)
    let hash = suffix.reversed().reduce(Self.seed, Self.step)
    let node = suffix.withUnsafeBufferPointer { find(hash, $0, from: 0) } ?? append(suffix, hash)
    return pattern.isWildcard
      ? nodes[node].below.insert(index, pattern.port) : nodes[node].exact.insert(index, pattern.port)
  }

  /// The index of the longest pattern for a name.
  func find(_ host: HostName, port: Int) -> Int? {
    var best = host.isLeftAlone ? nil : everything.index(port)
    guard !nodes.isEmpty else { return best }
    var text = host.description
    text.withUTF8 { bytes in
      var hash = Self.seed
      var position = bytes.count
      while position > 0 {
        position -= 1
        hash = Self.step(hash, bytes[position])
        // A suffix begins at the start of a label; a literal has no labels.
        guard position == 0 || !host.isAddress && bytes[position - 1] == UInt8(ascii: ".") else { continue }
        guard let node = find(hash, bytes, from: position) else { continue }
        best = (position == 0 ? nodes[node].exact : nodes[node].below).index(port) ?? best
      }
    }
    return best
  }

  private func find(_ hash: UInt64, _ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
    var bucket = Self.bucket(hash, buckets.count)
    while buckets[bucket] != 0 {
      let node = Int(buckets[bucket] & 0xFFFF_FFFF) - 1
      if buckets[bucket] >> 32 == hash >> 32, nodes[node].suffix.elementsEqual(bytes[start...]) { return node }
      bucket = (bucket + 1) & (buckets.count - 1)
    }
    return nil
  }

  private mutating func append(_ suffix: [UInt8], _ hash: UInt64) -> Int {
    if 2 * (nodes.count + 1) > buckets.count { grow() }
    nodes.append(Node(suffix: suffix))
    place(nodes.count - 1, hash)
    return nodes.count - 1
  }

  private mutating func place(_ node: Int, _ hash: UInt64) {
    var bucket = Self.bucket(hash, buckets.count)
    while buckets[bucket] != 0 { bucket = (bucket + 1) & (buckets.count - 1) }
    buckets[bucket] = (hash & ~0xFFFF_FFFF) | UInt64(truncatingIfNeeded: node + 1)
  }

  private mutating func grow() {
    buckets = [UInt64](repeating: 0, count: 2 * buckets.count)
    for (index, node) in nodes.enumerated() { place(index, node.suffix.reversed().reduce(Self.seed, Self.step)) }
  }

  // FNV-1a, from the last byte to the first.
  private static let seed: UInt64 = 0xCBF2_9CE4_8422_2325
  private static func step(_ hash: UInt64, _ byte: UInt8) -> UInt64 { (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
  private static func bucket(_ hash: UInt64, _ count: Int) -> Int {
    Int(truncatingIfNeeded: hash ^ hash >> 29 ^ hash >> 47) & (count - 1)
  }
}
