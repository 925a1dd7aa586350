public import Foundation

/// Writes an archive entry by entry: one of any size, with the memory of one entry.
///
/// ```swift
/// var writer = try HARWriter(URL(fileURLWithPath: "day.har"))
/// for entry in entries { try writer.append(entry) }
/// try writer.finish()
/// ```
///
/// The file appears when it is finished, whole; until then what is there stays, and a process that is killed leaves it
/// as it was. A writer that is let go without ``finish()`` leaves nothing.
public struct HARWriter: ~Copyable {
  private let file: URL
  private let draft: URL
  private let handle: FileHandle
  private let archive: HAR
  private var json: JSONText
  private var isFinished = false

  /// Begins a file.
  ///
  /// - Parameters:
  ///   - file: Where the archive is to be. The directory has to be there.
  ///   - archive: What is said beside the entries. Entries that it holds come first.
  ///   - isPretty: Whether the file is indented.
  /// - Throws: ``HARError`` when it cannot be written there.
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
    json = JSONText(isPretty: isPretty)
    archive.writeBeginning(to: &json)
    for entry in archive.entries {
      json.separate()
      entry.write(to: &json)
    }
  }

  deinit {
    try? handle.close()
    if !isFinished { try? FileManager.default.removeItem(at: draft) }
  }

  /// Writes an entry. The format wants the oldest first.
  ///
  /// - Throws: ``HARError`` when it cannot be written, as on a disk that is full. The file that is to be replaced is
  ///   still there.
  public mutating func append(_ entry: HAR.Entry) throws(HARError) {
    json.separate()
    entry.write(to: &json)
    try flush()
  }

  /// Ends the archive, and puts it in its place.
  ///
  /// - Throws: ``HARError`` when it cannot be written. The file that was to be replaced is still there.
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
        .unwritable, "\(file.lastPathComponent) cannot be put in its place.", file: file, underlying: error)
    }
  }

  private mutating func flush() throws(HARError) {
    do { try handle.write(contentsOf: json.take()) } catch {
      throw HARError(.unwritable, "\(file.lastPathComponent) cannot be written further.", file: file, underlying: error)
    }
  }
}
