import Foundation
import WaylayCore

@testable import WaylayArchive

/// What a session has stored, and what therefore may, and what must, be found later.
final class Ledger: Sendable {
  /// What is known of a key.
  struct Account: Sendable {
    /// What was there when a flush had succeeded: the heads, oldest first.
    var flushed: [String]?
    /// Whether it was stored, freshened or gone on with since.
    var isTouched = false
    /// Whether it may be gone since: removed, or perhaps evicted.
    var mayBeGone = false
    /// The beginnings of the bodies that were removed, and of those that a flush has had removed since.
    var removed: Set<Data> = []
    var gone: Set<Data> = []
  }

  private let accounts = Locked<[String: Account]>([:])
  private let looking = Locked(false)
  private let heard = Locked<[String]>([])

  /// Whether the ledger itself looks into the store, which no fault may hit.
  var isLooking: Bool { looking.withLock { $0 } }

  /// What was wrong while the session ran.
  var complaints: [String] { heard.withLock { $0 } }

  func complain(_ faults: [String]) { heard.withLock { $0 += faults } }

  var now: [String: Account] { accounts.withLock { $0 } }

  func touch(_ key: String) { accounts.withLock { $0[key, default: Account()].isTouched = true } }

  /// Notes that a key is about to be removed, with what is found under it.
  func remove(_ key: String, _ entries: [StoredEntry] = []) {
    let marks = entries.compactMap { entry -> Data? in
      let parts = String(decoding: entry.head, as: UTF8.self).split(separator: " ")
      guard parts.count == 4, let version = Int(parts[1]), entry.bodyLength >= 24 else { return nil }
      return Self.body(key, version, 24)
    }
    accounts.withLock { accounts in
      accounts[key, default: Account()].mayBeGone = true
      accounts[key]?.removed.formUnion(marks)
    }
  }

  func mayEvict() { accounts.withLock { accounts in accounts.keys.forEach { accounts[$0]?.mayBeGone = true } } }

  /// Notes what a store has, once it has flushed.
  func flushed(_ store: DiskStore) async {
    looking.withLock { $0 = true }
    defer { looking.withLock { $0 = false } }
    for key in now.keys.sorted() {
      let found = try? await Self.heads(store, key)
      accounts.withLock { accounts in
        let removed = accounts[key]?.removed ?? []
        accounts[key] = Account(flushed: found, removed: removed, gone: removed)
      }
    }
  }

  static func heads(_ store: DiskStore, _ key: String) async throws -> [String] {
    try await store.entries(for: ArchiveKey(key)).map { String(decoding: $0.head, as: UTF8.self) }
  }

  // MARK: Contents

  /// The draft of a version of a key with so many bytes; its head says all that, and how often it was freshened.
  static func draft(
    _ key: String, _ version: Int, _ length: Int, round: Int = 0, replacing: [EntryID] = []
  ) -> EntryDraft {
    .sample(key, head: "\(key) \(version) \(length) \(round)", replacing: replacing)
  }

  private static let bodies = Locked<[String: Data]>([:])

  /// Noise, made once: the shorter body of a version is the beginning of the longer one.
  static func body(_ key: String, _ version: Int, _ length: Int) -> Data {
    let name = "\(key) \(version)"
    if let known = bodies.withLock({ $0[name] }), known.count >= length { return known.prefix(length) }
    let seed = UInt64(version) &* 1_000_003 &+ key.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) }
    let body = Data.noise(length, seed: seed)
    bodies.withLock { $0[name] = body }
    return body
  }

  /// What is wrong with an archive that should have what the accounts say; nothing, if all is well.
  static func faults(of store: any ArchiveStore, _ accounts: [String: Account], isLenient: Bool) async -> [String] {
    var faults: [String] = []
    for (key, account) in accounts.sorted(by: { $0.key < $1.key }) {
      var heads: [String] = []
      do {
        for entry in try await store.entries(for: ArchiveKey(key)) {
          let head = String(decoding: entry.head, as: UTF8.self)
          let parts = head.split(separator: " ")
          guard parts.count == 4, parts[0] == key, let version = Int(parts[1]), let length = Int(parts[2]) else {
            faults.append("\(key): a head that nobody stored, \(head)")
            continue
          }
          do {
            let body = try await entry.body().collect(upTo: 1 << 22)
            if body != Self.body(key, version, length) { faults.append("\(key): a wrong body under \(head)") }
            heads.append(head)
          } catch let error as ArchiveError where error.code == .unreadable {
            // Damage is found when it is read; then it is a miss.
          }
        }
      } catch {
        faults.append("\(key): \(error)")
      }
      guard let flushed = account.flushed, !account.mayBeGone else { continue }
      if account.isTouched {
        if heads.isEmpty, !flushed.isEmpty, !isLenient { faults.append("\(key): lost, though \(flushed) was flushed") }
      } else if heads != flushed {
        faults.append("\(key): \(heads) instead of \(flushed), which was flushed")
      }
    }
    return faults
  }
}
