import Foundation

/// The maximum size of a part of an archive: the responses of one host, or with one tag.
///
/// ```swift
/// configuration.quotas = [.tag("images", bytes: 64 << 20), .host("cdn.example.com", bytes: 128 << 20)]
/// ```
///
/// When the part exceeds its limit, the responses stored or freshened longest ago are removed until nine tenths of the
/// limit are left, so that images do not push out articles. Pinned responses stay. This happens in the background,
/// after a response of the part has been stored; the limits of the whole archive apply as well.
public struct Quota: Sendable {
  let part: EntryFilter.Part
  let bytes: Int64

  /// A quota for the responses of one host, excluding its subdomains.
  public static func host(_ host: String, bytes: Int64) -> Quota {
    Quota(part: .host(HostName.comparable(host)), bytes: max(0, bytes))
  }

  /// A quota for the responses with a tag.
  public static func tag(_ tag: String, bytes: Int64) -> Quota {
    Quota(part: .tags([tag]), bytes: max(0, bytes))
  }
}

/// Tracks the sizes of parts of an archive with separate limits, and trims them.
final class Quotas: Sendable {
  private struct State {
    /// The size of each part, once counted; an upper bound.
    var bytes: [Int64?]
    var trimming: Set<Int> = []
    var isClosed = false
  }

  private let quotas: [Quota]
  private let state: Locked<State>

  init(_ quotas: [Quota]) {
    self.quotas = quotas
    state = Locked(State(bytes: quotas.map { _ in nil }))
  }

  func close() { state.withLock { $0.isClosed = true } }

  /// Counts a stored entry, and trims its parts if they exceed their limits.
  func add(_ entry: StoredEntry, _ store: any ArchiveStore, _ reporter: ArchiveReporter) {
    for (index, quota) in quotas.enumerated() where quota.part.matches(entry) {
      let isExceeded = state.withLock { state in
        if let bytes = state.bytes[index] { state.bytes[index] = bytes.saturating(adding: entry.storedBytes) }
        guard state.bytes[index].map({ $0 > quota.bytes }) ?? true, !state.isClosed else { return false }
        return state.trimming.insert(index).inserted
      }
      // Unowned task: it ends when the part is within its limit.
      if isExceeded { Task { await trim(index, store, reporter) } }
    }
  }

  /// Measures a part of the archive, and removes its oldest entries until it is within its quota.
  private func trim(_ index: Int, _ store: any ArchiveStore, _ reporter: ArchiveReporter) async {
    let quota = quotas[index]
    var goesOn = true
    while goesOn {
      // Entries stored while the list is read may be counted twice, but never missed.
      state.withLock { $0.bytes[index] = 0 }
      let sizes = Locked<[(id: EntryID, stored: Date, bytes: Int64, url: String?)]>([])
      let visit: Void? = try? await store.visit(EntryFilter(quota.part)) { entry in
        let isKept = entry.details.isPinned || entry.isNote
        sizes.withLock {
          $0.append((entry.id, entry.details.stored, entry.storedBytes, isKept ? nil : entry.details.url))
        }
        return true
      }
      guard visit != nil else {
        // Unknown: the next entry of the part counts it again.
        return state.withLock { state in
          state.bytes[index] = nil
          state.trimming.remove(index)
        }
      }
      let entries = sizes.withLock { $0 }
      var total = entries.reduce(0) { $0 + $1.bytes }
      if total > quota.bytes {
        for entry in entries.sorted(by: { $0.stored < $1.stored }) where total > quota.bytes / 10 * 9 {
          guard let url = entry.url else { continue }
          store.remove([entry.id])
          total -= entry.bytes
          reporter.report(
            ArchiveEvent(
              .evicted, url: URL(string: url), reason: "a part of the archive exceeded its limit",
              bytes: entry.bytes))
        }
      }
      goesOn = state.withLock { [total] state in
        let added = state.bytes[index] ?? 0
        state.bytes[index] = total.saturating(adding: added)
        // Entries added meanwhile may exceed the limit again.
        if added > 0, total.saturating(adding: added) > quota.bytes, !state.isClosed { return true }
        state.trimming.remove(index)
        return false
      }
    }
  }
}
