import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

/// The rest of a stored beginning, from a server whose message does not say how long the rest is, or says something
/// else.
@Suite("A rest that is not the rest", .timeLimit(.minutes(5)))
struct ShortRestTests {
  private static let bytes = Data((0..<1000).map { UInt8($0 % 251) })
  private static let fields = [("ETag", "\"1\""), ("Cache-Control", "max-age=100")]

  /// How a server sends what it says is the rest.
  enum Message: CaseIterable, Sendable {
    case chunked, untilTheEnd

    func reply(_ rest: Data, from first: Int) -> Reply {
      let fields = ShortRestTests.fields + [("Content-Range", "bytes \(first)-999/1000")]
      switch self {
      case .chunked: return Reply(206, fields, .chunks(rest.isEmpty ? [] : [rest], pause: 0))
      case .untilTheEnd:
        let head = fields.map { "\($0.0): \($0.1)\r\n" }.joined()
        return Reply(206, [], .raw(Data("HTTP/1.1 206 Partial Content\r\n\(head)\r\n".utf8) + rest)).with {
          $0.hangsUp = true
        }
      }
    }
  }

  /// Has the first 400 bytes stored, then answers questions for the rest so.
  private func begin(_ site: Site, _ way: Way, _ rest: @escaping @Sendable (_ first: Int) -> Reply) async {
    site.origin.reply(to: "/a") { request in
      guard let range = request["Range"].first else {
        return Reply(200, Self.fields, .truncated(Self.bytes.prefix(400), declared: 1000))
      }
      return rest(Int(range.dropFirst("bytes=".count).dropLast()) ?? 0)
    }
    let first = await failure { try await site.get("/a", by: way) }
    #expect(first is URLError)
  }

  /// What an app gets from an honest server now, and then from the archive alone.
  private func finish(_ site: Site, _ way: Way, from first: Int) async throws {
    site.origin.reply(to: "/a") { request in
      guard let range = request["Range"].first else { return Reply(200, Self.fields, .whole(Self.bytes)) }
      let first = Int(range.dropFirst("bytes=".count).dropLast()) ?? 0
      return Reply(206, Self.fields + [("Content-Range", "bytes \(first)-999/1000")], .whole(Self.bytes[first...]))
    }
    site.archive.mode = .offline
    let offline = await failure { try await site.get("/a", by: way) }
    #expect(cause(offline)?.code == .notStored)
    site.archive.mode = .online
    #expect(try await site.get("/a", by: way).body == Self.bytes)
    #expect(site.seen("/a").last?["Range"] == ["bytes=\(first)-"])
    site.archive.mode = .offline
    #expect(try await site.get("/a", by: way).body == Self.bytes)
  }

  @Test(
    "a rest that ends before the whole does is an error, and what is stored stays a beginning", arguments: Way.allCases,
    Message.allCases)
  func short(_ way: Way, _ message: Message) async throws {
    try await withSite { (site: Site) async throws in
      await begin(site, way) { message.reply(Self.bytes[$0..<$0 + 29], from: $0) }
      #expect(await failureCode { try await site.get("/a", by: way) } == .networkConnectionLost)
      #expect(await failureCode { try await site.get("/a", by: way) } == .networkConnectionLost)
      try await finish(site, way, from: 400 + 29 + 29)
    }
  }

  @Test("a rest without a byte is an error too", arguments: Way.allCases, Message.allCases)
  func empty(_ way: Way, _ message: Message) async throws {
    try await withSite { (site: Site) async throws in
      await begin(site, way) { message.reply(Data(), from: $0) }
      #expect(await failureCode { try await site.get("/a", by: way) } == .networkConnectionLost)
      try await finish(site, way, from: 400)
    }
  }

  @Test(
    "a rest that goes on behind the end of the whole is an error, and none of it is kept", arguments: Way.allCases,
    Message.allCases)
  func long(_ way: Way, _ message: Message) async throws {
    try await withSite { (site: Site) async throws in
      await begin(site, way) { message.reply(Self.bytes[$0...] + Data("more".utf8), from: $0) }
      #expect(await failureCode { try await site.get("/a", by: way) } == .badServerResponse)
      try await finish(site, way, from: 400)
    }
  }

  @Test(
    "a rest whose length or coding says that it is something else is not joined: the whole is loaded",
    arguments: Way.allCases)
  func other(_ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      for (path, fields) in [("/length", [] as [(String, String)]), ("/coding", [("Content-Encoding", "cow")])] {
        let isCut = Locked(true)
        let rest = Self.bytes[400..<(fields.isEmpty ? 500 : 1000)]
        site.origin.reply(to: path) { request in
          if request["Range"].first != nil {
            return Reply(206, Self.fields + fields + [("Content-Range", "bytes 400-999/1000")], .whole(rest))
          }
          guard isCut.withLock({ $0 }) else { return Reply(200, Self.fields, .whole(Self.bytes)) }
          return Reply(200, Self.fields, .truncated(Self.bytes.prefix(400), declared: 1000))
        }
        let first = await failure { try await site.get(path, by: way) }
        #expect(first is URLError)
        isCut.withLock { $0 = false }
        #expect(try await site.get(path, by: way).body == Self.bytes)
        // A coding that the transport does not know has it ask twice.
        let ranges = site.seen(path).map { $0["Range"].count }
        #expect(
          ranges.first == 0 && ranges.dropFirst().dropLast().allSatisfy { $0 == 1 } && ranges.last == 0, "\(ranges)")
        site.archive.mode = .offline
        #expect(try await site.get(path, by: way).body == Self.bytes)
        site.archive.mode = .online
      }
    }
  }

  @Test("everybody who waits for a whole that breaks off is told", arguments: Message.allCases)
  func together(_ message: Message) async throws {
    try await withSite { (site: Site) async throws in
      await begin(site, .direct) { message.reply(Self.bytes[$0..<$0 + 10], from: $0) }
      let codes = await withTaskGroup(of: URLError.Code?.self) { group in
        for way in Way.allCases { group.addTask { await failureCode { try await site.get("/a", by: way) } } }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(codes.allSatisfy { $0 == .networkConnectionLost }, "\(codes)")
    }
  }
}
