import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayHAR
import WaylayMocks

@Suite("A cassette that records", .timeLimit(.minutes(5)))
struct RecordingTests {
  let folder: CassetteFolder

  init() throws {
    folder = try CassetteFolder()
  }

  @Test("asks the server once, and then plays the same to a session without it")
  func wholeWay() async throws {
    try await withOrigin { origin in
      let url = origin.url("/hello")
      let recording = folder.cassette(.once)
      let session = URLSession(configuration: .ephemeral.intercepted(by: InterceptorRegistry { recording }))
      let (live, liveHead) = try await session.data(from: url)
      session.invalidateAndCancel()
      try recording.eject()
      await origin.stop()
      let playing = folder.cassette(.once)
      let other = URLSession(configuration: .ephemeral.intercepted(by: InterceptorRegistry { playing }))
      let (played, playedHead) = try await other.data(from: url)
      other.invalidateAndCancel()
      #expect(played == live)
      #expect((playedHead as? HTTPURLResponse)?.statusCode == (liveHead as? HTTPURLResponse)?.statusCode)
      #expect(playing.issues.isEmpty)
      #expect(HARFormat.problems(in: try #require(folder.data())) == [])
    }
  }

  @Test("records by its mode: nothing, once, what is new, or everything anew")
  func modes() async throws {
    let asked = Locked<[String]>([])
    let network: @Sendable (InterceptedRequest) async throws -> InterceptedResponse = { request in
      asked.withLock { $0.append(request.url.path) }
      return try await echo(request)
    }
    // none: neither asks nor writes
    #expect(await failure { try await folder.cassette(.none).ask("https://a.test/a", network: network) } != nil)
    #expect(asked.withLock { $0 } == [] && folder.names == [])
    // once, without a file: records
    let once = folder.cassette(.once)
    _ = try await once.text("https://a.test/a", network: network)
    #expect(folder.names == [])
    try once.eject()
    #expect(asked.withLock { $0 } == ["/a"])
    // once, with one: plays, and fails for what is new
    let again = folder.cassette(.once)
    #expect(try await again.text("https://a.test/a", network: network) == "answer to /a")
    #expect(await failure { try await again.ask("https://a.test/b", network: network) } != nil)
    try again.eject()
    #expect(asked.withLock { $0 } == ["/a"])
    // newEpisodes: plays what is there, records what is not, and one more of the same
    let new = folder.cassette(.newEpisodes)
    for path in ["a", "b", "a"] { _ = try await new.text("https://a.test/\(path)", network: network) }
    try new.eject()
    #expect(asked.withLock { $0 } == ["/a", "/b", "/a"])
    #expect(try folder.archive().entries.map(\.request.url) == ["a", "b", "a"].map { "https://a.test/\($0)" })
    // all: the old entries are gone
    let all = folder.cassette(.all)
    _ = try await all.text("https://a.test/c", network: network)
    try all.eject()
    #expect(try folder.archive().entries.map(\.request.url) == ["https://a.test/c"])
    // and one that nobody asked leaves the file
    try folder.cassette(.all).eject()
    #expect(try folder.archive().entries.count == 1)
  }

  @Test("does what WAYLAY_RECORD says, in whatever spelling, unless its mode is none")
  func environment() async throws {
    for (value, mode, isRecorded) in [
      ("all", Cassette.Mode.environment, true), ("once", .environment, true), ("new_episodes", .once, true),
      ("newEpisodes", .environment, true), ("none", .all, false), ("all", .none, false), ("", .environment, false),
    ] {
      let name = UUID().uuidString + ".har"
      let cassette = folder.cassette(mode, name, environment: ["WAYLAY_RECORD": value])
      _ = try? await cassette.text("https://a.test/a", network: echo)
      try cassette.eject()
      #expect((folder.data(name) != nil) == isRecorded, "\(value) \(mode)")
    }
    let wrong = folder.cassette(environment: ["WAYLAY_RECORD": "yes"])
    let error = cassetteError(await failure { try await wrong.ask("https://a.test/a", network: echo) })
    #expect(error?.message.contains("use once, newEpisodes, all, compare or none") == true)
  }

  @Test("records a hundred identical requests at once, and gives each its own answer again")
  func concurrent() async throws {
    let count = Locked(0)
    let recording = folder.cassette(.all)
    let ask: @Sendable (Cassette) async throws -> [String] = { cassette in
      try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<100 {
          group.addTask {
            try await cassette.text("https://a.test/x") { request in
              let number = count.withLock { count in
                count += 1
                return count
              }
              return InterceptedResponse(to: request, body: .stream(replaying: { [Data("\(number)".utf8)].stream }))
            }
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
    }
    let live = try await ask(recording)
    try recording.eject()
    let playing = folder.cassette()
    #expect(try await ask(playing).sorted() == live.sorted())
    #expect(Set(live).count == 100 && playing.issues.isEmpty)
  }

  @Test("writes down that an attempt failed, and how, and it fails so again, before the one that did not")
  func failures() async throws {
    let attempts = Locked(0)
    let network: @Sendable (InterceptedRequest) async throws -> InterceptedResponse = { request in
      let attempt = attempts.withLock { attempts in
        attempts += 1
        return attempts
      }
      if attempt == 1 {
        throw TransportError(
          .cannotConnectToHost, code: .refused, phase: .connecting, requestBytesSent: 0, message: "nobody listens.")
      }
      if attempt == 2 { throw URLError(.secureConnectionFailed) }
      return try await echo(request)
    }
    let recording = folder.cassette(.all)
    for _ in 0..<3 { _ = await failure { try await recording.text("https://a.test/x", network: network) } }
    try recording.eject()
    #expect(try folder.archive().entries.map(\.response.status) == [0, 0, 200])
    #expect(HARFormat.problems(in: try #require(folder.data())) == [])
    let playing = folder.cassette()
    let first = await failure { try await playing.ask("https://a.test/x") } as? TransportError
    #expect(first?.urlErrorCode == .cannotConnectToHost && first?.code == .refused && first?.phase == .connecting)
    #expect(first?.requestBytesSent == 0 && first?.message == "nobody listens.")
    #expect(
      (await failure { try await playing.ask("https://a.test/x") } as? TransportError)?.urlErrorCode
        == .secureConnectionFailed)
    #expect(try await playing.text("https://a.test/x") == "answer to /x")
  }

  @Test("writes down a body that broke off, and it breaks off there again")
  func brokenBody() async throws {
    let recording = folder.cassette(.all)
    let response = try await recording.ask("https://a.test/x") { request in
      InterceptedResponse(to: request, body: .stream(Breaking(after: ["one ", "two "])))
    }
    #expect(await failure { try await response.body.collect(upTo: 100) } != nil)
    try recording.eject()
    let played = try await folder.cassette().ask("https://a.test/x")
    var bytes = Data()
    let error = await failure { for try await chunk in played.body { bytes += chunk } } as? TransportError
    #expect(bytes == Data("one two ".utf8))
    #expect(error?.urlErrorCode == .networkConnectionLost)
  }

  @Test("writes down as much of an answer as was read, and says so to a reader who goes on")
  func abandoned() async throws {
    let recording = folder.cassette(.all)
    do {
      let response = try await recording.ask("https://a.test/x") { request in
        InterceptedResponse(to: request, body: .stream(replaying: { [Data("one".utf8), Data("two".utf8)].stream }))
      }
      var reader = response.body.makeAsyncIterator()
      #expect(try await reader.next() == Data("one".utf8))
    }
    try recording.eject()
    let played = try await folder.cassette().ask("https://a.test/x")
    var reader = played.body.makeAsyncIterator()
    #expect(try await reader.next() == Data("one".utf8))
    #expect(await failure { try await reader.next() } is TransportError)
  }

  @Test(
    "writes down an answer that is left, though its body is released long after the end, or is still being released")
  func left() async throws {
    for round in 0..<50 {
      let name = "tape-\(round).har"
      let recording = folder.cassette(.all, name)
      let response = try await recording.ask("https://a.test/x") { request in
        InterceptedResponse(to: request, body: .stream(replaying: { [Data("one".utf8), Data("two".utf8)].stream }))
      }
      var reader: MessageBody.AsyncIterator? = response.body.makeAsyncIterator()
      #expect(try await reader?.next() == Data("one".utf8))
      if round % 2 == 0 {
        try recording.eject()
      } else {
        // A task has it, and releases it about when the cassette is ejected.
        let held = Locked((response, reader))
        reader = nil
        let task = Task { held.withLock { _ in } }
        try recording.eject()
        await task.value
      }
      #expect(try folder.archive(name).entries.map { $0.response.body.text } == ["one"])
      #expect(recording.issues.isEmpty)
      reader = nil
    }
  }

  @Test("does not overwrite what came to its file by another name of the folder, or from another process")
  func otherNames() async throws {
    try FileManager.default.createSymbolicLink(atPath: folder.path("other"), withDestinationPath: folder.url.path)
    // Of two that know of each other, the second says at once that the file is taken; it need not be there yet.
    let one = folder.cassette(.all, "deep/tape.har")
    let other = folder.cassette(.all, "other/deep/tape.har")
    #expect(
      cassetteError(await failure { try await other.ask("https://a.test/x", network: echo) })?.code == .unwritableFile)
    _ = try await one.text("https://a.test/x", network: echo)
    // Of one in another process nobody knows until the file is there.
    for isThere in [false, true] {
      let recording = folder.cassette(isThere ? .newEpisodes : .once)
      _ = try await recording.text("https://a.test/\(isThere)", network: echo)
      try folder.write([.made("https://a.test/theirs", "theirs \(isThere)")])
      let error = #expect(throws: MockError.self) { try recording.eject() }
      #expect(error?.code == .unwritableFile && error?.message.contains("another writer") == true)
      #expect(try folder.archive().entries.map { $0.response.body.text } == ["theirs \(isThere)"])
      #expect(folder.names.allSatisfy { !$0.contains("draft") })
    }
    try one.eject()
    #expect(try folder.archive("deep/tape.har").entries.count == 1)
  }

  @Test("does not hold a stream up: each chunk passes before the next one is made, both ways")
  func streams() async throws {
    let recording = folder.cassette(.all)
    let (upload, sending) = AsyncStream.makeStream(of: Data.self)
    let (download, answering) = AsyncStream.makeStream(of: Data.self)
    let response = try await recording.ask(.post, "https://a.test/x", body: .stream(upload)) { request in
      var chunks = request.body.makeAsyncIterator()
      for text in ["up1", "up2"] {
        // The network has the first chunk before the second is there.
        sending.yield(Data(text.utf8))
        guard try await chunks.next() == Data(text.utf8) else { throw URLError(.badServerResponse) }
      }
      sending.finish()
      guard try await chunks.next() == nil else { throw URLError(.badServerResponse) }
      return InterceptedResponse(to: request, fields: [.contentType: "text/event-stream"], body: .stream(download))
    }
    var reader = response.body.makeAsyncIterator()
    for text in ["down1", "down2"] {
      answering.yield(Data(text.utf8))
      #expect(try await reader.next() == Data(text.utf8))
    }
    answering.finish()
    #expect(try await reader.next() == nil)
    try recording.eject()
    let entry = try #require(try folder.archive().entries.first)
    #expect(entry.request.body?.text == "up1up2" && entry.response.body.text == "down1down2")
  }

  @Test(
    "keeps nothing when a body is beyond the limit, says so, and the load itself goes on", arguments: [true, false])
  func limits(isUpload: Bool) async throws {
    try folder.write([.made("https://a.test/x", "old")])
    let before = folder.data()
    let recording = folder.cassette(.all) { $0.bodyLimit = 9 }
    let large = MessageBody.stream(replaying: { [Data("0123456789".utf8)].stream })
    let once = MessageBody.stream([Data("0123456789".utf8)].stream)
    for body in isUpload ? [large, once, .text("0123456789")] : [.empty] {
      let text = try await recording.text(.post, "https://a.test/x", body: body) { request in
        let sent = try await request.body.collect(upTo: 100)
        return InterceptedResponse(to: request, body: isUpload ? .data(sent) : large)
      }
      #expect(text == "0123456789")
    }
    let error = #expect(throws: MockError.self) { try recording.eject() }
    #expect(error?.code == .bodyTooLarge)
    #expect(
      error?.message.contains("POST https://a.test/x has a body of more than 9 bytes, so nothing was recorded") == true)
    #expect(folder.data() == before)
  }

  @Test("that is ejected while a request runs says that it is missing; once ejected it records no more")
  func early() async throws {
    let recording = folder.cassette(.all)
    _ = try await recording.text("https://a.test/x", network: echo)
    try await confirmationOfEnd(of: recording)
    #expect(recording.issues.map(\.kind) == [.notRecorded])
    #expect(try folder.archive().entries.count == 1)
    let error = cassetteError(await failure { try await recording.ask("https://a.test/z", network: echo) })
    #expect(error?.message.contains("was ejected") == true)
    try recording.eject()
    #expect(try folder.archive().entries.count == 1)
  }

  private func confirmationOfEnd(of recording: Cassette) async throws {
    _ = try await recording.text("https://a.test/y") { request in
      try recording.eject()
      return InterceptedResponse(to: request, body: .text("late"))
    }
  }

  @Test("does not record into a file that another one is recording into")
  func twice() async throws {
    let one = folder.cassette(.all)
    let other = folder.cassette(.newEpisodes)
    let error = cassetteError(await failure { try await other.ask("https://a.test/x", network: echo) })
    #expect(error?.code == .unwritableFile)
    #expect(error?.message.contains("is already being recorded") == true)
    _ = try await one.text("https://a.test/x", network: echo)
    try one.eject()
    #expect(try folder.archive().entries.count == 1)
  }

  @Test("is written when it is released, too")
  func letGo() async throws {
    do { _ = try await folder.cassette(.all).text("https://a.test/x", network: echo) }
    #expect(try folder.archive().entries.count == 1)
    // The file is free for the next one.
    let next = folder.cassette(.all)
    _ = try await next.text("https://a.test/y", network: echo)
    try next.eject()
    #expect(try folder.archive().entries.map(\.request.url) == ["https://a.test/y"])
  }
}

extension [Data] {
  /// The chunks as a stream.
  fileprivate var stream: AsyncStream<Data> {
    AsyncStream { continuation in
      for chunk in self { continuation.yield(chunk) }
      continuation.finish()
    }
  }
}

/// A body that fails after some chunks.
private struct Breaking: AsyncSequence, Sendable {
  let chunks: [String]

  init(after chunks: [String]) {
    self.chunks = chunks
  }

  func makeAsyncIterator() -> Iterator { Iterator(chunks: chunks) }

  struct Iterator: AsyncIteratorProtocol {
    var chunks: [String]

    mutating func next() async throws -> Data? {
      guard !chunks.isEmpty else {
        throw TransportError(.networkConnectionLost, phase: .receiving, message: "broke off.")
      }
      return Data(chunks.removeFirst().utf8)
    }
  }
}
