import Foundation
import Testing
import WaylayCore

#if canImport(FoundationNetworking)
  /// What Foundation on Linux does, where the package works round it. A failure here means that a toolchain has changed, not that the
  /// package is broken: read the row in CONTRIBUTING.md, then see whether the work-round can go.
  @Suite("Platform facts of Foundation on Linux", .timeLimit(.minutes(1)))
  struct ContractTests {
    private func session(_ probe: URLProtocol.Type, delegate: (any URLSessionDelegate)? = nil) -> URLSession {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.protocolClasses = [probe]
      configuration.urlCache = nil
      configuration.httpAdditionalHeaders = ["X-Additional": "1"]
      return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    @Test("P3: only the last didLoad reaches data(for:), and a delegate gets every chunk")
    func chunks() async throws {
      let (data, _) = try await session(ProbeProtocol.self).data(from: .example)
      #expect(
        String(decoding: data, as: UTF8.self) == "bbb", "P3 has changed: chunks need not be collected for completion handlers any more")
      let recorder = Recorder()
      session(ProbeProtocol.self, delegate: recorder).dataTask(with: .example).resume()
      await recorder.finished.wait()
      #expect(recorder.entries.contains(.data("aaa")) && recorder.entries.contains(.data("bbb")))
    }

    @Test("P6: canonicalRequest(for:) is never called")
    func canonical() async throws {
      _ = try await session(ProbeProtocol.self).data(from: .example)
      #expect(!ProbeProtocol.wasAskedForCanonical.withLock { $0 }, "P6 has changed: the loading system asks for the canonical request")
    }

    @Test("P7: init(request:) runs inside resume(), where a task-local value is visible; mainDocumentURL survives into it")
    func visible() async throws {
      var request = URLRequest(url: .example)
      request.mainDocumentURL = URL(string: "tag:1")
      let copy = request
      let (_, response) = try await ProbeProtocol.$note.withValue("seen") { try await session(ProbeProtocol.self).data(for: copy) }
      let head = try #require(response as? HTTPURLResponse)
      #expect(head.value(forHTTPHeaderField: "X-Note") == "seen", "P7 has changed: re-entry is not recognised by the task any more")
      #expect(head.value(forHTTPHeaderField: "X-Tag") == "tag:1", "P7 has changed: the tag does not reach the protocol any more")
    }

    @Test("P9: an upload's body is not in the request that the protocol sees")
    func uploads() async throws {
      var request = URLRequest(url: .example)
      request.httpMethod = "POST"
      let (_, response) = try await session(ProbeProtocol.self).upload(for: request, from: Data("x".utf8))
      let hasBody = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Body")
      #expect(hasBody == "no", "P9 has changed: knownBody need not be read by reflection any more")
    }

    @Test("P10: the configuration's additional header fields are not in the request that the protocol sees")
    func additional() async throws {
      let (_, response) = try await session(ProbeProtocol.self).data(from: .example)
      let value = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Saw-Additional")
      #expect(value == "no", "P10 has changed: header fields need not be taken from the configuration any more")
    }

    @Test("P12: a generic subclass is a class of its own for each type argument made at run time")
    func classes() {
      let registry = InterceptorRegistry { Link.answer("x") }
      let classes = (0..<100).map { _ in ObjectIdentifier(registry.protocolClass) }
      #expect(Set(classes).count == 100)
      registry.invalidate()
    }

    @Test("P19: a protocol's Set-Cookie is not stored")
    func cookies() async throws {
      let session = session(ProbeProtocol.self)
      _ = try await session.data(from: .example)
      #expect(session.configuration.httpCookieStorage?.cookies?.isEmpty ?? true, "P19 has changed: cookies would be stored twice")
    }
  }

  /// Answers at once, in two chunks, and says in its head what it saw.
  private final class ProbeProtocol: URLProtocol {
    @TaskLocal static var note = "none"
    static let wasAskedForCanonical = Locked(false)

    private let seenNote: String

    required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
      seenNote = Self.note
      super.init(request: request, cachedResponse: cachedResponse, client: client)
    }

    override class func canInit(with request: URLRequest) -> Bool { true }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest {
      wasAskedForCanonical.withLock { $0 = true }
      return request
    }

    override func stopLoading() {}

    override func startLoading() {
      let hasBody = request.httpBody != nil || request.httpBodyStream != nil
      let fields = [
        "X-Note": seenNote, "X-Tag": request.mainDocumentURL?.absoluteString ?? "none", "X-Body": hasBody ? "yes" : "no",
        "X-Saw-Additional": request.value(forHTTPHeaderField: "X-Additional") == nil ? "no" : "yes", "Set-Cookie": "a=1",
      ]
      guard let url = request.url,
        let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
      else { return }
      client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
      client?.urlProtocol(self, didLoad: Data("aaa".utf8))
      client?.urlProtocol(self, didLoad: Data("bbb".utf8))
      client?.urlProtocolDidFinishLoading(self)
    }
  }
#endif
