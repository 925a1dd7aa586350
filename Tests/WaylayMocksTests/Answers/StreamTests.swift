import Foundation
import TestSupport
import Testing
import WaylayCore
import WaylayMocks

@Suite("Streams", .timeLimit(.minutes(5))) struct StreamTests {
  @Test(
    "a delegate gets the chunks one by one, and data(for:) gets them whole",
    .enabled(if: Platform.deliversEachChunk, "Apple's loading system may put chunks together"))
  func chunks() async throws {
    let response = MockResponse.chunks(["one ", "", "two ", "three"], every: .seconds(1))
    let log = Recorder()
    let session = Answering(response).session(delegate: log)
    defer { session.invalidateAndCancel() }
    session.dataTask(with: .mocked).resume()
    #expect(
      await log.completed() == [.response(200), .data("one "), .data("two "), .data("three"), .completed(nil)])
    let whole = try await response.answer()
    #expect(whole.text == "one two three")
    #expect(whole.field("Content-Length") == "13")
  }

  @Test("the chunks of a list serve any number of requests, those of a stream that can be read once serve one")
  func reading() async throws {
    let list = Answering(.chunks([Data("ab".utf8), Data("cd".utf8)]))
    let session = list.session()
    defer { session.invalidateAndCancel() }
    for _ in 0..<3 {
      let (data, _) = try await session.data(from: .mocked)
      #expect(String(decoding: data, as: UTF8.self) == "abcd")
    }
    let stream = AsyncStream<Data> { continuation in
      for text in ["x", "y"] { continuation.yield(Data(text.utf8)) }
      continuation.finish()
    }
    #expect(try await MockResponse.stream(stream, type: "text/plain").answer().text == "xy")
  }

  @Test(
    "a chunk of a live stream reaches the delegate before the next one is there",
    .enabled(if: Platform.deliversEachChunk, "Apple's loading system may put chunks together"))
  func liveStream() async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
    let log = Recorder()
    let session = Answering(.stream(stream)).session(delegate: log)
    defer { session.invalidateAndCancel() }
    session.dataTask(with: .mocked).resume()
    continuation.yield(Data("first".utf8))
    #expect(await log.entries(2) == [.response(200), .data("first")])
    continuation.yield(Data("second".utf8))
    #expect(await log.entries(3).last == .data("second"))
    continuation.finish()
    #expect(await log.completed().last == .completed(nil))
  }

  @Test("a stream that fails fails the load")
  func failing() async throws {
    let stream = AsyncThrowingStream<Data, any Error> { continuation in
      continuation.yield(Data("first".utf8))
      continuation.finish(throwing: URLError(.networkConnectionLost))
    }
    await #expect(throws: URLError.self) { try await MockResponse.stream(stream).answer() }
  }

  @Test("events are encoded as the standard has it")
  func events() async throws {
    let events: [ServerSentEvent] = [
      .init("one"), .init("two\nlines\r\nand\rmore", event: "text", id: "7", retry: .milliseconds(1500)),
      .comment("still\nhere"),
      .init(""), .json(["a": 1], event: "json"), .init(id: ""),
    ]
    let answer = try await MockResponse.events(events, every: .seconds(1)).answer()
    #expect(answer.field("Content-Type") == "text/event-stream")
    #expect(
      answer.text == """
        data: one

        event: text
        data: two
        data: lines
        data: and
        data: more
        id: 7
        retry: 1500

        : still
        : here

        data: \n
        event: json
        data: {"a":1}

        id: \n

        """)
  }

  @Test("events of a sequence come as it gives them, and a mistake in one fails the load")
  func eventSequence() async throws {
    let good = AsyncStream<ServerSentEvent> { continuation in
      continuation.yield(.init("a"))
      continuation.yield(.init("b"))
      continuation.finish()
    }
    #expect(try await MockResponse.events(good).answer().text == "data: a\n\ndata: b\n\n")
    let bad = AsyncStream<ServerSentEvent> { continuation in
      continuation.yield(.init("a", event: "x\ny"))
      continuation.finish()
    }
    let mistake = await MockResponse.events(bad).mistake()
    #expect(mistake?.code == .invalidResponse)
  }

  @Test(
    "a stream of events may be left open: the events come, the end does not",
    .enabled(if: Platform.deliversEachChunk, "Apple's loading system may put chunks together"))
  func open() async throws {
    let log = Recorder()
    let session = Answering(.events([.init("a"), .init("b")]).fault(.stalledAtEnd)).session(delegate: log)
    let task = session.dataTask(with: .mocked)
    task.resume()
    #expect(await log.entries(3) == [.response(200), .data("data: a\n\n"), .data("data: b\n\n")])
    task.cancel()
    #expect(await log.completed().last == .completed(.cancelled))
    session.invalidateAndCancel()
  }

  @Test("a file is sent with its type and length, and read in parts")
  func file() async throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-\(UUID().uuidString).json")
    let response = MockResponse.file(file)
    try Data(repeating: 0x20, count: 300_000).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let direct = try await response.direct()
    #expect(direct.fields[.contentType] == "application/json")
    #expect(direct.fields[.contentLength] == "300000")
    var chunks = 0
    for try await _ in direct.body { chunks += 1 }
    #expect(chunks > 1)
    #expect(try await response.answer().data.count == 300_000)
  }
}
