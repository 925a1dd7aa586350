import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("Download tasks that end otherwise", .timeLimit(.minutes(5)))
struct DownloadEdgeTests {
  private func file(_ session: URLSession, _ request: URLRequest) async throws -> (contents: Data, status: Int?) {
    let (file, response) = try await session.download(for: request)
    defer { try? FileManager.default.removeItem(at: file) }
    return (try Data(contentsOf: file), (response as? HTTPURLResponse)?.statusCode)
  }

  @Test("HEAD, 204 and a body of no bytes are an empty file")
  func empty() async throws {
    try await withOrigin { origin in
      let session = URLSession.intercepted(by: InterceptorRegistry { Link.pass() })
      var head = URLRequest(url: origin.url("/range/1000"))
      head.httpMethod = "HEAD"
      for request in [head, URLRequest(url: origin.url("/status/204")), URLRequest(url: origin.url("/bytes/0"))] {
        let answer = try await file(session, request)
        #expect(answer.contents.isEmpty && answer.status == (request.url?.path == "/status/204" ? 204 : 200))
      }
    }
  }

  @Test(
    "a session that is told to finish its tasks finishes the download; one that cancels them ends it",
    arguments: [false, true])
  func invalidated(cancels: Bool) async throws {
    try await OpenDownload.with { download in
      if cancels { download.session.invalidateAndCancel() } else { download.session.finishTasksAndInvalidate() }
      download.sendRest()
      let recorder = download.recorder
      await recorder.finished.wait()
      #expect(recorder.entries.last == .completed(cancels ? .cancelled : nil))
      #expect(recorder.entries.contains(.finished(bytes: 6)) != cancels)
      await recorder.invalidated.wait()
    }
  }

  @Test("a registry that is invalidated fails the downloads under way")
  func registryInvalidated() async throws {
    let registry = InterceptorRegistry { Link.pass() }
    try await OpenDownload.with(registry) { download in
      registry.invalidate()
      await download.recorder.finished.wait()
      #expect(download.recorder.entries.last == .completed(.resourceUnavailable))
    }
  }

  #if canImport(FoundationNetworking)
    @Test(
      "a file that cannot be made or written on fails the task with the system's reason, and nothing of it stays",
      .exitTest)
    func unwritable() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        setenv("TMPDIR", folder.path, 1)
        let origin = try await TestOrigin.start()
        // A file may have no more than this, as on a disk that is full: the system says EFBIG where it would say
        // ENOSPC.
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: 50_000, rlim_max: 50_000)
        Process.require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0, "no limit")
        for isMissing in [false, true] {
          if isMissing { try FileManager.default.removeItem(at: folder) }
          let recorder = DownloadRecorder()
          let session = URLSession.intercepted(by: InterceptorRegistry { Link.pass() }, delegate: recorder)
          session.downloadTask(with: origin.url("/range/100000")).resume()
          await recorder.finished.wait()
          let error = recorder.error.withLock { $0 } as? URLError
          Process.require(error?.code == .cannotWriteToFile, "\(String(describing: error))")
          Process.require(error?.cause(as: WaylayError.self)?.code == .fileNotWritten, "\(String(describing: error))")
          Process.require(
            !recorder.entries.contains { if case .finished = $0 { true } else { false } }, "\(recorder.entries)")
          func left() -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] }
          let isEmpty = try await Process.settles { left().isEmpty }
          Process.require(isEmpty, "left behind: \(left())")
        }
        await origin.stop()
      }
    }
  #endif
}
