import Foundation
import HTTPTypes
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

/// Numbers that no body, no age and no limit can have, wherever they come from.
@Suite("Numbers that lie", .timeLimit(.minutes(10)))
struct LargeNumberTests {
  static let numbers = [
    "0", "-1", "+1", " 1 ", "1,1", "0x10", "1e9", "2147483647", "2147483648", "2147483649", "4294967296",
    "9223372036854775806",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615",
    "18446744073709551616",
    String(repeating: "9", count: 400), "",
  ]

  @Test(
    "a part whose rest claims the greatest length there is neither traps nor becomes a whole body",
    arguments: Way.allCases)
  func rest(_ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      let bytes = Data((0..<1000).map { UInt8($0 % 251) })
      let fields = [("ETag", "\"1\""), ("Cache-Control", "max-age=100")]
      site.origin.reply(to: "/a") { request in
        guard request["Range"].first == nil else {
          var text = "HTTP/1.1 206 Partial Content\r\nETag: \"1\"\r\nContent-Range: bytes 400-999/1000\r\n"
          text += "Content-Length: 9223372036854775807\r\n\r\nrest"
          return .raw(text).with { $0.hangsUp = true }
        }
        return Reply(200, fields, .truncated(bytes.prefix(400), declared: 1000))
      }
      let first = await failure { try await site.get("/a", by: way) }
      #expect(first is URLError)
      // An error, or the stored beginning with what came: never a trap, and never something else under the whole
      // length.
      let second = await failure { try await site.get("/a", by: way) }
      #expect(second is URLError)
      site.origin.reply(to: "/a") { _ in Reply(200, fields, .whole(bytes)) }
      #expect(try await site.get("/a", by: way).body == bytes)
    }
  }

  @Test("a 206 and a 200 that claim the greatest length there is are passed on and not stored", arguments: Way.allCases)
  func claimed(_ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      for (path, head) in [
        ("/part", "206 Partial Content\r\nContent-Range: bytes 0-9223372036854775806/9223372036854775807"),
        ("/whole", "200 OK"),
      ] {
        site.origin.reply(to: path) { _ in
          .raw(
            """
            HTTP/1.1 \(head)\r\nETag: \"1\"\r\nCache-Control: max-age=100\r\nContent-Length: \
            9223372036854775807\r\n\r\nabc
            """
          )
          .with { $0.hangsUp = true }
        }
        let fields = path == "/part" ? ["Range": "bytes=0-"] : [:]
        let first = await failure { try await site.get(path, fields, by: way) }
        #expect(first != nil)
        site.archive.mode = .offline
        let second = await failure { try await site.get(path, by: way) }
        #expect(second is URLError)
        site.archive.mode = .online
      }
    }
  }

  @Test("heads with every number in every field neither trap nor fail", .heavy)
  func heads() async throws {
    let wall = Wall()
    let archive = ArchiveCache { $0.now = { wall.now } }
    let script = ScriptedNext()
    var page = 0
    for number in Self.numbers {
      let dates = [
        number, "Thu, 01 Jan 9999 00:00:00 GMT", "Thu, 01 Jan 0000 00:00:00 GMT", "Fri, 31 Dec \(number) 23:59:59 GMT",
      ]
      for date in dates {
        for directive in ["max-age", "s-maxage", "stale-while-revalidate", "stale-if-error", "no-cache"] {
          page += 1
          let url = "http://example.com/\(page)"
          var fields: HTTPFields = [
            .cacheControl: "\(directive)=\(number)", .eTag: "\"1\"", .lastModified: date, .expires: date, .date: date,
          ]
          fields[HTTPField.Name("Age")!] = number
          fields[.contentLength] = number
          fields[.contentRange] = "bytes \(number)-\(number)/\(number)"
          for (status, range) in [
            (HTTPResponse.Status.ok, "bytes=\(number)-"), (.partialContent, "bytes=-\(number)"),
            (.notModified, "bytes=\(number)-\(number)"), (.partialContent, "bytes=0-\(number)"),
          ] {
            script.answers("abc", status: status, fields)
            _ = try await archive.load(url, script) { request in
              request.setValue(range, forHTTPHeaderField: "Range")
              request.setValue(
                "max-age=\(number), max-stale=\(number), min-fresh=\(number)", forHTTPHeaderField: "Cache-Control")
            }
            _ = try await archive.load(url, script)
          }
        }
      }
    }
    await archive.close()
  }

  @Test(
    "a body that an interceptor says is longer than any, or shorter than none, is read as it comes",
    arguments: [Int64.max, .max - 1, -1, .min])
  func lengths(_ length: Int64) async throws {
    let archive = ArchiveCache(.memory(limits: StoreLimits(bytes: .max, entryBytes: .max)))
    let script = ScriptedNext()
    let (chunks, chunk) = AsyncStream.makeStream(of: Data.self)
    chunk.yield(Data("abc".utf8))
    chunk.finish()
    script.answers {
      InterceptedResponse(
        to: $0, fields: [.cacheControl: "max-age=100"], body: .stream(chunks, length: length), source: .network)
    }
    let url = URL(string: "http://example.com/a")!
    let response = try await archive.startLoading(InterceptedRequest(.get, url), next: script.next)
    var read = Data()
    for try await piece in response.body { read += piece }
    #expect(read == Data("abc".utf8))
    await archive.close()
  }

  @Test(
    "limits of any size are kept, and take any share of themselves",
    arguments: [0, 1, 2, .nan, .infinity, -1, 0.999999999, 1e300])
  func limits(_ evictionTarget: Double) async throws {
    for (bytes, count) in [(Int64.max, Int.max), (.max, 1), (4096, .max), (.min, .min), (0, 0)] {
      var limits = StoreLimits(bytes: bytes, count: count, entryBytes: .max, evictionTarget: evictionTarget)
      let store = MemoryStore(limits: limits)
      for number in 0..<10 { _ = try? await store.put(.sample("\(number)"), body: Data(count: 1000)) }
      #expect(store.usage.count <= max(0, count))
      limits.evictionTarget = evictionTarget
      let other = MemoryStore(limits: limits)
      for number in 0..<10 { _ = try? await other.put(.sample("\(number)"), body: Data(count: 1000)) }
      #expect(other.usage.count <= max(0, count))
    }
  }

  @Test("lifetimes of the app's, however long or negative")
  func lifetimes() async throws {
    let longest = Duration(secondsComponent: .max, attosecondsComponent: 0)
    for lifetime in [longest, longest + longest, .zero - longest - longest, .zero] {
      let archive = ArchiveCache { $0.lifetimes = [.lifetime(lifetime, overridingServer: true)] }
      let script = ScriptedNext()
      script.answers("a")
      _ = try await archive.load(script)
      script.answers("b")
      #expect(try await archive.load(script).text == (lifetime > .zero ? "a" : "b"))
      let editing = ArchiveCache { $0.willStore = { $0.lifetime = lifetime } }
      _ = try await editing.load(script)
    }
  }
}
