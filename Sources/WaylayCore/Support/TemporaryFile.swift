import Foundation

/// The file of a download task, or of a body that is to be sent. It is removed with this object, unless it has been
/// moved or `keep` was called.
///
/// Unchecked: on Apple platforms, `FileHandle` is not documented as `Sendable`. One load writes to it, one chunk after
/// the other.
final class TemporaryFile: @unchecked Sendable {
  let url: URL
  private let file: FileHandle
  private let isKept = Locked(false)

  /// Makes an empty file in the folder for temporary files, which only this user may read.
  init(_ kind: String) throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-\(UUID().uuidString).\(kind)")
    let descriptor = open(url.path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.failure(SystemError("open").posixError, at: url) }
    file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  deinit {
    remove()
  }

  /// Removes the file, unless it is the app's or has been moved.
  func remove() {
    if !isKept.withLock({ $0 }) { try? FileManager.default.removeItem(at: url) }
  }

  func write(_ chunk: Data) throws {
    do { try file.write(contentsOf: chunk) } catch { throw Self.failure(error, at: url) }
  }

  /// Closes the file after the last byte. Throws delayed errors of writes as well.
  func close() throws {
    do { try file.close() } catch { throw Self.failure(error, at: url) }
  }

  /// Leaves the file to the app.
  func keep() {
    isKept.withLock { $0 = true }
  }

  private static func failure(_ error: any Error, at url: URL) -> WaylayError {
    WaylayError(
      .fileNotWritten,
      "\(url.path), a temporary file, cannot be written: check the folder, its permissions and the free space.",
      underlying: error)
  }
}
