import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

/// Loads made the way well-known clients make them, many at once. The shapes are theirs, the code is not.
///
/// `WAYLAY_CLIENT_LOADS` is how many loads each shape makes.
@Suite("Clients of many shapes, 64 loads in flight", .heavy, .timeLimit(.minutes(20)))
struct ClientShapeTests {
  private static let loads = ProcessInfo.processInfo.environment["WAYLAY_CLIENT_LOADS"].flatMap(Int.init) ?? 256

  private func many(_ body: @escaping @Sendable (Int) async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<Self.loads {
        if number >= 64 { try await group.next() }
        group.addTask { try await body(number) }
      }
      try await group.waitForAll()
    }
  }

  private static func registry() -> InterceptorRegistry {
    InterceptorRegistry {
      Link.pass("Outer")
      Link(name: "Retry") { request, next in
        let response = try await next(request)
        guard response.status == .serviceUnavailable else { return response }
        return try await next(request)
      }
    }
  }

  private func post(_ url: URL) -> URLRequest {
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
    return request
  }

  private static func payload(_ number: Int) -> Data {
    Data("payload \(number) ".utf8) + Data(repeating: 65, count: number * 37 % 60_000)
  }

  // MARK: A transport of generated code: a session and a delegate for each call, streams both ways

  // On Linux no data reaches a delegate that only the task has (U1).

  /// Hands a response on as it comes, and suspends the task while its reader is behind.
  private final class StreamingDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private struct State {
      var head: (@Sendable (Result<HTTPURLResponse, any Error>) -> Void)?
      var waiting = 0
      var isSuspended = false
    }

    private let state = Locked(State())
    private let upload: Data
    let chunks: AsyncThrowingStream<Data, any Error>
    private let feed: AsyncThrowingStream<Data, any Error>.Continuation

    init(upload: Data) {
      self.upload = upload
      (chunks, feed) = AsyncThrowingStream.makeStream()
    }

    func start(_ request: URLRequest, in session: URLSession) async throws -> (URLSessionTask, HTTPURLResponse) {
      let task = session.uploadTask(withStreamedRequest: request)
      let head = await handed(Result<HTTPURLResponse, any Error>.self) { hand in
        state.withLock { $0.head = hand }
        task.resume()
      }
      guard let head else { throw CancellationError() }
      return (task, try head.get())
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
      completionHandler(InputStream(data: upload))
    }

    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
      completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
      completionHandler(.allow)
      guard let head = response as? HTTPURLResponse else { return }
      takeHead()?(.success(head))
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      feed.yield(data)
      let shouldSuspend = state.withLock { state in
        state.waiting += data.count
        guard state.waiting > 16_384, !state.isSuspended else { return false }
        state.isSuspended = true
        return true
      }
      if shouldSuspend { dataTask.suspend() }
    }

    private func takeHead() -> (@Sendable (Result<HTTPURLResponse, any Error>) -> Void)? {
      state.withLock { state in
        defer { state.head = nil }
        return state.head
      }
    }

    /// On the delegate's queue, because a `resume()` that overtakes the `suspend()` before it would leave the task
    /// suspended for good.
    func taken(_ count: Int, of task: URLSessionTask, in session: URLSession) {
      session.delegateQueue.addOperation { [self] in
        let shouldResume = state.withLock { state in
          state.waiting -= count
          guard state.waiting < 4096, state.isSuspended else { return false }
          state.isSuspended = false
          return true
        }
        if shouldResume { task.resume() }
      }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      if let error {
        takeHead()?(.failure(error))
        feed.finish(throwing: error)
      } else {
        feed.finish()
      }
    }
  }

  @Test("generated clients: request and response as streams, the task suspended while its reader is behind")
  func streaming() async throws {
    try await withOrigin { origin in
      origin.reply(to: "/mirror") { .init(200, [], .whole($0.body)) }
      let registry = Self.registry()
      try await many { number in
        let payload = Self.payload(number)
        let delegate = StreamingDelegate(upload: payload)
        let session = URLSession.intercepted(by: registry, delegate: delegate)
        defer { session.finishTasksAndInvalidate() }
        let (task, head) = try await delegate.start(self.post(origin.url("/mirror")), in: session)
        #expect(head.statusCode == 200)
        var received = Data()
        for try await chunk in delegate.chunks {
          received += chunk
          delegate.taken(chunk.count, of: task, in: session)
        }
        #expect(received == payload)
      }
    }
  }

  // MARK: A small async client: async calls with a delegate for each, values decoded, a token renewed on a 401

  @Test("small async clients: a delegate for each call, errors by status, one retry with a new token")
  func asynchronous() async throws {
    try await withOrigin { origin in
      let session = URLSession.intercepted(by: Self.registry())
      try await many { number in
        var request = URLRequest(url: origin.url("/bearer/token-\(number)"))
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        let (_, refused) = try await session.data(for: request, delegate: Recorder())
        #expect((refused as? HTTPURLResponse)?.statusCode == 401)
        request.setValue("Bearer token-\(number)", forHTTPHeaderField: "Authorization")
        let recorder = Recorder()
        let (data, response) = try await session.data(for: request, delegate: recorder)
        #expect((response as? HTTPURLResponse)?.statusCode == 200 && data == Data("welcome".utf8))
        let echoed = try await session.upload(for: self.post(origin.url("/echo")), from: Data("body \(number)".utf8)).0
        #expect(try JSONDecoder().decode(Echo.self, from: echoed).body == "body \(number)")
        if number % 8 == 0 {
          let (file, _) = try await session.download(from: origin.url("/range/\(1000 + number)"))
          #expect((try? Data(contentsOf: file))?.count == 1000 + number)
          try? FileManager.default.removeItem(at: file)
        }
      }
    }
  }

  // MARK: A large client: one session delegate for everything, a table of requests, tasks of all kinds, cancellations

  private final class Central: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, Sendable {
    struct Result: Sendable {
      var data = Data()
      var sent: Int64 = 0
      var error: URLError?
    }

    private struct Entry {
      var result = Result()
      var done: (@Sendable (Result) -> Void)?
    }

    private let table = Locked<[Int: Entry]>([:])

    func run(_ task: URLSessionTask, cancelling: Bool = false) async -> Result {
      let result = await handed(Result.self) { hand in
        table.withLock { $0[task.taskIdentifier] = Entry(done: hand) }
        task.resume()
        if cancelling { task.cancel() }
      }
      return result ?? Result(error: URLError(.unknown))
    }

    private func change(_ task: URLSessionTask, _ change: (inout Result) -> Void) {
      table.withLock { table in
        guard var entry = table[task.taskIdentifier] else { return }
        change(&entry.result)
        table[task.taskIdentifier] = entry
      }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      change(dataTask) { $0.data += data }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
      totalBytesExpectedToSend: Int64
    ) {
      change(task) { $0.sent += bytesSent }
    }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
      let data = (try? Data(contentsOf: location)) ?? Data()
      change(downloadTask) { $0.data = data }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest,
      completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      DispatchQueue.global().async { completionHandler(request) }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      completionHandler(.useCredential, URLCredential(user: "me", password: "secret", persistence: .none))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      let entry = table.withLock { $0.removeValue(forKey: task.taskIdentifier) }
      guard var result = entry?.result else { return }
      result.error = error as? URLError
      entry?.done?(result)
    }
  }

  @Test("large clients: one delegate for data, uploads and downloads, redirects, challenges and cancellations mixed")
  func central() async throws {
    try await withOrigin { origin in
      let central = Central()
      let session = URLSession.intercepted(by: Self.registry(), delegate: central)
      try await many { number in
        let payload = Self.payload(number)
        switch number % 6 {
        case 0:
          let result = await central.run(session.dataTask(with: origin.url("/redirect/302?to=/range/\(2000 + number)")))
          #expect(result.error == nil && result.data.count == 2000 + number)
        case 1:
          let result = await central.run(session.uploadTask(with: self.post(origin.url("/hello")), from: payload))
          #expect(result.error == nil && result.sent == Int64(payload.count))
        case 2:
          let result = await central.run(session.downloadTask(with: origin.url("/range/\(50_000 + number)")))
          #expect(result.error == nil && result.data.count == 50_000 + number)
        case 3:
          let result = await central.run(session.dataTask(with: origin.url("/digest/me/secret")))
          #expect(result.error == nil && result.data == Data("welcome me".utf8))
        case 4:
          let task =
            number % 4 == 0
            ? session.dataTask(with: origin.url("/never")) : session.downloadTask(with: origin.url("/never"))
          #expect(await central.run(task, cancelling: true).error?.code == .cancelled)
        default:
          let result = await central.run(session.downloadTask(with: origin.url("/truncated")))
          #expect(result.error?.code == .networkConnectionLost)
        }
      }
    }
  }
}
