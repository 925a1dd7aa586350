import Foundation

extension DiskStore {
  /// An entry in the form of its rows.
  struct EntryRecord: Sendable {
    /// The approximate size of an entry besides its head and body.
    private static let bookkeeping: Int64 = 256

    let id: EntryID
    // The digests by which filters search.
    let resource: UInt64
    let host: UInt64
    let partition: UInt64?
    let tags: [UInt64]
    let head: [UInt8]
    let body: Data?
    let file: UInt64?
    let cost: Int64
    let length: Int64
    let isPinned: Bool

    var totals: Totals { Totals(cost: cost, isPinned: isPinned) }

    /// - Parameters:
    ///   - file: The file of the body; `nil` if it is in the row.
    ///   - body: The sealed body in the row.
    init(_ number: UInt64, _ block: HeadBlock, file: UInt64?, body: Data?, _ store: DiskStore) throws {
      id = EntryID(number: number, hash: store.digest(of: block.key))
      (resource, host) = (store.mark(block.key.path), store.mark(block.details.host.utf8))
      // The shared partition needs no index.
      partition = block.key.partition == .shared ? nil : store.mark(block.key.partition.bytes)
      tags = block.details.tags.map { store.mark($0.utf8) }
      head = try store.sealed(block, id)
      (self.file, self.body) = (file, body)
      cost = Self.bookkeeping + Int64(head.count) + block.storedBodyLength
      (length, isPinned) = (block.bodyLength, block.details.isPinned)
    }

    /// - Parameters:
    ///   - file: The file of the body, if there is one.
    ///   - body: The body, if it is in no file.
    init(_ number: UInt64, _ draft: EntryDraft, _ file: BodyWriter.File?, _ body: Data, _ store: DiskStore) throws {
      var (chunks, sealed) = (file?.chunks ?? [], file == nil ? Data() : nil)
      if file == nil, !body.isEmpty {
        let (bytes, chunk) = try store.bodies.sealing.sealed(
          chunk: body, compressing: store.compresses(body), Sealing.Context(file: number, index: 0),
          digest: store.digest(of: draft.key).bytes)
        (chunks, sealed) = ([chunk], bytes)
      }
      let block = HeadBlock(key: draft.key, details: draft.details, head: draft.head, chunks: chunks)
      try self.init(number, block, file: file?.number, body: sealed, store)
    }
  }

  // MARK: Heads

  /// The sealed head with its checksum.
  fileprivate func sealed(_ block: HeadBlock, _ id: EntryID) throws -> [UInt8] {
    var sink = ByteSink()
    sink.bytes = try bodies.sealing.sealed(block.encoded(), .head(id.number), digest: id.hash.bytes)
    sink.put(Checksum.of(sink.bytes, seed: seed(id)))
    return sink.bytes
  }

  /// Opens the head of a row; `nil` if it is damaged.
  func opened(_ bytes: [UInt8], _ id: EntryID) -> HeadBlock? {
    guard bytes.count > 8 else { return nil }
    var check = ByteSource(bytes.suffix(8))
    guard check.number(UInt64.self) == Checksum.of(Array(bytes.dropLast(8)), seed: seed(id)),
      let plain = bodies.sealing.opened(bytes.dropLast(8), .head(id.number), digest: id.hash.bytes),
      let block = HeadBlock(decoding: plain), block.chunks.allSatisfy(bodies.sealing.canBe)
    else { return nil }
    return block
  }

  private func seed(_ id: EntryID) -> UInt64 { Checksum.seed(Sealing.Context.head(id.number).seed, identity.seed) }

  /// Whether to compress a body: its first bytes must be text in UTF-8 or an extension of ASCII, without control
  /// characters except white space and escape. The media type cannot decide: it arrives with the draft, after the
  /// pieces of the body.
  func compresses(_ data: Data) -> Bool {
    options.compressesText && data.prefix(1024).allSatisfy { $0 >= 0x20 || (0x09...0x0D).contains($0) || $0 == 0x1B }
  }

  // MARK: Searching

  /// An SQL condition for the entries after a number. It may select entries that the filter does not match, but misses
  /// none.
  func selection(_ filter: EntryFilter, after start: Int64, most: Int = 256) -> (sql: String, values: [DatabaseValue]) {
    var (tables, order, sql, values) = ("entry", "id", "id>?", [DatabaseValue.number(start)])
    func add(_ condition: String, _ digests: [UInt64]) {
      sql += " AND " + condition
      values += digests.map { .bits($0) }
    }
    for part in filter.parts {
      switch part {
      case .key(let key): add("entry.digest=?", [digest(of: key)])
      case .partition(let partition):
        if partition == .shared { add("partition IS NULL", []) } else { add("partition=?", [mark(partition.bytes)]) }
      case .host(let host): add("host=?", [mark(host.utf8)])
      case .resource(let resource): add("resource=?", [mark(ArchiveKey(bytes: resource.text).path)])
      case .tags(let tags) where tags.count == 1 && order == "id":
        // In the order of the index of tags; `IN` would read all entries of the tag for each page.
        (tables, order) = ("tag CROSS JOIN entry ON id=tag.entry", "tag.entry")
        add("tag.entry>? AND tag.digest=?", [UInt64(bitPattern: start)] + tags.map { mark($0.utf8) })
      case .tags(let tags):
        let places = tags.map { _ in "?" }.joined(separator: ",")
        add("id IN (SELECT entry FROM tag WHERE digest IN (\(places)))", tags.map { mark($0.utf8) })
      case .url, .matching: break
      }
    }
    return ("FROM \(tables) LEFT JOIN content USING(id) WHERE \(sql) ORDER BY \(order) LIMIT \(most)", values)
  }
}
