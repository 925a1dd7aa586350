import Foundation

/// What is stored of an entry beside its body's bytes: who it is, what can be listed of it, its owner's head, and where
/// its chunks are.
struct HeadBlock: Hashable, Sendable {
  private static let version: UInt8 = 1

  var key: ArchiveKey
  var details: EntryDetails
  var head: [UInt8]
  var hits: UInt32 = 0
  var chunks: [BodyChunk]

  var bodyLength: Int64 { chunks.reduce(0) { $0 + Int64($1.plain) } }
  var storedBodyLength: Int64 { chunks.reduce(0) { $0 + Int64($1.stored) } }

  func encoded() -> [UInt8] {
    var sink = ByteSink()
    sink.bytes.reserveCapacity(head.count + key.bytes.count * 2 + 160 + chunks.count * 16)
    sink.put(Self.version)
    sink.put(key.bytes)
    sink.put(key.partition.bytes)
    sink.put(details.url)
    sink.put(details.host)
    sink.put(Int32(truncatingIfNeeded: details.status))
    sink.put(details.mediaType)
    sink.put(details.stored.timeIntervalSince1970.bitPattern)
    sink.put(UInt8(details.isPinned ? 1 : 0))
    sink.put(UInt32(truncatingIfNeeded: details.tags.count))
    for tag in details.tags.sorted() { sink.put(tag) }
    sink.put(head)
    sink.put(UInt32(truncatingIfNeeded: chunks.count))
    for chunk in chunks {
      sink.put(chunk.stored | (chunk.isCompressed ? 1 << 31 : 0))
      sink.put(chunk.plain)
      sink.put(chunk.check)
    }
    return sink.bytes
  }

  init(key: ArchiveKey, details: EntryDetails, head: [UInt8], chunks: [BodyChunk]) {
    self.key = key
    self.details = details
    self.head = head
    self.chunks = chunks
  }

  /// Reads what ``encoded()`` wrote; `nil` for anything else.
  init?(decoding bytes: ArraySlice<UInt8>) {
    var source = ByteSource(bytes)
    guard source.number(UInt8.self) == Self.version,
      let key = source.counted(), let partition = source.counted(), let url = source.text(), let host = source.text(),
      let status = source.number(Int32.self), let mediaType = source.text(), let stored = source.number(UInt64.self),
      let isPinned = source.number(UInt8.self), let tagCount = source.number(UInt32.self)
    else { return nil }
    var tags: Set<String> = []
    for _ in 0..<tagCount {
      guard let tag = source.text() else { return nil }
      tags.insert(tag)
    }
    // Sixteen bytes a chunk: a count that cannot be true takes no memory.
    guard let head = source.counted(), let count = source.number(UInt32.self), source.remaining == Int(count) * 16
    else { return nil }
    var chunks: [BodyChunk] = []
    chunks.reserveCapacity(Int(count))
    for _ in 0..<count {
      guard let stored = source.number(UInt32.self), let plain = source.number(UInt32.self),
        let check = source.number(UInt64.self),
        plain > 0, plain <= UInt32(BodyChunk.size)
      else { return nil }
      chunks.append(BodyChunk(stored: stored & ~(1 << 31), plain: plain, check: check, isCompressed: stored >> 31 == 1))
    }
    self.init(
      key: ArchiveKey(bytes: key, partition: ArchivePartition(bytes: partition)),
      details: EntryDetails(
        url: url, host: host, status: Int(status), mediaType: mediaType,
        stored: Date(timeIntervalSince1970: Double(bitPattern: stored)), tags: tags, isPinned: isPinned != 0),
      head: head, chunks: chunks)
  }
}
