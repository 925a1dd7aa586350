// See Codec/Cipher.swift for what there is without this trait.
#if Cryptography
  public import Crypto
  import Foundation

  extension DiskStore.Options {
    /// Gives the key that heads and bodies are encrypted with (AES-GCM); asked once, when the store is opened. Without
    /// it, nothing is. At least 16 bytes; 32 are usual.
    ///
    /// Needs the package's trait `Cryptography`, which is on unless the dependency says otherwise.
    public var encryptionKey: (@Sendable () throws -> SymmetricKey)? {
      get { key }
      set { key = newValue }
    }

    /// Chooses, with encryption.
    public init(
      limits: StoreLimits = StoreLimits(), memory: Int = 8 << 20, compressesText: Bool = false,
      whenLocked: DiskStore.Lock = .fail, encryptionKey: (@Sendable () throws -> SymmetricKey)?,
      folderName: (@Sendable (ArchivePartition) -> String?)? = nil, logger: Logger? = nil
    ) {
      self.init(
        limits: limits, memory: memory, compressesText: compressesText, whenLocked: whenLocked, folderName: folderName,
        logger: logger)
      key = encryptionKey
    }
  }

  extension DiskStore {
    /// Makes a new archive of an encrypted file, digests and all.
    ///
    /// - Parameters:
    ///   - file: What ``ArchiveStore/export(_:to:encryptionKey:)`` wrote.
    ///   - directory: A directory that has no archive yet.
    ///   - options: How the new store behaves; its encryption has nothing to do with that of the file.
    ///   - encryptionKey: What the file was encrypted with; `nil` for one that is not.
    /// - Throws: As the store's initializer, and as ``ArchiveStore/importEntries(from:encryptionKey:)``.
    public static func restore(
      from file: URL, to directory: URL, options: Options = Options(), encryptionKey: SymmetricKey?
    ) async throws -> DiskStore {
      try await restored(from: file, to: directory, options, key: encryptionKey)
    }
  }

  extension ArchiveStore {
    /// Writes entries to one file as ``export(_:to:)`` does, encrypted (AES-GCM), whether the store itself is or not.
    ///
    /// - Parameters:
    ///   - filter: The entries that are wanted.
    ///   - file: A file that does not exist yet.
    ///   - encryptionKey: What to encrypt the file with, 16 bytes at least; `nil` for nothing.
    /// - Returns: How many entries were written.
    /// - Throws: ``ArchiveError/Code/notWritten`` when the file exists or cannot be written;
    ///   ``ArchiveError/Code/invalidKey``.
    @discardableResult
    public func export(_ filter: EntryFilter = .all, to file: URL, encryptionKey: SymmetricKey?) async throws -> Int {
      try await exported(filter, to: file, key: encryptionKey)
    }

    /// Adds the entries of an encrypted file, as ``importEntries(from:)`` does.
    ///
    /// - Parameters:
    ///   - file: What ``export(_:to:encryptionKey:)`` wrote.
    ///   - encryptionKey: What the file was encrypted with; `nil` for one that is not.
    /// - Returns: How many entries were added; one that is too large for the limits is left out.
    /// - Throws: As ``importEntries(from:)``.
    @discardableResult
    public func importEntries(from file: URL, encryptionKey: SymmetricKey?) async throws -> Int {
      try await imported(from: file, key: encryptionKey)
    }
  }
#endif
