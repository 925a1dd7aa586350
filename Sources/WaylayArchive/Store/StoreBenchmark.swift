import Foundation

/// A store without an archive before it, as the package's benchmarks measure it.
@_spi(Benchmarks) public struct StoreBenchmark: Sendable {
  /// What is stored, and what is looked for.
  @_spi(Benchmarks) public struct Item: Sendable {
    /// Both made beforehand, so that a lookup is measured alone.
    fileprivate let key: ArchiveKey
    fileprivate let draft: EntryDraft

    /// Makes an item of a name.
    public init(_ name: String) {
      let url = "https://example.com/\(name)"
      key = ArchiveKey("GET " + url)
      draft = EntryDraft(
        key: key, head: [UInt8](repeating: 9, count: 600),
        details: EntryDetails(url: url, host: "example.com", stored: Date(timeIntervalSince1970: 1_800_000_000)))
    }
  }

  private let store: any ArchiveStore

  /// Makes a store in memory.
  public init(limits: StoreLimits) { store = MemoryStore(limits: limits) }

  /// Opens a store in a directory.
  public init(at directory: URL, limits: StoreLimits, memory: Int, readsWhenLocked: Bool = false) throws {
    let lock: DiskStore.Lock = readsWhenLocked ? .readOnly : .fail
    store = try DiskStore(at: directory, options: .init(limits: limits, memory: memory, whenLocked: lock))
  }

  /// Whether an item is stored; `nil` if the response needs the disk.
  public func contains(_ item: Item) -> Bool? { store.cached(item.key).map { !$0.isEmpty } }

  /// The length of an item's body; `nil` if it is not stored.
  public func length(of item: Item) async throws -> Int64? {
    try await store.entries(for: item.key).first?.bodyLength
  }

  /// Stores an item with its body.
  public func put(_ item: Item, _ body: Data) throws { try store.put(item.draft, body: body) }

  /// Stores an item whose body comes in pieces, and removes it again.
  public func write(
    _ item: Item, _ body: (@escaping @Sendable (Data) async throws -> Void) async throws -> Void
  ) async throws {
    let writer = try store.makeWriter(for: item.key)
    try await body { try await writer.append($0) }
    store.remove([try await writer.commit(item.draft).id])
  }

  /// Waits until everything is on the disk.
  public func flush() async throws { try await store.flush() }

  /// Closes the store.
  public func close() async { await store.close() }
}
