// Facts of Foundation on Linux: this file is empty elsewhere.
#if canImport(FoundationNetworking)
  import Foundation
  import TestSupport
  import WaylayCore

  /// A protocol class whose loads do what a test says, and nothing else: what Foundation does is seen without this
  /// package between.
  final class Probe: URLProtocol {
    /// Visible in whatever runs in the task that resumes a load.
    @TaskLocal static var note = "none"

    struct Script: Sendable {
      var start: @Sendable (Probe) -> Void = { $0.answer() }
      var stop: @Sendable (Probe) -> Void = { _ in }
    }

    /// What to do, by host; a test uses a host of its own, because a class is as global as it is.
    private static let scripts = Locked<[String: Script]>([:])
    static let log = ProbeLog()

    let seenNote: String

    /// A session that asks this class, and a URL on a host of its own.
    static func session(
      _ script: Script = Script(), delegate: (any URLSessionDelegate)? = nil,
      _ change: (URLSessionConfiguration) -> Void = { _ in }
    ) -> (URLSession, URL) {
      let host = "probe-\(UUID().uuidString.lowercased()).invalid"
      scripts.withLock { $0[host] = script }
      let configuration = URLSessionConfiguration.ephemeral
      configuration.protocolClasses = [Probe.self]
      configuration.urlCache = nil
      change(configuration)
      let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
      // The one text that is a URL whatever the host's digits are.
      return (session, URL(string: "http://\(host)/page")!)
    }

    /// Cancels a task of another session on the queue that all sessions share, and ends when the load that does it has.
    static func cancelOnWorkQueue() async {
      let (other, otherURL) = session(Script(start: { _ in }))
      let victim = Passed(other.dataTask(with: otherURL))
      victim.value.resume()
      await log.wait(.startLoading, otherURL, count: 1)
      let (session, url) = session(
        Script(start: { probe in
          victim.value.cancel()
          probe.answer()
        }))
      // An error would end the process of an exit test too.
      _ = try? await session.data(from: url)
    }

    required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
      seenNote = Self.note
      super.init(request: request, cachedResponse: cachedResponse, client: client)
    }

    override class func canInit(with request: URLRequest) -> Bool {
      log.add(.canInitRequest, request.url)
      return request.url?.host.map { host in scripts.withLock { $0[host] != nil } } ?? false
    }

    override class func canInit(with task: URLSessionTask) -> Bool {
      log.add(.canInitTask, task.originalRequest?.url)
      return task.originalRequest.map(canInit) ?? false
    }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest {
      log.add(.canonicalRequest, request.url)
      return request
    }

    private var script: Script? { request.url?.host.flatMap { host in Self.scripts.withLock { $0[host] } } }

    override func startLoading() {
      Self.log.add(.startLoading, request.url)
      script?.start(self)
    }

    override func stopLoading() {
      Self.log.add(.stopLoading, request.url)
      script?.stop(self)
    }

    /// Answers at once.
    func answer(_ status: Int = 200, _ fields: [String: String] = [:], _ chunks: [String] = ["answer"]) {
      head(status, fields)
      for chunk in chunks { client?.urlProtocol(self, didLoad: Data(chunk.utf8)) }
      client?.urlProtocolDidFinishLoading(self)
    }

    func head(_ status: Int = 200, _ fields: [String: String] = [:]) {
      guard let url = request.url,
        let head = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
      else { return }
      client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .allowed)
    }
  }

  /// What the loading system has called, in order.
  final class ProbeLog: Sendable {
    enum Call: Sendable { case canInitRequest, canInitTask, canonicalRequest, startLoading, stopLoading }

    private let calls = Locked<[(Call, URL?)]>([])
    private let waiters = Locked<[(Call, URL, Int, Event)]>([])

    func add(_ call: Call, _ url: URL?) {
      calls.withLock { $0.append((call, url)) }
      for (call, url, count, event) in waiters.withLock({ $0 }) where self.count(call, url) >= count { event.happen() }
    }

    /// The calls about a URL.
    func calls(_ url: URL) -> [Call] {
      calls.withLock { $0.filter { $0.1 == url }.map(\.0) }
    }

    func count(_ call: Call, _ url: URL) -> Int {
      calls(url).filter { $0 == call }.count
    }

    /// Waits until there were so many calls.
    func wait(_ call: Call, _ url: URL, count: Int) async {
      let event = Event()
      waiters.withLock { $0.append((call, url, count, event)) }
      if self.count(call, url) >= count { event.happen() }
      await event.wait()
    }
  }

  /// Something that Foundation's types do not promise to be safe to pass on; the test uses it in one place at a time.
  struct Passed<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
      self.value = value
    }
  }

  /// Runs a task with a completion handler.
  func complete(_ session: URLSession, _ url: URL) async -> (Data?, URLResponse?, (any Error)?) {
    let result = await handed { hand in session.dataTask(with: url) { hand(Passed(($0, $1, $2))) }.resume() }
    return result?.value ?? (nil, nil, CancellationError())
  }
#endif
