import Foundation
import WaylayArchive
import WaylayCore

/// A stored answer as the tool prints it. The URL is as the archive has it: an app that keeps no query values has none
/// here.
struct EntryRow: Encodable {
  struct Pair: Encodable {
    let name: String
    let value: String
  }

  let id: UInt64
  let url: String
  let host: String
  let status: Int
  let mediaType: String
  let bytes: Int64
  let storedBytes: Int64
  let stored: Date
  let hits: Int
  let tags: [String]
  let isPinned: Bool
  let partition: String
  /// `nil` where the head is not understood.
  let isFresh: Bool?
  let isWhole: Bool?
  /// With all that is known of it.
  let fields: [Pair]?
  let facts: [Pair]?

  init(_ entry: StoredEntry, _ now: Date, isWhole: Bool = false) {
    let response = ArchivedResponse(entry)
    (id, url, host, status) = (entry.id.number, entry.details.url, entry.details.host, entry.details.status)
    (mediaType, bytes, storedBytes) = (entry.details.mediaType, entry.bodyLength, entry.storedBytes)
    (stored, hits, tags) = (entry.details.stored, entry.hits, entry.details.tags.sorted())
    (isPinned, partition) = (entry.details.isPinned, entry.key.partition.description)
    isFresh = response?.isFresh(at: now)
    self.isWhole = response?.isWhole
    fields = isWhole ? response?.fields.map { Pair(name: $0.name.rawName, value: $0.value) } : nil
    facts = isWhole ? response?.facts(at: now).map { Pair(name: $0.name, value: $0.value) } : nil
  }

  private var state: String { isFresh.map { $0 ? "fresh" : "stale" } ?? "not understood" }

  /// On one line.
  var text: String {
    let marks = (isWhole == false ? " partial" : "") + (isPinned ? " pinned" : "") + tags.map { " #\($0)" }.joined()
    let place = partition.isEmpty ? "" : " [\(partition)]"
    return "\(id)  \(status)  \(bytes) bytes  \(state)\(marks)  \(stored.formatted(.iso8601))  \(url)\(place)"
  }

  /// On many.
  var details: String {
    let known = Table.lines((facts ?? []).map { ["  " + $0.name, $0.value] })
    return ([text] + known + (fields ?? []).map { "  \($0.name): \($0.value)" }).joined(separator: "\n")
  }
}
