import Foundation

extension DiskStore {
  /// The changes of one transaction, and their consequences for memory and files after its commit.
  ///
  /// Used on the queue only. Until the commit, only the index is changed.
  final class Change {
    /// The totals of an index, and its last change by any process.
    struct Seen: Sendable {
      var totals: Totals
      var clock: Int64
      var writer: Int64

      init(_ database: Database) throws {
        var seen: (Totals, Int64, Int64)?
        try database.run("SELECT count, bytes, pinned, pinnedBytes, clock, writer FROM total WHERE id=1") {
          seen = (Totals($0), $0.number(4), $0.number(5))
        }
        guard let seen else { throw DatabaseError(code: SQLITE_CORRUPT, message: "the sums are missing") }
        (totals, clock, writer) = seen
      }
    }

    /// The columns of a row without its head and body.
    struct Row {
      let id: EntryID
      let length: Int64
      let file: UInt64?
      let totals: Totals
    }

    let database: Database
    private let store: DiskStore
    private let now = Int64(Date().timeIntervalSince1970 * 1000)
    /// The change of the totals.
    private(set) var totals = Totals()
    /// The deleted entries.
    private(set) var gone: [EntryID] = []
    /// The entries that are new or whose body has grown.
    private(set) var entered: [StoredEntry] = []
    /// The entries whose copy in memory is out of date.
    private(set) var outdated: [EntryID] = []
    /// The files of deleted entries: those to remove at once, and those to remove after the next sync.
    private(set) var files: [UInt64] = []
    private(set) var replaced: [UInt64] = []
    private(set) var events: [StoreEvent] = []
    /// Whether bytes of removed entries remain until a flush.
    var isRemoval = false

    init(_ database: Database, _ store: DiskStore) { (self.database, self.store) = (database, store) }

    func row(_ number: UInt64) throws -> Row? {
      var row: Row?
      try database.run("SELECT digest, cost, length, pinned, file FROM entry WHERE id=?", [.bits(number)]) {
        row = Row(
          id: EntryID(number: number, hash: $0.bits(0)), length: $0.number(2), file: $0.isNull(4) ? nil : $0.bits(4),
          totals: Totals(cost: $0.number(1), isPinned: $0.number(3) != 0))
      }
      return row
    }

    /// Records a removal by a filter: entries decided earlier are then rejected.
    func note(_ filter: EntryFilter) throws {
      let sql = "INSERT OR REPLACE INTO total(id, clock) SELECT ?, max(clock+1, ?) FROM total WHERE id=1"
      try database.run(sql, [.number(store.slot(of: filter)), .number(now)])
    }

    /// Adds an entry, or replaces its former state.
    ///
    /// - Parameters:
    ///   - length: The length of its body in the index; `nil` for a new entry.
    ///   - moment: ``ArchiveStore/moment`` when the entry was decided.
    /// - Returns: Whether the entry was written: the index had it with this length, and no removal came since.
    func enter(_ record: EntryRecord, _ entry: StoredEntry, from length: Int64?, since moment: Int64) throws -> Bool {
      let removed = try database.number(
        "SELECT max(clock) FROM total WHERE id IN (?, ?, ?, ?)", store.slots(of: entry).map { .number($0) })
      let former = try length == nil ? nil : row(record.id.number)
      guard removed ?? 0 <= moment, former?.length == length else { return false }
      try write(record, inPlaceOf: former)
      entered.append(entry)
      return true
    }

    /// Inserts the rows of an entry, or updates those of its former state.
    private func write(_ record: EntryRecord, inPlaceOf former: Row?) throws {
      let id = DatabaseValue.bits(record.id.number)
      try database.run(
        """
        INSERT INTO entry VALUES(?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?) ON CONFLICT(id) DO UPDATE SET host=excluded.host, \
        cost=excluded.cost, length=excluded.length, used=excluded.used, pinned=excluded.pinned, file=excluded.file
        """,
        [
          id, .bits(record.id.hash), .bits(record.resource), .bits(record.host), .bits(record.partition),
          .number(record.cost), .number(record.length), .number(now), record.isPinned ? 1 : 0, .bits(record.file),
        ])
      let body = record.body.map { DatabaseValue.bytes($0) } ?? .null
      try database.run("INSERT OR REPLACE INTO content VALUES(?, ?, ?)", [id, .bytes(record.head), body])
      if former != nil { try database.run("DELETE FROM tag WHERE entry=?", [id]) }
      for tag in record.tags { try database.run("INSERT OR IGNORE INTO tag VALUES(?, ?)", [id, .bits(tag)]) }
      totals += record.totals
      if let former { totals -= former.totals }
    }

    /// Replaces a head; a no-op if the entry is gone or its body has another length.
    func update(_ id: EntryID, _ head: [UInt8], _ details: EntryDetails, bodyLength: Int64) throws {
      guard let former = try row(id.number) else { return gone.append(id) }
      var content: (block: HeadBlock?, body: Data?)
      try database.run("SELECT head, body FROM content WHERE id=?", [.bits(id.number)]) {
        content = (store.opened($0.bytes(0), id), $0.isNull(1) ? nil : $0.data(1))
      }
      guard former.length == bodyLength, var block = content.block else { return outdated.append(id) }
      (block.head, block.details) = (head, details)
      let record = try EntryRecord(id.number, block, file: former.file, body: content.body, store)
      try write(record, inPlaceOf: former)
    }

    /// Deletes an entry, if it exists.
    ///
    /// - Parameter isReplaced: Whether its file must stay until the replacing entry is synced.
    @discardableResult
    func delete(_ number: UInt64, isReplaced: Bool = false) throws -> Row? {
      guard let row = try row(number) else { return nil }
      for sql in ["DELETE FROM entry WHERE id=?", "DELETE FROM content WHERE id=?", "DELETE FROM tag WHERE entry=?"] {
        try database.run(sql, [.bits(number)])
      }
      totals -= row.totals
      gone.append(row.id)
      if let file = row.file { if isReplaced { replaced.append(file) } else { files.append(file) } }
      return row
    }

    /// Adds hits to their entries.
    func count(_ hits: [(key: UInt64, value: Int)]) throws {
      for (number, count) in hits {
        try database.run(
          "UPDATE entry SET used=?, hits=hits+? WHERE id=?", [.number(now), .number(Int64(count)), .bits(number)])
      }
    }

    /// Deletes the least recently used entries while a closure returns `true`: at most `most` entries and `bytes`
    /// bytes, so that the log stays short.
    func evict(
      _ most: Int, bytes: Int64, besides kept: Set<UInt64>, onlyFiles: Bool = false, while isNeeded: () -> Bool
    ) throws {
      var (numbers, rest): ([UInt64], Int64) = ([], bytes)
      try database.run(
        "SELECT id FROM entry INDEXED BY entry_use WHERE pinned=0\(onlyFiles ? " AND file IS NOT NULL" : "") "
          + "ORDER BY used, id LIMIT ?",
        [.number(Int64(most + kept.count))]
      ) { numbers.append($0.bits(0)) }
      for number in numbers where !kept.contains(number) && rest > 0 && events.count < most && isNeeded() {
        var head: [UInt8] = []
        try database.run("SELECT head FROM content WHERE id=?", [.bits(number)]) { head = $0.bytes(0) }
        guard let row = try delete(number) else { continue }
        events.append(
          StoreEvent(
            kind: .evicted, id: row.id, url: store.opened(head, row.id)?.details.url, bytes: row.totals.usage.bytes,
            reason: "made room for other entries"))
        if row.file == nil { rest -= row.totals.usage.bytes }
      }
    }

    /// Writes the new totals.
    func finish() throws -> Seen {
      try database.run(
        """
        UPDATE total SET count=count+?, bytes=bytes+?, pinned=pinned+?, pinnedBytes=pinnedBytes+?, \
        clock=max(clock+1, ?), writer=?, removed=max(removed, ?) WHERE id=1
        """,
        [
          .number(Int64(totals.usage.count)), .number(totals.usage.bytes), .number(Int64(totals.pinned.count)),
          .number(totals.pinned.bytes), .number(now), .number(store.writer), isRemoval ? 1 : 0,
        ])
      return try Seen(database)
    }
  }
}
