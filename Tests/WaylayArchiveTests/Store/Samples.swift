import Foundation
import WaylayArchive

extension EntryDraft {
  /// A draft whose parts all come from one word.
  static func sample(
    _ key: String, partition: ArchivePartition = .shared, head: String? = nil, tags: Set<String> = [], isPinned: Bool = false,
    mediaType: String = "application/octet-stream", stored: TimeInterval = 1_800_000_000, replacing: [EntryID] = []
  ) -> EntryDraft {
    EntryDraft(
      key: ArchiveKey(key, partition: partition), head: Array((head ?? "head of \(key)").utf8),
      details: EntryDetails(
        url: "https://example.com/\(key)", host: "example.com", mediaType: mediaType, stored: Date(timeIntervalSince1970: stored),
        tags: tags, isPinned: isPinned),
      replacing: replacing)
  }
}
