#if canImport(FoundationNetworking)
  import Foundation
  import TestSupport
  import Testing
  import WaylayCore

  /// `suspend()` and `resume()` around the end of a task, where Foundation on Linux goes on without a protocol object
  /// (P31).
  @Suite("resume() that crosses the end of a task", .timeLimit(.minutes(10)))
  struct TaskEndTests {
    /// Calls a task's `resume()` as the last thing a delegate is told.
    private final class Resuming: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, Sendable {
      let finished = Event()
      let codes = Log<URLError.Code?>()

      func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)
      {
        downloadTask.resume()
      }

      func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        codes.add((error as? URLError)?.code)
        task.suspend()
        task.resume()
        task.resume()
        session.delegateQueue.addOperation { self.finished.happen() }
      }
    }

    private static func registry(_ kind: String, _ chains: Log<Int> = Log()) -> InterceptorRegistry {
      InterceptorRegistry {
        Link.answering(inline: kind == "inline") { request in
          chains.add(1)
          if kind == "failure" { throw URLError(.cannotParseResponse) }
          return InterceptedResponse(to: request, body: .text("hello"))
        }
      }
    }

    /// Waits until the loading system's queue has done what it has now.
    private func flush(_ task: URLSessionTask) { _ = task.priority }

    @Test(
      "inside the last call to the delegate: the task stays as it ended",
      arguments: ["inline", "later", "download", "failure"])
    func delegate(kind: String) async throws {
      let delegate = Resuming()
      let session = URLSession.intercepted(by: Self.registry(kind), delegate: delegate)
      let task = kind == "download" ? session.downloadTask(with: .example) : session.dataTask(with: .example)
      task.resume()
      await delegate.finished.wait()
      flush(task)
      #expect(delegate.codes.all == [kind == "failure" ? .cannotParseResponse : nil])
      #expect(task.state == .completed)
      // The loading system's own word for a task that finds no protocol.
      #expect((task.error as? URLError)?.code != .unsupportedURL)
    }

    @Test("inside a completion handler: the task stays as it ended", arguments: ["inline", "later", "failure"])
    func handler(kind: String) async throws {
      let session = URLSession.intercepted(by: Self.registry(kind))
      let own = Locked<URLSessionTask?>(nil)
      let done = Event()
      let task = session.dataTask(with: .example) { _, _, _ in
        own.withLock { $0 }?.resume()
        session.delegateQueue.addOperation { done.happen() }
      }
      own.withLock { $0 = task }
      task.resume()
      await done.wait()
      own.withLock { $0 = nil }
      flush(task)
      #expect(task.state == .completed && (task.error as? URLError)?.code != .unsupportedURL)
    }

    @Test(
      "twice, while the delegate's queue is held up: the chain runs once, and the task ends once",
      arguments: ["inline", "later"])
    func twice(kind: String) async throws {
      let chains = Log<Int>()
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      queue.isSuspended = true
      let session = URLSession(
        configuration: .ephemeral.intercepted(by: Self.registry(kind, chains)), delegate: nil, delegateQueue: queue)
      let ends = Log<Int>()
      let all = Event()
      let count = 100
      let tasks = (0..<count).map { number in
        session.dataTask(with: .example) { _, _, _ in
          ends.add(number)
          if ends.all.count == count { all.happen() }
        }
      }
      for task in tasks {
        for _ in 0..<3 { task.resume() }
      }
      // All chains are over before the first task is; a queue tells nobody how many operations it has.
      while queue.operationCount < count { try await Task.sleep(for: .milliseconds(5)) }
      for task in tasks { flush(task) }
      queue.isSuspended = false
      await all.wait()
      await session.settled()
      #expect(chains.all.count == count && ends.all.sorted() == Array(0..<count))
      #expect(tasks.allSatisfy { $0.error == nil })
    }

    @Test("from other threads, many hundred times: the process lives, and each task ends once", .exitTest)
    func crossing() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        let sessions = ["later", "inline"].map { URLSession.intercepted(by: TaskEndTests.registry($0)) }
        let ends = Locked(0)
        let count = 400
        for number in 0..<count {
          let done = DispatchGroup()
          done.enter()
          // Not the task's state: a `resume()` that crosses the end may take that back (P31).
          let isOver = Locked(false)
          let task = sessions[number % 2].dataTask(with: .example) { data, _, error in
            if data == Data("hello".utf8), error == nil { ends.withLock { $0 += 1 } }
            isOver.withLock { $0 = true }
            done.leave()
          }
          for suspends in [true, false] {
            done.enter()
            Thread.detachNewThread {
              while !isOver.withLock({ $0 }) {
                if suspends { task.suspend() }
                task.resume()
                sched_yield()
              }
              // Once more, while the task leaves its session.
              task.resume()
              done.leave()
            }
          }
          _ = await handed { hand in done.notify(queue: .global()) { hand(true) } }
        }
        Process.require(ends.withLock { $0 } == count, "\(ends.withLock { $0 }) of \(count) ended well")
      }
    }
  }
#endif
