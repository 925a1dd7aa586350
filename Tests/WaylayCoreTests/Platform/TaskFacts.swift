#if canImport(FoundationNetworking)
  import Foundation
  import TestSupport
  import Testing

  @testable import WaylayCore

  @Suite("Platform facts: the end of a task, and what is written down about it", .facts, .timeLimit(.minutes(5)))
  struct TaskFacts {
    @Test("P1, P4: a task's queues, its session and its delegate are stored where they can be read at once")
    func places() async {
      let (session, url) = Probe.session(
        Probe.Script(start: { loader in
          if let task = loader.task { _ = try? TaskInternals.session(of: task) }
          loader.client?.urlProtocol(loader, didFailWithError: URLError(.badURL))
        }))
      _ = try? await session.data(from: url)
      #expect(InterceptorRegistry.canIntercept)
      #expect(
        TaskInternals.readsStored,
        "a property of a task or a session is another or gone: loads go on by reflection, which takes longer, or fail")
    }

    @Test(
      """
      P4, P25: the delegate of a task is found by reflection once, and read where it is stored from then on, with the \
      delegate of the call
      """
    )
    func behaviours() async throws {
      final class Listening: NSObject, URLSessionTaskDelegate {}
      let behaviours = try #require(TaskBehaviours())
      let delegate = Listening()
      let seen = Locked<[String]>([])
      let (session, url) = Probe.session(
        Probe.Script(start: { loader in
          if let task = loader.task, let session = try? TaskInternals.session(of: task) {
            let found = behaviours.behaviour(of: task, in: session)
            let whose = found?.delegate.map { $0 === delegate ? "its delegate" : "another's delegate" } ?? "no delegate"
            seen.withLock { $0.append("\(found?.name ?? "-"), \(whose)") }
          }
          loader.client?.urlProtocol(loader, didFailWithError: URLError(.badURL))
        }))
      for _ in 1...3 {
        _ = try? await session.data(from: url)
        _ = try? await session.data(for: URLRequest(url: url), delegate: delegate)
        await withCheckedContinuation { done in session.dataTask(with: url) { _, _, _ in done.resume() }.resume() }
      }
      let round = [
        "dataCompletionHandlerWithTaskDelegate, no delegate", "dataCompletionHandlerWithTaskDelegate, its delegate",
        "dataCompletionHandler, no delegate",
      ]
      #expect(seen.withLock { $0 } == round + round + round)
      #expect(
        behaviours.knownCount == 2,
        "what a session keeps of its tasks' ends is stored in another way: each load reflects upon it")
    }

    @Test("P31: resume() inside a completion handler fails the task anew, which a raised count of suspensions prevents")
    func resumed() async {
      #expect(
        TaskInternals.closesTasks,
        "P31 has changed: suspendCount is not where it was, so a late resume() can end the process")
      let (session, url) = Probe.session()
      let own = Locked<URLSessionTask?>(nil)
      let done = Event()
      let task = session.dataTask(with: url) { _, _, _ in
        own.withLock { $0 }?.resume()
        session.delegateQueue.addOperation { done.happen() }
      }
      own.withLock { $0 = task }
      task.resume()
      await done.wait()
      own.withLock { $0 = nil }
      // Waits for the queue that the loading system works on.
      _ = task.priority
      #expect(
        (task.error as? URLError)?.code == .unsupportedURL,
        "P31 has changed: TaskInternals.close may not be needed any more")
    }

    @Test("P33: a task's error, current request and counters are stored properties that can be written")
    func record() async throws {
      #expect(
        TaskRecord.known != nil,
        "P33 has changed: error, currentRequest and the counters of a task stay as they were made")
      let (session, url) = Probe.session(
        Probe.Script(start: { $0.client?.urlProtocol($0, didFailWithError: URLError(.badURL)) }))
      let done = Event()
      let task = session.dataTask(with: url) { _, _, _ in done.happen() }
      task.resume()
      await done.wait()
      #expect(
        task.error == nil,
        "P33 has changed: Foundation writes down the error of a protocol class, so TaskRecord need not")
    }

    @Test(
      "P34: the caller of an async function is told inside the protocol's last call, unless a property says otherwise")
    func inline() async throws {
      let property = try #require(TaskInternals.tellsInline, "P34 has changed: see TaskCaller")
      let seen = Locked<[Bool]>([])
      for isKept in [true, false] {
        let (session, url) = Probe.session(
          Probe.Script(start: { loader in
            guard let task = loader.task else { return }
            seen.withLock { $0.append(property.read(from: task)) }
            if !isKept { property.write(false, into: task) }
            loader.client?.urlProtocol(loader, didFailWithError: URLError(.badURL))
            // Whoever is told inside the call has been told by now.
            seen.withLock { $0.append(task.state == .completed) }
          }))
        // The queue on which it is told instead has to wait for the call's end.
        let blocked = DispatchSemaphore(value: 0)
        if !isKept { session.delegateQueue.addOperation { blocked.wait() } }
        let task = Task { try? await session.data(from: url) }
        while seen.withLock({ $0.count }) < (isKept ? 2 : 4) { await Task.yield() }
        blocked.signal()
        _ = await task.value
      }
      #expect(seen.withLock { $0 } == [true, true, true, false], "P34 has changed: see TaskCaller")
    }

    @Test("a cancellation that waits for the queue of a load that is just ending does not stop the process", .exitTest)
    func cancelledAtTheEnd() async {
      await #expect(processExitsWith: .success) {
        Process.limit(seconds: 60)
        let (answer, gate) = (Event(), DispatchSemaphore(value: 0))
        let registry = InterceptorRegistry {
          Link(name: "held") { request, _ in
            await answer.wait()
            return InterceptedResponse(status: .ok, url: request.url, body: .text("hello"))
          }
        }
        let session = URLSession.intercepted(by: registry)
        let url = try #require(URL(string: "http://a.test/"))
        guard let queue = TaskInternals.workQueue(of: session) else { return Process.require(false, "no work queue") }
        var events = registry.events().makeAsyncIterator()
        let call = Task { try? await session.data(from: url).0 }
        while let event = await events.next(), event.kind != .started {}
        // The answer and the cancellation wait for the queue.
        queue.async { gate.wait() }
        answer.happen()
        Thread.detachNewThread { call.cancel() }
        while !call.isCancelled { await Task.yield() }
        gate.signal()
        _ = await call.value
      }
    }
  }
#endif
