import Foundation
import TestSupport
import WaylayCore

/// A delegate of download tasks that writes down what it is told, in order.
final class DownloadRecorder: NSObject, URLSessionDownloadDelegate, Sendable {
  enum Entry: Sendable, Equatable {
    case wrote(total: Int64, expected: Int64)
    case resumed(at: Int64)
    case finished(bytes: Int?)
    case completed(URLError.Code?)
  }

  private let log = Log<Entry>()
  let finished = Event()
  let begun = Event()
  /// Bytes that were reported one report at a time.
  let reported = Locked<Int64>(0)
  let file = Locked<URL?>(nil)
  let error = Locked<(any Error)?>(nil)
  /// What to do with the file while it is there.
  let take: @Sendable (URL) -> Void

  init(take: @escaping @Sendable (URL) -> Void = { _ in }) {
    self.take = take
  }

  var entries: [Entry] { log.all }
  var last: [Entry] { Array(log.all.suffix(3)) }

  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64, totalBytesWritten: Int64,
    totalBytesExpectedToWrite: Int64
  ) {
    reported.withLock { $0 += bytesWritten }
    log.add(.wrote(total: totalBytesWritten, expected: totalBytesExpectedToWrite))
    begun.happen()
  }

  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset offset: Int64, expectedTotalBytes: Int64) {
    log.add(.resumed(at: offset))
  }

  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    file.withLock { $0 = location }
    log.add(.finished(bytes: (try? Data(contentsOf: location))?.count))
    take(location)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    self.error.withLock { $0 = error }
    log.add(.completed((error as? URLError)?.code))
    finished.happen()
  }
}

extension URLSession {
  /// Waits until what is on the delegate queue now is done.
  func settled() async {
    await withCheckedContinuation { continuation in delegateQueue.addOperation { continuation.resume() } }
  }
}

extension URL {
  var exists: Bool { FileManager.default.fileExists(atPath: path) }
}
