/// Writes an archive of any size entry by entry, with the memory of one entry.
///
/// ```swift
/// var writer = try HARWriter(URL(fileURLWithPath: "day.har"))
/// for entry in entries { try writer.append(entry) }
/// try writer.finish()
/// ```
///
/// The file appears only when it is finished and complete, readable by its owner alone; until then an existing file
/// stays, even if the process is killed. A writer that is released without ``finish()`` leaves nothing behind.
public struct HARWriter: ~Copyable {
  private let file: URL
  private let draft: URL
  private let handle: FileHandle
  private let archive: HAR
  private var json: JSONWriter
  private var isFinished = false

  /// Starts a file.
  ///
  /// - Parameters:
  ///   - file: The location of the archive. The directory must exist.
  ///   - archive: The content besides the entries. Entries that it contains come first, the oldest before the others.
  ///   - isPretty: Whether to indent the file.
  /// - Throws: ``HARError`` if it cannot be written there.
  public init(_ file: URL, archive: HAR = HAR(), isPretty: Bool = false) throws(HARError) {
    let draft = file.deletingLastPathComponent().appendingPathComponent(
      ".\(file.lastPathComponent).\(UUID().uuidString)")
    do {
      // Nobody else reads it before it is whole: what it holds may be private.
      let isMade = FileManager.default.createFile(
        atPath: draft.path, contents: nil, attributes: [.posixPermissions: 0o600])
      guard isMade else { throw CocoaError(.fileWriteUnknown) }
      handle = try FileHandle(forWritingTo: draft)
    } catch {
      try? FileManager.default.removeItem(at: draft)
      throw HARError(
        .unwritable, "\(file.lastPathComponent) cannot be written in its directory.", file: file, underlying: error)
    }
    self.file = file
    self.draft = draft
    self.archive = archive
    json = JSONWriter(isPretty: isPretty)
    archive.writeBeginning(to: &json)
    for entry in archive.entries.inOrder {
      json.separate()
      entry.write(to: &json)
    }
  }

  deinit {
    try? handle.close()
    if !isFinished { try? FileManager.default.removeItem(at: draft) }
  }

  /// Writes an entry. The format requires the oldest entry first.
  ///
  /// - Throws: ``HARError`` if it cannot be written, for example on a full disk. The file to be replaced still exists.
  public mutating func append(_ entry: HAR.Entry) throws(HARError) {
    json.separate()
    entry.write(to: &json)
    try flush()
  }

  /// Finishes the archive, and moves it into place.
  ///
  /// - Throws: ``HARError`` if it cannot be written. The file to be replaced still exists.
  public consuming func finish() throws(HARError) {
    archive.writeEnd(to: &json)
    try flush()
    do {
      try handle.synchronize()
      guard rename(draft.path, file.path) == 0 else {
        throw NSError(domain: NSPOSIXErrorDomain, code: Int(errno))
      }
      isFinished = true
    } catch {
      throw HARError(
        .unwritable, "\(file.lastPathComponent) cannot be moved into place.", file: file, underlying: error)
    }
  }

  private mutating func flush() throws(HARError) {
    do { try handle.write(contentsOf: json.take()) } catch {
      throw HARError(.unwritable, "\(file.lastPathComponent) cannot be completed.", file: file, underlying: error)
    }
  }
}
