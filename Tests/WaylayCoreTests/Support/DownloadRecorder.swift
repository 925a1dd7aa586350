import Foundation
import TestOrigin
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
  /// The session has released its delegate.
  let invalidated = Event()
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
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64,
    totalBytesExpectedToWrite: Int64
  ) {
    reported.withLock { $0 += bytesWritten }
    log.add(.wrote(total: totalBytesWritten, expected: totalBytesExpectedToWrite))
    begun.happen()
  }

  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset offset: Int64,
    expectedTotalBytes: Int64
  ) {
    log.add(.resumed(at: offset))
  }

  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    file.withLock { $0 = location }
    log.add(.finished(bytes: (try? Data(contentsOf: location))?.count))
    take(location)
  }

  func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
    invalidated.happen()
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    self.error.withLock { $0 = error }
    log.add(.completed((error as? URLError)?.code))
    finished.happen()
  }
}

/// A download of which the first three bytes have come and been reported.
struct OpenDownload: Sendable {
  let origin: TestOrigin
  let session: URLSession
  let task: URLSessionDownloadTask
  let recorder: DownloadRecorder

  /// Runs a test with such a download.
  static func with(
    _ registry: InterceptorRegistry = InterceptorRegistry { Link.pass() }, _ body: (OpenDownload) async throws -> Void
  ) async throws {
    try await withOrigin { origin in
      let recorder = DownloadRecorder()
      let session = URLSession.intercepted(by: registry, delegate: recorder)
      let task = session.downloadTask(with: origin.url("/gate/download"))
      task.resume()
      origin.release("one", gate: "download")
      await recorder.begun.wait()
      try await body(OpenDownload(origin: origin, session: session, task: task, recorder: recorder))
    }
  }

  /// Three bytes more, and the end.
  func sendRest() {
    origin.release("two", gate: "download")
    origin.release(nil, gate: "download")
  }
}

extension URLSession {
  /// Waits until what is on the delegate queue now is done.
  func settled() async {
    let event = Event()
    delegateQueue.addOperation { event.happen() }
    await event.wait()
  }
}

extension URL {
  var exists: Bool { FileManager.default.fileExists(atPath: path) }
}
