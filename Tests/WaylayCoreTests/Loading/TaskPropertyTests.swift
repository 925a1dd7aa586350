#if canImport(FoundationNetworking)
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore

  /// The properties of a task, as the table of "What differs on Linux and on Apple" has them.
  @Suite("Properties of a task", .timeLimit(.minutes(10)))
  struct TaskPropertyTests {
    private func run(_ session: URLSession, _ url: URL, _ recorder: Recorder) async -> URLSessionDataTask {
      let task = session.dataTask(with: url)
      task.taskDescription = "described"
      task.priority = 0.75
      task.resume()
      await recorder.finished.wait()
      return task
    }

    @Test("what is equal to a plain session's; bytes of a data task are counted, which a plain session does not")
    func succeeded() async throws {
      try await withOrigin { origin in
        let url = origin.url("/redirect/302?to=/bytes/1000")
        let (one, other) = (Recorder(), Recorder())
        let plain = await run(URLSession(configuration: .ephemeral, delegate: one, delegateQueue: nil), url, one)
        let ours = await run(
          URLSession.intercepted(by: InterceptorRegistry { Link.pass() }, delegate: other), url, other)
        #expect(ours.taskIdentifier == plain.taskIdentifier && ours.originalRequest?.url == plain.originalRequest?.url)
        #expect(ours.taskDescription == "described" && ours.priority == 0.75)
        #expect(ours.response?.url == plain.response?.url && ours.response?.expectedContentLength == 1000)
        #expect((ours.response as? HTTPURLResponse)?.statusCode == (plain.response as? HTTPURLResponse)?.statusCode)
        #expect(ours.error == nil && plain.error == nil)
        #expect(
          plain.currentRequest?.url?.path == "/bytes/1000" && ours.currentRequest?.url == plain.currentRequest?.url)
        #expect(ours.currentRequest?.mainDocumentURL == nil)
        #expect(plain.countOfBytesExpectedToReceive == 1000 && ours.countOfBytesExpectedToReceive == 1000)
        #expect(ours.countOfBytesReceived == 1000 && ours.countOfBytesSent == 0 && ours.countOfBytesExpectedToSend == 0)
      }
    }

    @Test("the lengths that an app expects are kept, as with a plain session")
    func expected() async throws {
      try await withOrigin { origin in
        for intercepted in [false, true] {
          let recorder = Recorder()
          let session =
            intercepted
            ? URLSession.intercepted(by: InterceptorRegistry { Link.pass() }, delegate: recorder)
            : URLSession(configuration: .ephemeral, delegate: recorder, delegateQueue: nil)
          let task = session.dataTask(with: origin.url("/hello"))
          task.countOfBytesClientExpectsToSend = 1
          task.countOfBytesClientExpectsToReceive = 2
          task.resume()
          await recorder.finished.wait()
          #expect(recorder.entries == [.response(200), .data("hello"), .completed(nil)])
          #expect(task.countOfBytesClientExpectsToSend == 1 && task.countOfBytesClientExpectsToReceive == 2)
        }
      }
    }

    @Test("an upload's bytes are counted as a plain session counts them")
    func uploaded() async throws {
      try await withOrigin { origin in
        var request = URLRequest(url: origin.url("/hello"))
        request.httpMethod = "POST"
        let (one, other) = (Recorder(), Recorder())
        let sessions = [
          URLSession(configuration: .ephemeral, delegate: one, delegateQueue: nil),
          URLSession.intercepted(by: InterceptorRegistry { Link.pass() }, delegate: other),
        ]
        var counts: [[Int64]] = []
        for (session, recorder) in zip(sessions, [one, other]) {
          let task = session.uploadTask(with: request, from: Data(repeating: 1, count: 100_000))
          task.resume()
          await recorder.finished.wait()
          counts.append([task.countOfBytesSent, task.countOfBytesExpectedToSend, task.countOfBytesExpectedToReceive])
        }
        #expect(counts[0] == [100_000, 100_000, 5] && counts[1] == counts[0])
      }
    }

    @Test(
      "a download's bytes are counted as a plain session counts them", arguments: ["/range/100000", "/gate/counted"])
    func downloaded(path: String) async throws {
      try await withOrigin { origin in
        let (one, other) = (DownloadRecorder(), DownloadRecorder())
        let sessions = [
          URLSession(configuration: .ephemeral, delegate: one, delegateQueue: nil),
          URLSession.intercepted(by: InterceptorRegistry { Link.pass() }, delegate: other),
        ]
        var counts: [[Int64]] = []
        for (number, (session, recorder)) in zip(sessions, [one, other]).enumerated() {
          let gate = "counted-\(number)"
          let task = session.downloadTask(with: origin.url(path == "/gate/counted" ? "/gate/\(gate)" : path))
          task.resume()
          if path == "/gate/counted" {
            origin.release("some", gate: gate)
            await recorder.begun.wait()
            counts.append([task.countOfBytesReceived, task.countOfBytesExpectedToReceive])
            task.cancel()
            await recorder.finished.wait()
          } else {
            await recorder.finished.wait()
            counts.append([task.countOfBytesReceived, task.countOfBytesExpectedToReceive])
            recorder.file.withLock { $0 }.map { try? FileManager.default.removeItem(at: $0) }
          }
        }
        #expect(counts[0] == (path == "/gate/counted" ? [4, -1] : [100_000, 100_000]) && counts[1] == counts[0])
      }
    }

    @Test("may be read on other threads while loads follow redirects, count bytes and fail", .exitTest)
    func readMeanwhile() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        let origin = try await TestOrigin.start()
        let session = URLSession.intercepted(by: InterceptorRegistry { Link.pass() })
        for number in 0..<200 {
          let isOver = Locked(false)
          let done = DispatchGroup()
          let path = number.isMultiple(of: 2) ? "/redirect/302?to=/bytes/100000" : "/truncated"
          done.enter()
          let task = session.dataTask(with: origin.url(path)) { _, _, _ in
            isOver.withLock { $0 = true }
            done.leave()
          }
          for _ in 0..<2 {
            done.enter()
            Thread.detachNewThread {
              while !isOver.withLock({ $0 }) {
                _ = (task.currentRequest?.url?.path, (task.error as? URLError)?.code, task.progress.fractionCompleted)
                _ = (
                  task.countOfBytesReceived, task.countOfBytesSent, task.countOfBytesExpectedToReceive, task.response
                )
                sched_yield()
              }
              done.leave()
            }
          }
          task.resume()
          _ = await handed { hand in done.notify(queue: .global()) { hand(true) } }
          Process.require((task.error == nil) == number.isMultiple(of: 2), "\(path): \(String(describing: task.error))")
        }
        await origin.stop()
      }
    }

    @Test("after a failure the task has its error, as the delegate has; a cancelled one too")
    func failed() async throws {
      let closed = try ClosedPort()
      let url = try #require(URL(string: "http://127.0.0.1:\(closed.port)/"))
      let (one, other) = (Recorder(), Recorder())
      let plain = await run(URLSession(configuration: .ephemeral, delegate: one, delegateQueue: nil), url, one)
      let ours = await run(URLSession.intercepted(by: InterceptorRegistry { Link.pass() }, delegate: other), url, other)
      #expect((plain.error as? URLError)?.code == .cannotConnectToHost)
      #expect((ours.error as? URLError)?.code == .cannotConnectToHost)
      #expect(one.entries == other.entries)
      let started = Event()
      let recorder = Recorder()
      let registry = InterceptorRegistry { Link.waiting(started) }
      let task = URLSession.intercepted(by: registry, delegate: recorder).dataTask(with: url)
      #expect(task.state == .suspended)
      task.resume()
      await started.wait()
      #expect(task.state == .running)
      task.cancel()
      await recorder.finished.wait()
      #expect((task.error as? URLError)?.code == .cancelled)
    }
  }
#endif
