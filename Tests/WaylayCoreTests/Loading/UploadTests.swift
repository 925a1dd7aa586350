import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("Request bodies", .timeLimit(.minutes(5)))
struct UploadTests {
  /// A registry whose interceptor reads the whole body, writes it down and sends it on.
  private func reading(_ log: Log<String>) -> InterceptorRegistry {
    InterceptorRegistry {
      Link(name: "Reader") { request, next in
        let body = try await request.body.collect(upTo: 1 << 20)
        log.add("\(request.urlRequest.httpBody == nil ? "" : "leaked ")\(String(decoding: body, as: UTF8.self))")
        var request = request
        request.body = .data(body)
        return try await next(request)
      }
    }
  }

  private func post(_ url: URL) -> URLRequest {
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    return request
  }

  @Test("data, file, stream and httpBody are visible to interceptors and reach the server (P9)")
  func visible() async throws {
    try await withOrigin { origin in
      let seen = Log<String>()
      let recorder = Recorder(body: { InputStream(data: Data("streamed".utf8)) })
      let session = URLSession.intercepted(by: reading(seen))
      let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      try Data("file".utf8).write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      let url = origin.url("/echo")
      _ = try await session.upload(for: post(url), from: Data("data".utf8))
      _ = try await session.upload(for: post(url), fromFile: file)
      var request = post(url)
      request.httpBody = Data("httpBody".utf8)
      _ = try await session.data(for: request)
      request.httpBody = nil
      request.httpBodyStream = InputStream(data: Data("httpBodyStream".utf8))
      _ = try await session.data(for: request)
      let delegated = URLSession.intercepted(by: reading(seen), delegate: recorder)
      delegated.uploadTask(withStreamedRequest: post(url)).resume()
      await recorder.finished.wait()
      let expected = ["data", "file", "httpBody", "httpBodyStream", "streamed"]
      #expect(seen.all == expected)
      #expect(origin.requests.map { String(decoding: $0.body, as: UTF8.self) } == expected)
    }
  }

  @Test("bodies nobody looks at are passed on: file and stream")
  func passedOn() async throws {
    try await withOrigin { origin in
      let session = URLSession.intercepted(by: InterceptorRegistry { Link.pass() })
      let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      let large = Data(repeating: 7, count: 300_000)
      try large.write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      _ = try await session.upload(for: post(origin.url("/echo")), fromFile: file)
      var request = post(origin.url("/echo"))
      request.httpBodyStream = InputStream(data: large)
      _ = try await session.data(for: request)
      #expect(origin.requests.map(\.body) == [large, large])
    }
  }

  @Test("a body that an interceptor sets on the URLRequest is sent")
  func setOnURLRequest() async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry {
        Link { request, next in
          var request = request
          request.urlRequest.httpMethod = "PUT"
          request.urlRequest.httpBody = Data("late".utf8)
          return try await next(request)
        }
        Link { request, next in
          #expect(request.urlRequest.httpBody == nil)
          #expect(request.body.length == 4)
          return try await next(request)
        }
      }
      _ = try await registry.data(for: URLRequest(url: origin.url("/echo")))
      #expect(origin.requests.first?.body == Data("late".utf8))
    }
  }

  @Test("a retry sends a replayable body again")
  func replay() async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry {
        Link { request, next in
          _ = try await next(request)
          return try await next(request)
        }
      }
      _ = try await registry.upload(for: post(origin.url("/echo")), from: Data("twice".utf8))
      #expect(origin.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["twice", "twice"])
    }
  }

  @Test("a one-shot body that was read cannot be passed on: the error names the reader (rule 10)")
  func consumed() async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry {
        Link(name: "Greedy") { request, next in
          _ = try await request.body.collect(upTo: 100)
          return try await next(request)
        }
      }
      let stream = AsyncStream<Data> { continuation in
        continuation.yield(Data("once".utf8))
        continuation.finish()
      }
      let error = await failure {
        try await registry.upload(for: post(origin.url("/echo")), from: .stream(stream))
      }
      #expect((error as? URLError)?.code == .requestBodyStreamExhausted)
      #expect(error.flatMap(cause)?.code == .bodyConsumed)
      #expect(error.flatMap(cause)?.interceptor == "Greedy")
      #expect(origin.requests.isEmpty)
    }
  }

  @Test("a missing file is named in the error")
  func missingFile() async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry { Link.pass() }
      let missing = URL(fileURLWithPath: "/nowhere/body.bin")
      let error = await failure { try await registry.upload(for: post(origin.url("/echo")), fromFile: missing) }
      #expect(error.flatMap(cause)?.code == .bodyUnreadable)
      #expect(error.flatMap(cause)?.message.contains("/nowhere/body.bin") == true)
    }
  }
}
