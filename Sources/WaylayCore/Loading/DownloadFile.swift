import Foundation

/// The file that the body of a download task is written to. It goes with this object, unless somebody has moved it or
/// is to keep it.
///
/// Unchecked: `FileHandle` need not say on Apple platforms that it is `Sendable`. One load writes to it, one chunk
/// after the other.
final class DownloadFile: @unchecked Sendable {
  let url: URL
  private let file: FileHandle
  private let isKept = Locked(false)

  /// Makes an empty file in the folder for temporary files, which nobody else may read.
  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-\(UUID().uuidString).download")
    let descriptor = open(url.path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.failure(POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO), at: url) }
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

  /// The last byte has been written; what the system kept back fails here.
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
      "\(url.path), the temporary file of a download, cannot be written: check the folder, its permissions and the "
        + "free space.",
      underlying: error)
  }
}
