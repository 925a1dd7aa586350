import Foundation

extension DiskStore {
  /// How a store on disk behaves.
  ///
  /// ```swift
  /// let options = DiskStore.Options(limits: StoreLimits(bytes: 1 << 30), compressesText: true)
  /// ```
  public struct Options: Sendable {
    /// How much it may hold.
    public var limits: StoreLimits
    /// The bytes of entries that are kept in memory as well, to answer without waiting. What is still to be written
    /// comes on top.
    public var memory: Int
    /// Whether textual bodies are compressed (zlib) before they are written.
    public var compressesText: Bool
    /// What to do when another process, or another store of this one, writes to the directory.
    public var whenLocked: Lock
    /// Whether the store only reads: it takes no lock, makes no archive where there is none, and changes nothing in the
    /// directory, whoever else uses it. For tools that look into an app's archive. What another process stores is seen
    /// as with ``Lock/readOnly``.
    public var isReadOnly = false
    /// Gives the key that everything is encrypted with.
    var key: (@Sendable () throws -> EncryptionKey)?
    /// Names the folder of a partition. At most 48 letters, digits, hyphens, underscores and dots; for anything else,
    /// and for `nil`, a keyed digest of the partition is taken. A name that another partition has already would mix
    /// their files, though not their answers.
    public var folderName: (@Sendable (ArchivePartition) -> String?)?
    /// Where failures and damage are logged.
    public var logger: Logger
    /// The calls to the system, which a test may put its own in the place of.
    package var system: any SystemCalls = PosixCalls()
    /// How many records in vain a journal may have whatever the number of entries, before a shorter one is worth it.
    package var slack = 1024

    /// Chooses.
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

  /// What to do about a directory that somebody else writes to, or that may not be written to.
  public struct Lock: Hashable, Sendable {
    let opensForReading: Bool

    /// Fail with ``ArchiveError/Code/locked``, or ``ArchiveError/Code/directoryUnusable`` when permissions are lacking.
    public static let fail = Lock(opensForReading: false)
    /// Open for reading, and see what the other process stores, changes and removes: at the next lookup after it is in
    /// the journal, which it is after ``DiskStore/flush()``, ``DiskStore/removeAll(_:)`` and ``DiskStore/close()`` of
    /// the other process, and moments later anyway.
    public static let readOnly = Lock(opensForReading: true)
  }
}
