import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("Download tasks of an intercepted session", .timeLimit(.minutes(10)))
struct DownloadTaskTests {
  private static let million = Data((0..<1_000_000).map { UInt8($0 % 251) })

  /// What a completion handler is given, with the file's contents while it is there.
  private struct Handled: Sendable {
    var file: URL?
    var contents: Data?
    var status: Int?
    var error: URLError?
  }

  private func download(
    _ session: URLSession, _ request: URLRequest, take: @escaping @Sendable (URL) -> Void = { _ in }
  ) async -> Handled {
    let handled = await handed(Handled.self) { hand in
      session.downloadTask(with: request) { file, response, error in
        let contents = file.flatMap { try? Data(contentsOf: $0) }
        if let file { take(file) }
        hand(
          Handled(
            file: file, contents: contents, status: (response as? HTTPURLResponse)?.statusCode,
            error: error as? URLError))
      }.resume()
    }
    return handled ?? Handled()
  }

  @Test("a completion handler gets the whole file, and it is gone afterwards")
  func handler() async throws {
    try await withOrigin { origin in
      let session = URLSession.intercepted(by: InterceptorRegistry { Link.pass() })
      let handled = await download(session, URLRequest(url: origin.url("/range/1000000")))
      #expect(handled.status == 200 && handled.error == nil)
      #expect(handled.contents == Self.million)
      await session.settled()
      #expect(handled.file?.exists == false)
    }
  }

  @Test(
    "all calls of a download go to the session's delegate, whatever delegate its task has, as in a plain session",
    .enabled(if: Platform.isLinux, "Apple's loading system makes them"), arguments: [true, false])
  func delegates(isPlain: Bool) async throws {
    final class Listener: NSObject, URLSessionDownloadDelegate, Sendable {
      let calls = Log<String>()
      let completed = Event()

      func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
      ) { calls.add("file") }
      func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytes: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
      ) { calls.add("bytes") }
      func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        calls.add("end")
        completed.happen()
      }
    }
    try await withOrigin { origin in
      let (listener, other) = (Listener(), Listener())
      let session =
        isPlain
        ? URLSession(configuration: .ephemeral, delegate: listener, delegateQueue: nil)
        : URLSession.intercepted(by: InterceptorRegistry { Link.pass() }, delegate: listener)
      let task = session.downloadTask(with: origin.url("/bytes/100000"))
      task.delegate = other
      task.resume()
      await listener.completed.wait()
      #expect(Array(Set(listener.calls.all)).sorted() == ["bytes", "end", "file"])
      #expect(other.calls.all == [])
    }
  }

  @Test("a file that the app has moved stays")
  func moved() async throws {
    try await withOrigin { origin in
      let target = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      defer { try? FileManager.default.removeItem(at: target) }
      let session = URLSession.intercepted(by: InterceptorRegistry { Link.pass() })
      let handled = await download(session, URLRequest(url: origin.url("/hello"))) {
        try? FileManager.default.moveItem(at: $0, to: target)
      }
      await session.settled()
      #expect(handled.file?.exists == false)
      let contents = try Data(contentsOf: target)
      #expect(contents == Data("hello".utf8))
    }
  }

  @Test("a delegate is told of the bytes, with totals, then of the file, then of the end", arguments: [1, 4])
  func delegate(threads: Int) async throws {
    try await withOrigin { origin in
      let recorder = DownloadRecorder()
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = threads
      let session = URLSession(
        configuration: .ephemeral.intercepted(by: InterceptorRegistry { Link.pass() }), delegate: recorder,
        delegateQueue: threads == 1 ? nil : queue)
      let task = session.downloadTask(with: origin.url("/range/1000000"))
      task.resume()
      await recorder.finished.wait()
      // On several threads the end may be told before what was put there before it.
      if threads > 1 { queue.addBarrierBlock {} }
      await session.settled()
      let last: [DownloadRecorder.Entry] = [
        .wrote(total: 1_000_000, expected: 1_000_000), .finished(bytes: 1_000_000), .completed(nil),
      ]
      // Several threads may change the order of what is put there at once, as with a plain session.
      if threads == 1 { #expect(recorder.last == last) } else { #expect(last.allSatisfy(recorder.entries.contains)) }
      #expect(recorder.reported.withLock { $0 } == 1_000_000)
      #expect(task.progress.totalUnitCount == 1_000_000 && task.progress.isFinished)
      #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
      // On several threads the file may be removed after the barrier has passed.
      if threads > 1 { while recorder.file.withLock({ $0 })?.exists == true { await Task.yield() } }
      #expect(recorder.file.withLock { $0 }?.exists == false)
    }
  }

  @Test("what an async call returns stays until the caller removes it; its delegate is told of the bytes")
  func asynchronous() async throws {
    try await withOrigin { origin in
      let session = URLSession.intercepted(by: InterceptorRegistry { Link.pass() })
      let recorder = DownloadRecorder()
      let (file, response) = try await session.download(
        for: URLRequest(url: origin.url("/range/1000000")), delegate: recorder)
      await session.settled()
      #expect((response as? HTTPURLResponse)?.statusCode == 200)
      #expect(try Data(contentsOf: file) == Self.million)
      #expect(recorder.reported.withLock { $0 } == 1_000_000)
      try FileManager.default.removeItem(at: file)
      let (other, _) = try await session.download(from: origin.url("/hello"))
      #expect(try Data(contentsOf: other) == Data("hello".utf8))
      try FileManager.default.removeItem(at: other)
    }
  }

  @Test("a body is written as it comes: the first chunk is reported before the second is sent")
  func streamed() async throws {
    try await OpenDownload.with { download in
      let recorder = download.recorder
      #expect(recorder.entries == [.wrote(total: 3, expected: -1)])
      download.sendRest()
      await recorder.finished.wait()
      #expect(recorder.last == [.wrote(total: 6, expected: -1), .finished(bytes: 6), .completed(nil)])
    }
  }

  @Test("compressed, redirected, behind a 401, an error status: each as with a data task")
  func kinds() async throws {
    try await withOrigin { origin in
      let session = URLSession.intercepted(by: InterceptorRegistry { Link.pass() })
      #expect(await download(session, URLRequest(url: origin.url("/gzip"))).contents == Data("hello".utf8))
      #expect(await download(session, URLRequest(url: origin.url("/redirect/302"))).contents == Data("hello".utf8))
      let refused = await download(session, URLRequest(url: origin.url("/unauthorized")))
      #expect(refused.status == 401 && refused.contents == Data("who are you?".utf8))
      #expect(await download(session, URLRequest(url: origin.url("/status/404"))).contents == Data("status 404".utf8))
      let empty = await download(session, URLRequest(url: origin.url("/bytes/0")))
      #expect(empty.status == 200 && empty.contents == Data())
      var parts = try #require(URLComponents(url: origin.url("/digest/me/secret"), resolvingAgainstBaseURL: false))
      parts.user = "me"
      parts.password = "secret"
      let url = try #require(parts.url)
      #expect(await download(session, URLRequest(url: url)).contents == Data("welcome me".utf8))
    }
  }

  @Test(
    "an interceptor's answer is written too, whatever its body is made of",
    arguments: ["data", "file", "stream", "inline"])
  func answers(kind: String) async throws {
    let source = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data("hello".utf8).write(to: source)
    defer { try? FileManager.default.removeItem(at: source) }
    let link = Link.answering(inline: kind == "inline") { request in
      let body: MessageBody =
        switch kind {
        case "file": .file(source)
        case "stream":
          .stream(
            AsyncStream<Data> {
              $0.yield(Data("hel".utf8))
              $0.yield(Data("lo".utf8))
              $0.finish()
            })
        default: .text("hello")
        }
      return InterceptedResponse(to: request, body: body)
    }
    let session = URLSession.intercepted(by: InterceptorRegistry { link })
    let handled = await download(session, URLRequest(url: .example))
    #expect(handled.contents == Data("hello".utf8))
    await session.settled()
    #expect(handled.file?.exists == false && source.exists)
  }

  @Test("a body that breaks off fails the task", arguments: ["/truncated", "/reset", "/garbage/chunk"])
  func broken(path: String) async throws {
    try await withOrigin { origin in
      let session = URLSession.intercepted(by: InterceptorRegistry { Link.pass() })
      let handled = await download(session, URLRequest(url: origin.url(path)))
      #expect(handled.file == nil && handled.error != nil)
    }
  }

  #if canImport(FoundationNetworking)
    @Test("leaves no file behind: taken by a handler or a delegate, broken off, refused and cancelled", .exitTest)
    func noFiles() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        // A folder of this process's own.
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        setenv("TMPDIR", folder.path, 1)
        func left() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path) }
        func emptied() async throws {
          // The file goes behind what the delegate's queue has to do, or with the load.
          _ = try await Process.settles { try left().isEmpty }
          let files = try left()
          Process.require(files.isEmpty, "left behind: \(files)")
        }
        let origin = try await TestOrigin.start()
        let registry = InterceptorRegistry { Link.pass() }
        let handling = URLSession.intercepted(by: registry)
        for path in ["/range/100000", "/truncated", "/reset", "/status/404"] {
          let handled = await handed((URL, Bool)?.self) { hand in
            handling.downloadTask(with: origin.url(path)) { file, _, _ in
              hand(file.map { ($0, $0.exists) })
            }.resume()
          }
          try await emptied()
          // No file, after a failure, or one in the folder that was there for as long as the handler ran.
          let isRight = handled.flatMap { $0 }.map { $0.0.path.hasPrefix(folder.path) && $0.1 } ?? true
          Process.require(isRight, "\(path): \(String(describing: handled))")
        }
        for isCancelled in [true, false] {
          let recorder = DownloadRecorder()
          let session = URLSession.intercepted(by: registry, delegate: recorder)
          let gate = "files-\(isCancelled)"
          let task = session.downloadTask(with: origin.url("/gate/\(gate)"))
          task.resume()
          origin.release("one", gate: gate)
          await recorder.begun.wait()
          let files = try left()
          Process.require(files.count == 1, "\(files) while it goes on")
          if isCancelled { task.cancel() } else { origin.release(nil, gate: gate) }
          await recorder.finished.wait()
          try await emptied()
        }
        await origin.stop()
      }
    }
  #endif

  @Test("a cancelled download ends as cancelled, its transfer with it")
  func cancelled() async throws {
    try await OpenDownload.with { download in
      download.task.cancel()
      await download.recorder.finished.wait()
      #expect(download.recorder.entries.last == .completed(.cancelled))
      await download.origin.until { $0.openConnectionCount == 0 }
    }
  }

  @Test("cancel(byProducingResumeData:) cancels; on Linux the loading system's own has no data to give")
  func cancelledWithData() async throws {
    try await OpenDownload.with { download in
      let data = await handed { hand in download.task.cancel { hand($0) } }
      #expect(data == .some(nil))
      await download.recorder.finished.wait()
      #expect(download.recorder.entries.last == .completed(.cancelled))
    }
  }

  @Test("a suspended download stands still and goes on")
  func suspended() async throws {
    try await OpenDownload.with { download in
      download.task.suspend()
      download.sendRest()
      download.task.resume()
      await download.recorder.finished.wait()
      #expect(Array(download.recorder.last.suffix(2)) == [.finished(bytes: 6), .completed(nil)])
    }
  }

  @Test("64 downloads at once are all right", .heavy)
  func many() async throws {
    try await withOrigin { origin in
      let session = URLSession.intercepted(by: InterceptorRegistry { Link.pass() })
      await withTaskGroup { group in
        for number in 0..<256 {
          group.addTask {
            let handled = await self.download(session, URLRequest(url: origin.url("/range/\(10_000 + number)")))
            #expect(handled.contents == Self.million.prefix(10_000 + number))
          }
          if number >= 63 { await group.next() }
        }
      }
    }
  }
}
