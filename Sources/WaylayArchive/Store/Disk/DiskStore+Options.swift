import Foundation

extension DiskStore {
  /// The options of a store on disk.
  ///
  /// ```swift
  /// let options = DiskStore.Options(limits: StoreLimits(bytes: 1 << 30), compressesText: true)
  /// ```
  public struct Options: Sendable {
    /// The limits of the store.
    public var limits: StoreLimits
    /// The number of entry bytes to keep in memory as well, for answers without waiting. Pending writes are not
    /// included.
    public var memory: Int
    /// Whether to compress textual bodies (zlib) before they are written.
    public var compressesText: Bool
    /// What to do if another process, or another store in this process, writes to the directory.
    public var whenLocked: Lock
    /// Whether the store only reads: it takes no lock, creates no archive, and changes nothing in the directory,
    /// whoever else uses it. For tools that inspect an app's archive. What another process stores is visible as with
    /// ``Lock/readOnly``.
    public var isReadOnly = false
    /// Gives the key that everything is encrypted with.
    var key: (@Sendable () throws -> EncryptionKey)?
    /// Names the folder of a partition. At most 48 letters, digits, hyphens, underscores and dots; for anything else,
    /// and for `nil`, a keyed digest of the partition is used. A name already used by another partition would mix their
    /// files, though not their responses.
    public var folderName: (@Sendable (ArchivePartition) -> String?)?
    /// The logger for failures and damage.
    public var logger: Logger
    /// The calls to the system, which a test may put its own in the place of.
    package var system: any SystemCalls = PosixCalls()
    /// How many records in vain a journal may have whatever the number of entries, before a shorter one is worth it.
    package var slack = 1024

    /// Makes options.
    public init(
      limits: StoreLimits = StoreLimits(), memory: Int = 8 << 20, compressesText: Bool = false,
      whenLocked: Lock = .fail,
      folderName: (@Sendable (ArchivePartition) -> String?)? = nil,
      logger: Logger? = nil
    ) {
      self.limits = limits
      self.memory = memory
      self.compressesText = compressesText
      self.whenLocked = whenLocked
      self.folderName = folderName
      self.logger = logger ?? Logger(label: "waylay.archive.store")
    }
  }

  /// What to do if the directory is locked by another writer, or not writable.
  public struct Lock: Hashable, Sendable {
    let opensForReading: Bool

    /// Fail with ``ArchiveError/Code/locked``, or ``ArchiveError/Code/directoryUnusable`` if permissions are missing.
    public static let fail = Lock(opensForReading: false)
    /// Open for reading, and follow what the other process stores, changes and removes. A change is visible at the next
    /// lookup after it is in the journal: after ``DiskStore/flush()``, ``DiskStore/removeAll(_:)`` and
    /// ``DiskStore/close()`` of the other process, and otherwise moments later.
    public static let readOnly = Lock(opensForReading: true)
  }
}
