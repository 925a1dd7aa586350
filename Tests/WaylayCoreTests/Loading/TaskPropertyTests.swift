#if canImport(FoundationNetworking)
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore

  /// The properties of a task, as the table of "What differs on Linux and on Apple" has them.
  @Suite("Properties of a task", .timeLimit(.minutes(5)))
  struct TaskPropertyTests {
    private func run(_ session: URLSession, _ url: URL, _ recorder: Recorder) async -> URLSessionDataTask {
      let task = session.dataTask(with: url)
      task.taskDescription = "described"
      task.priority = 0.75
      task.resume()
      await recorder.finished.wait()
      return task
    }

    @Test("what is equal to a plain session's, and what stays behind because it cannot be set")
    func succeeded() async throws {
      try await withOrigin { origin in
        let url = origin.url("/redirect/302?to=/bytes/1000")
        let (one, other) = (Recorder(), Recorder())
        let plain = await run(URLSession(configuration: .ephemeral, delegate: one, delegateQueue: nil), url, one)
        let ours = await run(URLSession.intercepted(by: InterceptorRegistry { Link.pass() }, delegate: other), url, other)
        #expect(ours.taskIdentifier == plain.taskIdentifier && ours.originalRequest?.url == plain.originalRequest?.url)
        #expect(ours.taskDescription == "described" && ours.priority == 0.75)
        #expect(ours.response?.url == plain.response?.url && ours.response?.expectedContentLength == 1000)
        #expect((ours.response as? HTTPURLResponse)?.statusCode == (plain.response as? HTTPURLResponse)?.statusCode)
        #expect(ours.error == nil && plain.error == nil)
        #expect(plain.currentRequest?.url?.path == "/bytes/1000" && ours.currentRequest?.url?.path == "/redirect/302")
        #expect(plain.countOfBytesExpectedToReceive == 1000 && ours.countOfBytesExpectedToReceive == 0)
        #expect(ours.countOfBytesReceived == 0 && ours.countOfBytesSent == 0)
      }
    }

    @Test("after a failure a plain task has its error, and ours has given it to the delegate; a cancelled one has it in both")
    func failed() async throws {
      let closed = try ClosedPort()
      let url = try #require(URL(string: "http://127.0.0.1:\(closed.port)/"))
      let (one, other) = (Recorder(), Recorder())
      let plain = await run(URLSession(configuration: .ephemeral, delegate: one, delegateQueue: nil), url, one)
      let ours = await run(URLSession.intercepted(by: InterceptorRegistry { Link.pass() }, delegate: other), url, other)
      #expect((plain.error as? URLError)?.code == .cannotConnectToHost && ours.error == nil)
      #expect(one.entries == other.entries)
      let started = Event()
      let recorder = Recorder()
      let registry = InterceptorRegistry {
        Link { _, _ in
          started.happen()
          await Event().wait()
          throw CancellationError()
        }
      }
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
