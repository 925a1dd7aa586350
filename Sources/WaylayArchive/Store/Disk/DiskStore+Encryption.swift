// See Codec/Cipher.swift for what there is without this trait.
#if Cryptography
  public import Crypto
  import Foundation

  extension DiskStore.Options {
    /// Returns the key for encrypting heads and bodies (AES-GCM); called once, when the store is opened. Without a key,
    /// nothing is encrypted. At least 16 bytes; 32 are usual.
    ///
    /// Requires the package trait `Cryptography`, which is enabled by default.
    public var encryptionKey: (@Sendable () throws -> SymmetricKey)? {
      get { key }
      set { key = newValue }
    }

    /// Makes options, including encryption.
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
    /// Makes a new archive from an encrypted file, including its digests.
    ///
    /// - Parameters:
    ///   - file: A file written by ``ArchiveStore/export(_:to:encryptionKey:)``.
    ///   - directory: A directory without an archive.
    ///   - options: The options of the new store; its encryption is independent of the file's.
    ///   - encryptionKey: The file's encryption key; `nil` for an unencrypted file.
    /// - Throws: As the store's initializer, and as ``ArchiveStore/importEntries(from:encryptionKey:)``.
    public static func restore(
      from file: URL, to directory: URL, options: Options = Options(), encryptionKey: SymmetricKey?
    ) async throws -> DiskStore {
      try await restored(from: file, to: directory, options, key: encryptionKey)
    }
  }

  extension ArchiveStore {
    /// Writes entries to one file like ``export(_:to:)``, encrypted (AES-GCM) independently of the store's own
    /// encryption.
    ///
    /// - Parameters:
    ///   - filter: The entries to write.
    ///   - file: A file that does not exist yet.
    ///   - encryptionKey: The key to encrypt the file with, at least 16 bytes; `nil` for no encryption.
    /// - Returns: The number of entries written.
    /// - Throws: ``ArchiveError/Code/notWritten`` if the file exists or cannot be written;
    ///   ``ArchiveError/Code/invalidKey``.
    @discardableResult
    public func export(_ filter: EntryFilter = .all, to file: URL, encryptionKey: SymmetricKey?) async throws -> Int {
      try await exported(filter, to: file, key: encryptionKey)
    }

    /// Adds the entries of an encrypted file like ``importEntries(from:)``.
    ///
    /// - Parameters:
    ///   - file: A file written by ``export(_:to:encryptionKey:)``.
    ///   - encryptionKey: The file's encryption key; `nil` for an unencrypted file.
    /// - Returns: The number of entries added; entries that exceed the limits are skipped.
    /// - Throws: As ``importEntries(from:)``.
    @discardableResult
    public func importEntries(from file: URL, encryptionKey: SymmetricKey?) async throws -> Int {
      try await imported(from: file, key: encryptionKey)
    }
  }
#endif
