#if CommandLineTool
  import Foundation
  import WaylayCore
  import WaylayHAR
  import WaylayRecording

  /// A HAR file, read entry by entry, and more than once: first for its secrets, then to show it without them.
  ///
  /// All readings are of the file that was opened. A pipe or a socket, which can be read only once, is copied to a file
  /// without a name, which only this process can read.
  struct HARFile: Sendable {
    let url: URL
    private let file: OpenFile

    /// An open file, closed with its last user.
    private final class OpenFile: Sendable {
      let descriptor: Int32

      init(_ descriptor: Int32) { self.descriptor = descriptor }

      deinit { close(descriptor) }

      var handle: FileHandle { FileHandle(fileDescriptor: descriptor, closeOnDealloc: false) }
    }

    init(_ path: String) throws {
      url = URL(fileURLWithPath: path)
      let opened = try Self.opened(url.path, O_RDONLY, url)
      var status = stat()
      guard fstat(opened.descriptor, &status) == 0 else { throw Self.unreadable(url) }
      switch mode_t(status.st_mode) & S_IFMT {
      case S_IFREG: file = opened
      case S_IFIFO, S_IFSOCK: file = try Self.copy(of: opened, url)
      default:
        throw ToolFailure(
          .files, "har.unreadable", "\(url.lastPathComponent) is neither a file nor a pipe: name one with an archive.")
      }
    }

    private static func opened(_ path: String, _ flags: Int32, _ url: URL) throws -> OpenFile {
      let descriptor = open(path, flags | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw unreadable(url) }
      return OpenFile(descriptor)
    }

    /// The error of the last call.
    private static func unreadable(_ url: URL) -> HARError {
      let error = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
      return HARError(.unreadable, "\(url.lastPathComponent) cannot be opened.", file: url, underlying: error)
    }

    private static func copy(of pipe: OpenFile, _ url: URL) throws -> OpenFile {
      let path = FileManager.default.temporaryDirectory.path + "/waylay-\(UUID().uuidString)"
      let copy = try opened(path, O_RDWR | O_CREAT | O_EXCL, url)
      unlink(path)
      do {
        let (from, to) = (pipe.handle, copy.handle)
        while let bytes = try from.read(upToCount: 64 << 10), !bytes.isEmpty { try to.write(contentsOf: bytes) }
      } catch { throw HARError(.unreadable, "It cannot be copied, to be read twice.", file: url, underlying: error) }
      return copy
    }

    /// The secrets of all entries, from a separate pass over the file.
    func secrets(_ redaction: Redaction) throws -> KnownSecrets {
      var known = KnownSecrets()
      var reader = try HARReader(url, in: file.handle)
      while let entry = try reader.next() { known.add(redaction.secrets(of: entry)) }
      return known
    }

    /// Visits each entry with its number, from 1; returns the number of entries.
    @discardableResult
    func forEach(_ visit: (Int, HAR.Entry) throws -> Void) throws -> Int {
      var reader = try HARReader(url, in: file.handle)
      var count = 0
      while let entry = try reader.next() {
        count += 1
        try visit(count, entry)
      }
      for line in reader.unreadEntries { Output.complain("\(url.lastPathComponent): \(line) It is left out.") }
      return count
    }

    /// Visits each entry without its secrets and those of all entries.
    func forEach(_ redaction: Redaction, _ visit: (Int, HAR.Entry) throws -> Void) throws {
      let known = try secrets(redaction)
      var report = RedactionReport()
      try forEach { try visit($0, redaction.redacted($1, report: &report) { _ in known }) }
    }

    /// The shapes of all responses, redacted.
    ///
    /// - Parameters:
    ///   - onlyKnown: Whether changes are said in the form of ``OnlyKnown``.
    ///   - isIncluded: Whether an entry counts, by its number.
    func recording(
      _ redaction: Redaction, onlyKnown: Bool = false, where isIncluded: (Int) -> Bool = { _ in true }
    ) throws -> Drift.Recording {
      var recording = Drift.Recording()
      try forEach(redaction) { number, entry in
        if isIncluded(number) { recording.add(entry, showing: onlyKnown ? OnlyKnown.entry(entry) : nil) }
      }
      return recording
    }

    /// Writes a redacted copy; returns the number of entries, and the report of the redaction.
    func write(
      to target: OutputFile, _ redaction: Redaction, onlyKnown: Bool
    ) throws -> (count: Int, report: RedactionReport) {
      let known = try secrets(redaction)
      if redaction.unread == .fail {
        // A pipe as the target must not get entries before the failure.
        var report = RedactionReport()
        try forEach { _ = redaction.redacted($1, report: &report) { _ in known } }
        guard report.unread.isEmpty else {
          let list = report.unread.joined(separator: "; ")
          throw ToolFailure(.failed, "har.unread", "Bodies are not read, and nothing was written: \(list)")
        }
      }
      let copy = try target.writer(mode: 0o600)
      let archive =
        onlyKnown
        ? HAR() : redaction.outline(of: try HAR(withoutEntriesOf: HARReader(url, in: file.handle)), knowing: known)
      var writer = HARWriter(URL(fileURLWithPath: target.path), archive: archive, to: copy)
      var report = RedactionReport()
      do {
        let count = try forEach { _, entry in
          let entry = redaction.redacted(entry, report: &report) { _ in known }
          try writer.append(onlyKnown ? OnlyKnown.entry(entry) : entry)
        }
        try writer.finish()
        return (count, report)
      } catch let error as HARError where (error.underlying as? POSIXError)?.code == .EPIPE {
        throw Output.Closed()
      }
    }
  }
#endif
