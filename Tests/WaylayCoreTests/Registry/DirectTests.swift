import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("Direct loads", .timeLimit(.minutes(5)))
struct DirectTests {
  @Test("load streams: a chunk is there before the next is sent")
  func streams() async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry { Link.pass() }
      let response = try await registry.load(URLRequest(url: origin.url("/gate/direct")))
      #expect(response.status == .ok && response.source == .network)
      var chunks = response.body.makeAsyncIterator()
      for text in ["one", "two", "three"] {
        origin.release(text, gate: "direct")
        #expect(try await chunks.next() == Data(text.utf8))
      }
      origin.release(nil, gate: "direct")
      #expect(try await chunks.next() == nil)
    }
  }

  @Test("a load that no chain accepts goes through the bare transport, redirects and cookies included")
  func bare() async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry(configuration: .ephemeral)
      origin.reply(to: "/start") { _ in
        .text("", status: 302, fields: [("Set-Cookie", "a=1; Path=/"), ("Location", "/echo")])
      }
      let (data, head) = try await registry.data(for: URLRequest(url: origin.url("/start")))
      #expect(head.statusCode == 200)
      #expect(try JSONDecoder().decode(Echo.self, from: data).head.contains("Cookie: a=1"))
    }
  }

  @Test("bytes, lines and upload")
  func variants() async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry { Link.pass() }
      let (bytes, _) = try await registry.bytes(for: URLRequest(url: origin.url("/sse/2")))
      var lines: [String] = []
      for try await line in bytes.lines { lines.append(line) }
      #expect(lines == ["id: 1", "data: event 1", "", "id: 2", "data: event 2", ""])
      var post = URLRequest(url: origin.url("/echo"))
      post.httpMethod = "POST"
      _ = try await registry.upload(
        for: post,
        from: .stream(
          AsyncStream<Data> {
            $0.yield(Data("streamed".utf8)); $0.finish()
          }))
      #expect(origin.requests.last?.body == Data("streamed".utf8))
    }
  }

  @Test("download writes the whole file, reports progress, and leaves nothing behind on failure")
  func download() async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry { Link.pass() }
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let file = folder.appendingPathComponent("file.bin")
      try Data("old".utf8).write(to: file)
      let seen = Log<InterceptorRegistry.DownloadProgress>()
      try await registry.download(for: URLRequest(url: origin.url("/bytes/1000000")), to: file) { seen.add($0) }
      #expect(try Data(contentsOf: file).count == 1_000_000)
      #expect(seen.all.last?.receivedBytes == 1_000_000)
      #expect(seen.all.last?.fraction == 1)
      let error = await failure {
        try await registry.download(for: URLRequest(url: origin.url("/truncated")), to: file)
      }
      #expect(error is URLError)
      #expect(try Data(contentsOf: file).count == 1_000_000)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["file.bin"])
      let nowhere = folder.appendingPathComponent("missing/file.bin")
      let unwritable = await failure {
        try await registry.download(for: URLRequest(url: origin.url("/hello")), to: nowhere)
      }
      #expect(unwritable.flatMap(cause)?.code == .fileNotWritten)
    }
  }

  @Test("cancelling the caller's task ends a load that does not listen")
  func cancel() async throws {
    let started = Event()
    let registry = InterceptorRegistry { Link.waiting(started) }
    let task = Task { try await registry.data(for: URLRequest(url: .example)) }
    await started.wait()
    task.cancel()
    #expect(await failureCode { try await task.value } == .cancelled)
  }
}
