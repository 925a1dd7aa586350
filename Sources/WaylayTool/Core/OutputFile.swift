import Foundation
import WaylayInspector

/// A file that a command writes: it is there when it is whole, and takes nobody's place unless it may.
struct OutputFile {
  let url: URL
  let mayReplace: Bool
  /// Where it is written until it is whole: beside its place.
  let draft: URL

  /// Prepares a file.
  ///
  /// - Throws: ``ToolFailure`` when there is one already and it must not be replaced, or the folder is missing.
  init(_ path: String, mayReplace: Bool) throws {
    url = URL(fileURLWithPath: path)
    self.mayReplace = mayReplace
    let folder = url.deletingLastPathComponent()
    draft = folder.appendingPathComponent(".\(url.lastPathComponent.prefix(100)).\(UUID().uuidString)")
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) {
      if isFolder.boolValue { throw ToolFailure(.files, "file.exists", "\(path) is a folder: name a file in it.") }
      if !mayReplace { throw Self.exists(path) }
    }
    guard FileManager.default.fileExists(atPath: folder.path) else {
      throw ToolFailure(.files, "file.noFolder", "the folder of \(path) does not exist: create it first.")
    }
  }

  private static func exists(_ path: String) -> ToolFailure {
    ToolFailure(.files, "file.exists", "\(path) already exists: name another file, or replace it with --force.")
  }

  /// Puts the draft in its place.
  func place() throws {
    defer { try? FileManager.default.removeItem(at: draft) }
    if mayReplace {
      guard rename(draft.path, url.path) == 0 else { throw failure("moved into place") }
      return
    }
    // A link fails where a file has come meanwhile; a rename would replace it.
    if link(draft.path, url.path) == 0 { return }
    if errno == EEXIST { throw Self.exists(url.path) }
    // A file system without links.
    guard !FileManager.default.fileExists(atPath: url.path) else { throw Self.exists(url.path) }
    guard rename(draft.path, url.path) == 0 else { throw failure("moved into place") }
  }

  /// Removes what was written so far.
  func discard() { try? FileManager.default.removeItem(at: draft) }

  /// Writes all of it.
  func write(_ data: Data) throws {
    let handle = try open()
    do {
      try handle.write(contentsOf: data)
      try handle.close()
    } catch {
      discard()
      throw failure("written", error)
    }
    try place()
  }

  /// Writes what an inspector has seen, which has no secrets in it any more, as an HTTP archive.
  func write(_ inspector: Inspector) throws {
    do {
      try inspector.writeHAR(to: draft)
      try place()
    } catch {
      discard()
      throw error
    }
  }

  /// The draft, to be written piece by piece.
  func open() throws -> FileHandle {
    let descriptor = Foundation.open(draft.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw failure("written") }
    return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  /// That it cannot be written, with the system's reason.
  func failure(_ what: String, _ error: (any Error)? = nil) -> ToolFailure {
    let reason = error.map { ($0 as NSError).localizedDescription } ?? String(cString: strerror(errno))
    return ToolFailure(.files, "file.unwritable", "\(url.path) cannot be \(what): \(reason)")
  }
}
