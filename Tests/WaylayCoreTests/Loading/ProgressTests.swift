import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("What an app is told while a load goes on", .timeLimit(.minutes(5)))
struct ProgressTests {
  /// A delegate that writes down what a plain session tells it too.
  private final class Listener: NSObject, URLSessionDataDelegate, Sendable {
    struct Sent: Sendable { let bytes, total, expected: Int64 }

    let sent = Log<Sent>()
    let data = Log<Data>()
    /// What came on another queue than the delegate's.
    let strays = Log<Data>()
    let heads = Log<Int>()
    let redirects = Log<URL?>()
    let finished = Event()

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
      totalBytesExpectedToSend: Int64
    ) {
      sent.add(Sent(bytes: bytesSent, total: totalBytesSent, expected: totalBytesExpectedToSend))
    }

    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
      completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
      heads.add((response as? HTTPURLResponse)?.statusCode ?? 0)
      completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      self.data.add(data)
      if OperationQueue.current !== session.delegateQueue { strays.add(data) }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest,
      completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      redirects.add(request.url)
      completionHandler(request)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      finished.happen()
    }
  }

  private static let body = Data(repeating: 65, count: 200_000)

  private func post(_ url: URL) -> URLRequest {
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    return request
  }

  private func expectWhole(
    _ sent: [Listener.Sent], of count: Int, expected: Int64, location: SourceLocation = #_sourceLocation
  ) {
    #expect(sent.last?.total == Int64(count) && sent.last?.expected == expected, sourceLocation: location)
    #expect(sent.reduce(0) { $0 + $1.bytes } == Int64(count), sourceLocation: location)
    #expect(zip(sent, sent.dropFirst()).allSatisfy { $0.total < $1.total }, sourceLocation: location)
  }

  @Test(
    "an upload's delegate is told of the bytes that were sent, and progress is complete",
    arguments: ["data", "file", "httpBody", "stream"])
  func uploads(kind: String) async throws {
    try await withOrigin { origin in
      let listener = Listener()
      let session = URLSession.intercepted(by: InterceptorRegistry { Link.pass() }, delegate: listener)
      let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      try Self.body.write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      var request = post(origin.url("/hello"))
      let task: URLSessionTask
      switch kind {
      case "data": task = session.uploadTask(with: request, from: Self.body)
      case "file": task = session.uploadTask(with: request, fromFile: file)
      case "httpBody":
        request.httpBody = Self.body
        task = session.dataTask(with: request)
      default:
        request.httpBodyStream = InputStream(data: Self.body)
        task = session.dataTask(with: request)
      }
      task.resume()
      await listener.finished.wait()
      expectWhole(listener.sent.all, of: Self.body.count, expected: kind == "stream" ? -1 : Int64(Self.body.count))
      #expect(task.progress.totalUnitCount == 200_005 && task.progress.completedUnitCount == 200_005)
      #expect(origin.requests.last?.body == Self.body)
    }
  }

  @Test("a body that is sent again counts once: progress never exceeds what was announced")
  func again() async throws {
    try await withOrigin { origin in
      let listener = Listener()
      let retry = Link(name: "Retry") { request, next in
        let first = try await next(request)
        _ = try await first.body.collect(upTo: 1000)
        return try await next(request)
      }
      let session = URLSession.intercepted(by: InterceptorRegistry { retry }, delegate: listener)
      let task = session.uploadTask(with: post(origin.url("/redirect/307?to=/hello")), from: Self.body)
      task.resume()
      await listener.finished.wait()
      expectWhole(listener.sent.all, of: Self.body.count, expected: Int64(Self.body.count))
      #expect(task.progress.completedUnitCount <= task.progress.totalUnitCount)
      #expect(origin.requests.count == 4)
    }
  }

  @Test(
    "a retry that sends more than was announced, or less, leaves progress within its bounds", arguments: [10, 500_000])
  func otherLength(count: Int) async throws {
    try await withOrigin { origin in
      let listener = Listener()
      let retry = Link(name: "Retry") { request, next in
        _ = try await next(request).body.collect(upTo: 1000)
        var other = request
        other.body = .data(Data(repeating: 66, count: count))
        return try await next(other)
      }
      let session = URLSession.intercepted(by: InterceptorRegistry { retry }, delegate: listener)
      let task = session.uploadTask(with: post(origin.url("/hello")), from: Self.body)
      // What an app shows is often a sum, whose fractions overflow where a part has more than all of it.
      let sum = Progress(totalUnitCount: 10)
      sum.addChild(task.progress, withPendingUnitCount: 10)
      task.resume()
      await listener.finished.wait()
      expectWhole(listener.sent.all, of: Self.body.count, expected: Int64(Self.body.count))
      #expect(origin.requests.map(\.body.count) == [Self.body.count, count])
      #expect(task.progress.completedUnitCount == task.progress.totalUnitCount)
      #expect(sum.fractionCompleted == 1)
    }
  }

  @Test("a body of unknown length, and an answer that is longer than it said, are never more than all")
  func unknown() async throws {
    try await withOrigin { origin in
      let body = Data(repeating: 67, count: 50_000)
      let lying = Link(name: "Lying") { request, next in
        var response = try await next(request)
        response.body = .stream(
          AsyncStream {
            $0.yield(body)
            $0.finish()
          }, length: 10)
        return response
      }
      for (links, received) in [([Link.pass()], 5), ([lying], 50_000)] {
        let listener = Listener()
        let session = URLSession.intercepted(by: InterceptorRegistry { for link in links { link } }, delegate: listener)
        var request = post(origin.url("/hello"))
        request.httpBodyStream = InputStream(data: Self.body)
        let task = session.dataTask(with: request)
        let sum = Progress(totalUnitCount: 10)
        sum.addChild(task.progress, withPendingUnitCount: 10)
        task.resume()
        await listener.finished.wait()
        #expect(task.progress.completedUnitCount == Int64(Self.body.count + received))
        #expect(task.progress.totalUnitCount == task.progress.completedUnitCount && sum.fractionCompleted == 1)
      }
    }
  }

  @Test(
    "progress ends complete, of a body whose length nobody knew, of an empty one and of none",
    arguments: ["/chunks/3", "/gzip", "/status/204", "/bytes/0", "HEAD /hello", "/bytes/100000"], [false, true])
  func complete(what: String, hasDelegate: Bool) async throws {
    try await withOrigin { origin in
      let parts = what.split(separator: " ")
      var request = URLRequest(url: origin.url(String(parts[parts.count - 1])))
      request.httpMethod = parts.count > 1 ? String(parts[0]) : "GET"
      for _ in 0..<25 {
        let listener = Listener()
        let session = URLSession.intercepted(by: InterceptorRegistry { Link.pass() }, delegate: listener)
        let done = Event()
        let task =
          hasDelegate ? session.dataTask(with: request) : session.dataTask(with: request) { _, _, _ in done.happen() }
        task.resume()
        await (hasDelegate ? listener.finished : done).wait()
        let (completed, total) = (task.progress.completedUnitCount, task.progress.totalUnitCount)
        #expect(completed == total && total > 0 && task.progress.fractionCompleted == 1, "\(completed) of \(total)")
        session.finishTasksAndInvalidate()
      }
    }
  }

  @Test("a download of data drives progress, with a completion handler too")
  func received() async throws {
    try await withOrigin { origin in
      let session = URLSession.intercepted(by: InterceptorRegistry { Link.pass() })
      let done = Event()
      let task = session.dataTask(with: origin.url("/bytes/300000")) { _, _, _ in done.happen() }
      task.resume()
      await done.wait()
      #expect(task.progress.totalUnitCount == 300_000 && task.progress.isFinished)
    }
  }

  @Test("data(from:delegate:) shows its delegate head and data as they come, and asks it about redirects")
  func asynchronous() async throws {
    try await withOrigin { origin in
      let session = URLSession.intercepted(by: InterceptorRegistry { Link.pass() })
      let listener = Listener()
      let (data, _) = try await session.data(from: origin.url("/redirect/302?to=/bytes/300000"), delegate: listener)
      await session.settled()
      #expect(listener.heads.all == [200] && data.count == 300_000)
      #expect(listener.data.all.reduce(Data(), +) == data && listener.strays.all.isEmpty)
      #expect(listener.redirects.all.map { $0?.path } == ["/bytes/300000"])
      let uploader = Listener()
      _ = try await session.upload(for: post(origin.url("/hello")), from: Self.body, delegate: uploader)
      await session.settled()
      expectWhole(uploader.sent.all, of: Self.body.count, expected: Int64(Self.body.count))
      #expect(uploader.data.all == [Data("hello".utf8)])
    }
  }

  @Test("an upload's progress comes before the response, also of one within the call", arguments: [false, true])
  func order(inline: Bool) async throws {
    final class Order: NSObject, URLSessionDataDelegate, Sendable {
      let calls = Log<String>()
      let finished = Event()

      func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
      ) {
        calls.add("sent \(totalBytesSent)")
      }

      func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
      ) {
        calls.add("response")
        completionHandler(.allow)
      }

      func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        finished.happen()
      }
    }
    let registry = InterceptorRegistry { Link.answer("mocked", inline: inline) }
    for _ in 0..<20 {
      let order = Order()
      let session = URLSession.intercepted(by: registry, delegate: order)
      session.uploadTask(with: post(.example), from: Self.body).resume()
      await order.finished.wait()
      #expect(order.calls.all == ["sent 200000", "response"])
      session.finishTasksAndInvalidate()
    }
  }

  @Test("the delegate of an async call is shown an answer of a mock, in one piece", arguments: [false, true])
  func mocked(inline: Bool) async throws {
    let session = URLSession.intercepted(by: InterceptorRegistry { Link.answer("mocked", inline: inline) })
    let listener = Listener()
    _ = try await session.data(from: .example, delegate: listener)
    await session.settled()
    #expect(listener.heads.all == [200] && listener.data.all == [Data("mocked".utf8)])
  }
}
