// About Foundation on Linux: this file is empty elsewhere.
#if canImport(FoundationNetworking)
  import Dispatch
  import Foundation
  import TestSupport
  import Testing

  @testable @_spi(Benchmarks) import WaylayCore

  /// How the caller of an `async` function learns that its task has ended (P27, P34).
  @Suite("The caller of an async function", .timeLimit(.minutes(20)))
  struct CallerTests {
    /// The functions, by what they make.
    enum Call: CaseIterable {
      case data, upload, download

      func run(_ url: URL, in session: URLSession, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> String
      {
        switch self {
        case .data: return String(decoding: try await session.data(from: url, delegate: delegate).0, as: UTF8.self)
        case .upload:
          var request = URLRequest(url: url)
          request.httpMethod = "POST"
          let body = Data("body".utf8)
          return String(
            decoding: try await session.upload(for: request, from: body, delegate: delegate).0, as: UTF8.self)
        case .download:
          let file = try await session.download(from: url, delegate: delegate).0
          defer { try? FileManager.default.removeItem(at: file) }
          return try String(contentsOf: file, encoding: .utf8)
        }
      }
    }

    private static func url(_ number: Int) -> URL {
      URL(string: "http://calls.example.com/\(number)") ?? .example
    }

    @Test(
      "gets what the chain answers or throws, whether cancelling waits, does not, or nobody knows yet", .exitTest)
    func seam() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        for answer in [Cancellation.waits, .returns, nil] {
          Cancellation.assume(answer)
          for isInline in [true, false] {
            let registry = InterceptorRegistry {
              Link.answering(inline: isInline) { request in
                guard request.url.path != "/0" else { throw URLError(.cannotFindHost) }
                return InterceptedResponse(to: request, body: .text(request.url.path))
              }
            }
            for delegate in [nil, Recorder()] {
              for call in Call.allCases {
                let session = URLSession.intercepted(by: registry)
                for number in 1...20 {
                  let text = try await call.run(CallerTests.url(number), in: session, delegate: delegate)
                  Process.require(text == "/\(number)", "\(call), \(String(describing: answer)): \(text)")
                }
                let code = await failureCode { try await call.run(CallerTests.url(0), in: session, delegate: delegate) }
                Process.require(code == .cannotFindHost, "\(call): \(String(describing: code))")
              }
            }
          }
        }
      }
    }

    @Test("is told by a handler of ours where there is no delegate, and on the delegate queue after one")
    func handlers() async throws {
      // Also with a Foundation that needs none of it. What is safe there as well may stay for other tests.
      Cancellation.assume(.waits)
      let replaced = Log<String>()
      let (session, url) = Probe.session(
        Probe.Script(start: { loader in
          if let task = loader.task {
            let isReplaced = TaskInternals.caller(of: task) != nil
            replaced.add("\(isReplaced) \(TaskInternals.tellsInline?.read(from: task) ?? true)")
          }
          loader.client?.urlProtocol(loader, didFailWithError: URLError(.badURL))
        }))
      for call in Call.allCases {
        _ = await failureCode { try await call.run(url, in: session) }
        _ = await failureCode { try await call.run(url, in: session, delegate: Recorder()) }
      }
      #expect(replaced.all == Call.allCases.flatMap { _ in ["true true", "false false"] })
      _ = await complete(session, url)
      #expect(replaced.all.last == "false false", "a completion handler is told on the delegate queue anyway")
    }

    @Test("is told after its delegate", arguments: [true, false])
    func order(isInline: Bool) async throws {
      let session = URLSession.intercepted(by: InterceptorRegistry { Link.answer("hello", inline: isInline) })
      for _ in 0..<50 {
        let recorder = Recorder()
        _ = try await session.data(from: .example, delegate: recorder)
        #expect(recorder.entries.contains(.data("hello")))
      }
    }

    @Test("whose cancellation's handler waits for the queue is told all the same", .exitTest)
    func waitingHandler() async {
      await #expect(processExitsWith: .success) {
        Process.limit(seconds: 60)
        Cancellation.assume(.waits)
        for isInline in [true, false] {
          for _ in 0..<200 {
            let call = Locked<Task<Void, Never>?>(nil)
            let session = URLSession.intercepted(
              by: InterceptorRegistry {
                Link.answering(inline: isInline) { request in
                  // The cancellation is under way, and holds what resuming the caller takes.
                  let begun = DispatchSemaphore(value: 0)
                  Thread.detachNewThread {
                    var task = call.withLock { $0 }
                    while task == nil { task = call.withLock { $0 } }
                    begun.signal()
                    task?.cancel()
                  }
                  begun.wait()
                  return InterceptedResponse(to: request, body: .text("hello"))
                }
              })
            let task = Task {
              await withTaskCancellationHandler {
                _ = try? await session.data(from: .example)
              } onCancel: {
                // Waits for the work queue, as the cancellation of a task does.
                session.invalidateAndCancel()
              }
            }
            call.withLock { $0 = task }
            await task.value
          }
        }
      }
    }

    // MARK: Cancelled calls

    /// When a call is cancelled.
    private enum Moment: CaseIterable { case beforeStart, aroundResponse, random }

    /// A call, and the thread that cancels it.
    private final class Cancelled: Sendable {
      private let task = Locked<Task<Void, Never>?>(nil)
      private let isDue = DispatchSemaphore(value: 0)

      func begin(_ moment: Moment, _ body: @escaping @Sendable () async -> Void) async {
        Thread.detachNewThread { [self] in
          switch moment {
          case .beforeStart: break
          case .aroundResponse: isDue.wait()
          case .random: for _ in 0..<Int.random(in: 0..<400) { sched_yield() }
          }
          while true {
            guard let known = self.task.withLock({ $0 }) else { continue }
            return known.cancel()
          }
        }
        let task = Task { await body() }
        self.task.withLock { $0 = task }
        await task.value
        isDue.signal()
      }

      /// The response is about to be told. Every other time it waits for the cancellation to have begun.
      func respond(_ waits: Bool) {
        isDue.signal()
        while waits, task.withLock({ $0?.isCancelled }) != true { sched_yield() }
      }
    }

    @Test(
      "ends once, cancelled before startLoading, around the response or at random, whatever kind of task it has",
      .exitTest)
    func cancelled() async {
      await #expect(processExitsWith: .success) {
        Process.limit(seconds: 3_000)
        let count = Sizes.of(15_000, small: 60)
        for moment in Moment.allCases {
          for call in Call.allCases {
            for isInline in [true, false] {
              let calls = Locked<[Int: Cancelled]>([:])
              let registry = InterceptorRegistry {
                Link.answering(inline: isInline) { request in
                  let number = Int(request.url.lastPathComponent) ?? 0
                  if moment == .aroundResponse { calls.withLock { $0[number] }?.respond(number % 2 == 0) }
                  return InterceptedResponse(to: request, body: .text(request.url.path))
                }
              }
              let session = URLSession.intercepted(by: registry)
              let ends = Locked<[Bool: Int]>([:])
              await withTaskGroup(of: Void.self) { group in
                for number in 0..<count {
                  if number >= 16 { await group.next() }
                  group.addTask {
                    let own = Cancelled()
                    calls.withLock { $0[number] = own }
                    await own.begin(moment) {
                      do {
                        let text = try await call.run(CallerTests.url(number), in: session)
                        Process.require(text == "/\(number)", text)
                        ends.withLock { $0[true, default: 0] += 1 }
                      } catch {
                        Process.require((error as? URLError)?.code == .cancelled, "\(error)")
                        ends.withLock { $0[false, default: 0] += 1 }
                      }
                    }
                    calls.withLock { $0[number] = nil }
                  }
                }
              }
              print("\(moment), \(call), \(isInline ? "inline" : "later"): \(ends.withLock { $0 })")
              session.invalidateAndCancel()
              registry.invalidate()
            }
          }
        }
      }
    }

    // MARK: What cancelling does

    @Test("a cancellation that returns while its queue is suspended does not wait; one that is late does")
    func probe() async {
      func answer(_ cancel: @escaping @Sendable (DispatchQueue) -> Void) async -> Cancellation? {
        await handed { hand in
          let queue = DispatchQueue(label: "probe")
          Cancellation.probe(queue, within: .milliseconds(300), { cancel(queue) }, hand)
        }
      }
      #expect(await answer { queue in queue.async {} } == .returns)
      #expect(await answer { queue in queue.sync {} } == .waits)
    }

    @Test("what is found out is true: a cancellation on the work queue ends the process where it waits", .exitTest)
    func truth() async {
      let found = await handed(Cancellation.self) { Cancellation.probe($0) }
      let trap = ExitTest.Condition.failure
      await #expect(processExitsWith: found == .returns ? .success : trap) {
        Process.limit(isToFail: true)
        await Probe.cancelOnWorkQueue()
      }
    }
  }
#endif
