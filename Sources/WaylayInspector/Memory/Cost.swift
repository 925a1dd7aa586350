import Foundation

// What exchanges take of the memory, for the inspector's account: what is allocated for them, as measured with glibc on
// 64 bits. `inspector-sizes` compares the account with what the allocator says, and fails where they are far apart.

extension KeptExchange {
  /// What takes as much for each: its place, its lock, this object, the list's entry for it.
  private static let fixed = 592

  /// What it takes, in bytes.
  var cost: Int { Self.fixed + bytes.count + attempts.reduce(0) { $0 + $1.cost } }
}

extension Inspector.Exchange.Attempt {
  var cost: Int {
    MemoryLayout<Self>.stride + (address?.utf8.count ?? 0) + (failure?.message.utf8.count ?? 0) + 64
  }
}

extension RawExchange {
  /// What takes as much for each while it waits to be packed: its place, messages without their fields and bodies.
  private static let fixed = 1_600

  /// What it takes as it begins, without its body.
  var cost: Int { Self.fixed + 2 * request.url.absoluteString.utf8.count + request.fields.cost }
}

extension HTTPFields {
  /// What they take, in bytes.
  var cost: Int { reduce(0) { $0 + 128 + $1.name.rawName.utf8.count + $1.value.utf8.count } }
}
