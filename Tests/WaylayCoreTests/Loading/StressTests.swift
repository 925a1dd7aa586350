import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("Under load", .timeLimit(.minutes(10)))
struct StressTests {
  /// What one load is to do, decided by its number.
  private enum Kind: Int, CaseIterable {
    case inline, async, delayed, streamed, failed, cancelled, network
  }

  private func url(_ number: Int) throws -> URL {
    try #require(URL(string: "http://stress.example.com/\(Kind.allCases[number % Kind.allCases.count])/\(number)"))
  }

  @Test("2 000 loads, 64 in flight, of all kinds: every answer right, none twice, none missing", .heavy)
  func mixed() async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry()
      registry.register(
        InterceptorChain("inline", for: .path("/inline/*")) {
          Link.answering(inline: true) { request in
            InterceptedResponse(to: request, body: .text(request.url.path))
          }
        })
      registry.register(
        InterceptorChain(
          "rest", for: .path("/async/*", "/delayed/*", "/streamed/*", "/failed/*", "/cancelled/*", "/network/*")
        ) {
          Link { request, next in
            let path = request.url.path
            switch path.split(separator: "/").first {
            case "delayed":
              for _ in 0..<20 { await Task.yield() }
            case "streamed":
              return InterceptedResponse(
                to: request,
                body: .stream(
                  AsyncStream {
                    for part in [path.prefix(4), path.dropFirst(4)] { $0.yield(Data(part.utf8)) }; $0.finish()
                  }))
            case "failed": throw URLError(.cannotParseResponse)
            case "cancelled":
              let never = Event()
              await withTaskCancellationHandler {
                await never.wait()
              } onCancel: {
                never.happen()
              }
              throw CancellationError()
            case "network":
              var request = request
              request.url = origin.url("/echo?\(path)")
              var response = try await next(request)
              let echo = try JSONDecoder().decode(Echo.self, from: try await response.body.collect(upTo: 10_000))
              response.fields = [:]
              response.body = .text(String(echo.target.dropFirst("/echo?".count)))
              return response
            default: break
            }
            return InterceptedResponse(to: request, body: .text(path))
          }
        })
      let session = URLSession.intercepted(by: registry)
      let recorderSession = URLSession.intercepted(by: registry, delegate: CountingDelegate())
      let numbers = Locked(0)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<64 {
          group.addTask {
            while let number = numbers.withLock({ next -> Int? in
              defer { next += 1 }
              return next < 2_000 ? next : nil
            }) {
              let url = try url(number)
              let used = number % 3 == 0 ? recorderSession : session
              switch Kind.allCases[number % Kind.allCases.count] {
              case .failed:
                #expect(await failureCode { try await used.data(from: url) } == .cannotParseResponse)
              case .cancelled:
                let task = Task { try await used.data(from: url) }
                for _ in 0..<number % 50 { await Task.yield() }
                task.cancel()
                #expect(await failureCode { try await task.value } == .cancelled)
              default:
                let (data, _) = try await used.data(from: url)
                #expect(data == Data(url.path.utf8))
              }
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test("500 delegate tasks with suspends and cancels mixed in complete once each")
  func delegateTasks() async throws {
    let registry = InterceptorRegistry {
      Link { request, _ in
        await Task.yield()
        return InterceptedResponse(
          to: request,
          body: .stream(
            AsyncStream {
              for part in ["a", "b", "c"] { $0.yield(Data(part.utf8)) }; $0.finish()
            }))
      }
    }
    let delegate = CountingDelegate()
    let session = URLSession.intercepted(by: registry, delegate: delegate)
    for number in 0..<500 {
      let task = session.dataTask(with: try url(number))
      task.resume()
      if number % 3 == 0 {
        task.suspend()
        task.resume()
      }
      if number % 5 == 0 { task.cancel() }
    }
    await delegate.until(500)
    #expect(delegate.completions.values.allSatisfy { $0.count == 1 })
    #expect(delegate.completions.values.allSatisfy { $0.first == .some(nil) || $0.first == .cancelled })
    #expect(
      delegate.completions.filter { $0.value.first == .some(nil) }.allSatisfy { delegate.bodies[$0.key] == "abc" })
  }

  @Test("200 installations with conflicting answers for one URL, at once: every answer its own")
  func isolation() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        group.addTask {
          let registry = InterceptorRegistry { Link.answer("answer \(number)", inline: number.isMultiple(of: 2)) }
          let session = URLSession.intercepted(by: registry)
          for _ in 0..<5 {
            let answer = try await session.text(from: .example)
            #expect(answer == (200, "answer \(number)"))
          }
          session.finishTasksAndInvalidate()
          registry.invalidate()
        }
      }
      try await group.waitForAll()
    }
  }
}

/// Counts what each task is told.
private final class CountingDelegate: NSObject, URLSessionDataDelegate, Sendable {
  private let ended = Locked<[Int: [URLError.Code?]]>([:])
  private let received = Locked<[Int: String]>([:])
  private let waiting = Locked<(count: Int, event: Event)?>(nil)

  var completions: [Int: [URLError.Code?]] { ended.withLock { $0 } }
  var bodies: [Int: String] { received.withLock { $0 } }

  func until(_ count: Int) async {
    let event = Event()
    waiting.withLock { $0 = (count, event) }
    check()
    await event.wait()
  }

  private func check() {
    guard let waiting = waiting.withLock({ $0 }) else { return }
    if completions.count >= waiting.count { waiting.event.happen() }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    received.withLock { $0[dataTask.taskIdentifier, default: ""] += String(decoding: data, as: UTF8.self) }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    ended.withLock { $0[task.taskIdentifier, default: []].append((error as? URLError)?.code) }
    check()
  }
}
