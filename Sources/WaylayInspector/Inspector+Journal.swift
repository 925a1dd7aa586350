public import Foundation

extension Inspector {
  /// A file that exchanges are written to when they end, so that they survive the process, even if it is killed.
  ///
  /// ```swift
  /// let journal = try Inspector.Journal(directory.appendingPathComponent("traffic.journal"))
  /// let inspector = Inspector(journal: journal)
  ///
  /// // After the next start:
  /// let earlier = try Inspector.Journal.read(directory.appendingPathComponent("traffic.journal")).exchanges
  /// ```
  ///
  /// Each exchange is one line: a checksum (the CRC-32 of the rest, as eight hexadecimal digits), a space, and its
  /// entry as JSON, without secrets. The checksum reveals a line that was incomplete when the process ended; such a
  /// line is skipped. An exchange is written some milliseconds after it has ended; open exchanges are not written.
  ///
  /// When the file reaches half of the maximum size, it is renamed with the suffix `.old`, replacing any earlier such
  /// file, and a new file begins. Only the owner can access both files: opening the journal removes all other
  /// permissions.
  public final class Journal: Sendable {
    /// The file.
    public let file: URL
    /// The maximum number of bytes, including the previous file.
    public let limit: Int

    /// The serial queue for file I/O, so that no caller waits for the disk while it holds a lock.
    private let writing = DispatchQueue(label: "waylay.journal", qos: .utility)
    /// Changed only on ``writing``.
    private let state: Locked<State>

    private struct State {
      var handle: FileHandle?
      var size: Int
      var failure: (any Error)?

      /// Appends lines; starts a new file when this one is full.
      mutating func write(_ lines: [Data], to file: URL, limit: Int) throws {
        // An exchange larger than the limit is skipped.
        for line in lines where line.count <= limit {
          if size + line.count > limit || handle == nil {
            handle = nil
            if size > 0, rename(file.path, Journal.old(file).path) != 0, errno != ENOENT {
              throw SystemError("rename", file.path).posixError
            }
            size = 0
            (handle, size) = try Journal.open(file)
          }
          try handle?.write(contentsOf: line)
          size += line.count
        }
      }
    }

    /// Opens or creates a journal.
    ///
    /// - Parameters:
    ///   - file: The file. Its directory must exist.
    ///   - limit: The maximum number of bytes, including the previous file: 64 MiB by default.
    /// - Throws: `HARError` with the code `unwritable` if it cannot be opened for writing, or is not a file of this user.
    public init(_ file: URL, limit: Int = 64 << 20) throws(HARError) {
      self.file = file
      self.limit = max(0, limit)
      do {
        do { _ = try Self.openPrivate(Self.old(file), O_RDONLY) } catch let error as POSIXError
          where error.code == .ENOENT
        {}
        let (handle, size) = try Self.open(file)
        state = Locked(State(handle: handle, size: size))
      } catch {
        throw HARError(
          .unwritable, "\(file.lastPathComponent) cannot be opened for writing.", file: file, underlying: error)
      }
    }

    /// Why the last write failed; `nil` if it succeeded.
    public var failure: (any Error)? { state.withLock { $0.failure } }

    /// The location of the previous file.
    static func old(_ file: URL) -> URL {
      file.deletingLastPathComponent().appendingPathComponent(file.lastPathComponent + ".old")
    }

    private static func open(_ file: URL) throws -> (FileHandle, Int) {
      let handle = try openPrivate(file, O_RDWR | O_CREAT)
      let size = Int(try handle.seekToEnd())
      guard size > 0 else { return (handle, 0) }
      try handle.seek(toOffset: UInt64(size - 1))
      let last = try handle.read(upToCount: 1)
      // Terminates a truncated line.
      if last != Data([0x0A]) { try handle.write(contentsOf: Data([0x0A])) }
      return (handle, size + 1)
    }

    /// Opens a file of this user, and makes it accessible to this user alone.
    private static func openPrivate(_ file: URL, _ flags: Int32) throws -> FileHandle {
      // Non-blocking: it may be a FIFO.
      let descriptor = WaylayCore.open(file.path, flags | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
      guard descriptor >= 0 else { throw SystemError("open", file.path).posixError }
      let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { throw SystemError("fstat", file.path).posixError }
      // Refuse a file of another owner, who could read it.
      guard mode_t(status.st_mode) & S_IFMT == S_IFREG, status.st_uid == geteuid() else { throw POSIXError(.EPERM) }
      guard fchmod(descriptor, 0o600) == 0 else { throw SystemError("fchmod", file.path).posixError }
      return handle
    }

    /// Appends exchanges; returns once they are in the file.
    func append(_ entries: [HAR.Entry]) {
      let lines = entries.map { Self.line($0.data()) }
      writing.sync {
        var next = state.withLock { $0 }
        do {
          try next.write(lines, to: file, limit: limit / 2)
          next.failure = nil
        } catch {
          // The line may be truncated: reopening the file terminates it, and counts its bytes.
          (next.handle, next.size, next.failure) = (nil, 0, error)
        }
        state.withLock { $0 = next }
      }
    }

    static func line(_ json: Data) -> Data {
      let check = withUnsafeBytes(of: CRC32.of(json).bigEndian) { $0.hexadecimal }
      return Data("\(check) ".utf8) + json + Data([0x0A])
    }

    /// Reads a journal, including the previous file, even while it is being written.
    ///
    /// - Returns: The exchanges, in the order in which they ended, and the number of incomplete lines.
    /// - Throws: `HARError` with the code `unreadable` if there is none, or it cannot be read.
    public static func read(_ file: URL) throws(HARError) -> (exchanges: [Exchange], damaged: Int) {
      var (exchanges, damaged) = ([Exchange](), 0)
      let files = [old(file), file].filter { FileManager.default.fileExists(atPath: $0.path) }
      do {
        if files.isEmpty { throw CocoaError(.fileNoSuchFile) }
        for file in files {
          for line in try Data(contentsOf: file).split(separator: 0x0A) {
            if let exchange = exchange(line) { exchanges.append(exchange) } else { damaged += 1 }
          }
        }
      } catch {
        throw HARError(.unreadable, "\(file.lastPathComponent) cannot be read.", file: file, underlying: error)
      }
      return (exchanges, damaged)
    }

    private static func exchange(_ line: Data) -> Exchange? {
      let json = line.dropFirst(9)
      guard line.dropFirst(8).first == 0x20,
        let check = UInt32(String(decoding: line.prefix(8), as: UTF8.self), radix: 16),
        check == CRC32.of(json), let entry = try? HAR.Entry(data: Data(json))
      else { return nil }
      return Exchange(entry)
    }
  }
}

/// The CRC-32 checksum of Ethernet and gzip (ISO 3309).
enum CRC32 {
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
  }

  static func of(_ data: Data) -> UInt32 {
    ~data.reduce(~0) { check, byte in table[Int(UInt8(truncatingIfNeeded: check) ^ byte)] ^ check >> 8 }
  }
}
