/// Writes a HAR file of any size entry by entry, with the memory of one entry.
///
/// ```swift
/// var writer = try HARWriter(URL(fileURLWithPath: "day.har"))
/// for entry in entries { try writer.append(entry) }
/// try writer.finish()
/// ```
///
/// The file appears when it is finished: complete, synced to the disk, and readable by its owner alone. Until then an
/// existing file stays, even if the process is killed or the power fails. A writer that is released without ``finish()``
/// leaves nothing behind. A symbolic link is followed; a pipe or a device is written into.
public struct HARWriter: ~Copyable {
  private let file: URL
  private let archive: HAR
  private var json: JSONWriter
  private var output: AtomicFile.Writer

  /// Starts a file.
  ///
  /// - Parameters:
  ///   - file: The location of the file. The directory must exist.
  ///   - archive: The content besides the entries. Its own entries are written first, oldest first.
  ///   - isPretty: Whether to indent the file.
  /// - Throws: ``HARError`` if it cannot be written there.
  public init(_ file: URL, archive: HAR = HAR(), isPretty: Bool = false) throws(HARError) {
    do throws(SystemError) {
      try self.init(file, archive: archive, isPretty: isPretty, to: AtomicFile.Writer(file.path))
    } catch {
      throw Self.error(error, file)
    }
  }

  /// Starts a file with a given writer.
  package init(_ file: URL, archive: HAR, isPretty: Bool = false, to output: consuming AtomicFile.Writer) {
    self.file = file
    self.archive = archive
    self.output = output
    json = JSONWriter(isPretty: isPretty)
    archive.writeBeginning(to: &json)
  }

  /// Writes an entry. The format requires the oldest entry first.
  ///
  /// - Throws: ``HARError`` if it cannot be written, for example on a full disk. The file to be replaced still exists.
  public mutating func append(_ entry: HAR.Entry) throws(HARError) {
    json.separate()
    json.value(entry.json)
    do { try output.write(Data(json.take())) } catch { throw Self.error(error, file) }
  }

  /// Finishes the file, and moves it into place.
  ///
  /// - Throws: ``HARError`` if it cannot be written. The file to be replaced still exists.
  public consuming func finish() throws(HARError) {
    archive.writeEnd(to: &json)
    let file = file
    do throws(SystemError) {
      try output.write(Data(json.take()))
      try output.commit()
    } catch {
      throw Self.error(error, file)
    }
  }

  private static func error(_ error: SystemError, _ file: URL) -> HARError {
    HARError(
      .unwritable, "\(file.lastPathComponent) cannot be written: \(error).", file: file, underlying: error.posixError)
  }
}
