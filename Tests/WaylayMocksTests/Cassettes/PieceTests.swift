import Foundation
import TestSupport
import Testing
import WaylayHAR
import WaylayMocks

@Suite("A cassette of a stream", .timeLimit(.minutes(5)))
struct PieceTests {
  let folder: CassetteFolder
  let url = "https://a.test/events"

  init() throws {
    folder = try CassetteFolder()
  }

  /// A server that sends pieces, each after a second on the clock.
  private func record(_ pieces: [String], _ clock: MockClock = MockClock(isAutomatic: true)) async throws {
    let cassette = folder.cassette(.all) { $0.clock = clock }
    let response = try await cassette.ask(.get, url) { request in
      let times = MessageBody.stream(
        AsyncStream<Data> { continuation in
          for piece in pieces { continuation.yield(Data(piece.utf8)) }
          continuation.finish()
        }.map { piece -> Data in
          try? await clock.sleep(for: .seconds(1))
          return piece
        })
      return InterceptedResponse(to: request, fields: [.contentType: "text/event-stream"], body: times)
    }
    _ = try await response.body.collect(upTo: 1 << 20)
    try cassette.eject()
  }

  private func pieces(_ change: (inout Cassette.Options) -> Void = { _ in }) async throws -> [String] {
    let response = try await folder.cassette(changed: change).ask(.get, url)
    var pieces: [String] = []
    for try await piece in response.body { pieces.append(String(decoding: piece, as: UTF8.self)) }
    return pieces
  }

  @Test("plays it piece by piece, at once, in its recorded time, or in a part of it")
  func borders() async throws {
    let sent = ["data: 1\n", "\ndata: 2\n\n", "data: 3\n\n"]
    try await record(sent)
    #expect(HARFormat.problems(in: try #require(folder.data())) == [])
    let clock = MockClock(isAutomatic: true)
    #expect(try await pieces { $0.clock = clock } == sent)
    #expect(clock.now.offset == .zero)
    #expect(try await pieces { ($0.clock, $0.timeScale) = (clock, 1) } == sent)
    #expect(clock.now.offset == .seconds(3))
    let faster = MockClock(isAutomatic: true)
    #expect(try await pieces { ($0.clock, $0.timeScale) = (faster, 0.5) } == sent)
    #expect(faster.now.offset == .seconds(1.5))
  }

  @Test("waits for each piece on the mock's clock")
  func paced() async throws {
    try await record(["a", "b"])
    let clock = MockClock()
    let cassette = folder.cassette { ($0.clock, $0.timeScale) = (clock, 1) }
    let response = try await cassette.ask(.get, url)
    let received = Locked<[Data]>([])
    let reading = Task {
      for try await piece in response.body { received.withLock { $0.append(piece) } }
    }
    for expected in [[], [Data("a".utf8)]] {
      try await clock.waitForSleepers()
      #expect(received.withLock { $0 } == expected)
      clock.advance(by: .seconds(1))
    }
    try await reading.value
    #expect(received.withLock { $0 } == [Data("a".utf8), Data("b".utf8)])
  }

  @Test("cuts it at every byte, or where a test says")
  func cut() async throws {
    try await record(["ab", "cde"])
    #expect(try await pieces { $0.chunking = .everyByte } == ["a", "b", "c", "d", "e"])
    #expect(try await pieces { $0.chunking = .at(1, 4) } == ["a", "b", "cd", "e"])
    let mock = MockInterceptor { Stub(.get, "https://a.test/x", .chunks(["é", "z"]).chunking(.everyByte)) }
    let response = try await InterceptorRegistry { mock }.load(URLRequest(url: URL(string: "https://a.test/x")!))
    var sizes: [Int] = []
    for try await piece in response.body { sizes.append(piece.count) }
    #expect(sizes == [1, 1, 1])
  }

  @Test("keeps the borders at the ends of lines when a secret of another length is taken out")
  func redacted() async throws {
    let secret = "\(Recording.mark)-stream"
    try await record(["data: {\"token\":\"\(secret)\"}\n\n", "data: {\"a\":1,\"token\":\"\(secret)\"", ",\"b\":2}\n\n"])
    let played = try await pieces()
    #expect(
      played == [
        "data: {\"token\":\"REDACTED-1\"}\n\n", "data: {\"a\":1,\"token\":\"REDACTED-1\"", ",\"b\":2}\n\n",
      ])
  }

  @Test(
    "plays a body in one piece when its borders are not about it",
    arguments: ["1+1 2+9", "x", "1+-1 2+4", "1e999+1 2+2", ""])
  func foreign(text: String) async throws {
    var entry = HAR.Entry.made("GET", url, "abc")
    entry.response.body.extensions["_chunks"] = JSONValue(text)
    try folder.write([entry])
    #expect(try await pieces() == ["abc"])
  }
}
