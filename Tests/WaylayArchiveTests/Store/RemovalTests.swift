import Foundation
import HTTPTypes
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("Removing some entries", .timeLimit(.minutes(5)))
struct RemovalTests {
  let directory = TemporaryDirectory()

  @Test("by a time: those before it, or those at it and after", arguments: StoreKind.allCases)
  func times(kind: StoreKind) async throws {
    for (isAfter, rest) in [(false, ["b", "c"]), (true, ["a"])] {
      let directory = TemporaryDirectory()
      let store = try kind.make(directory)
      for (name, time) in [("a", 100.0), ("b", 200.0), ("c", 300.0)] {
        try await store.put(.sample(name, stored: time), body: Data(name.utf8))
      }
      let time = Date(timeIntervalSince1970: 200)
      #expect(try await store.removeAll(isAfter ? .stored(after: time) : .stored(before: time)) == 3 - rest.count)
      #expect(try await store.list().map { String(decoding: $0.key.bytes, as: UTF8.self) } == rest)
      await store.close()
    }
  }

  @Test("by a URL, and not its neighbours", arguments: StoreKind.allCases)
  func url(kind: StoreKind) async throws {
    let store = try kind.make(directory)
    for name in ["news", "news/1", "newspaper", "news?page=2"] {
      try await store.put(.sample(name), body: Data(name.utf8))
    }
    let url = try #require(URL(string: "HTTPS://user:pl4nted@Example.com:443/news#top"))
    #expect(try await store.removeAll(.url(url)) == 1)
    #expect(
      try await store.list().map(\.details.url)
        == ["news/1", "newspaper", "news?page=2"].map { "https://example.com/\($0)" })
    await store.close()
  }

  @Test("by a request: all its variants, for its own user, and not its neighbours")
  func request() async throws {
    let archive = ArchiveCache()
    let script = ScriptedNext()
    script.answers("a", [.cacheControl: "max-age=1000", .vary: "Accept"])
    let root = "http://example.com/news"
    for accept in ["text/html", "text/plain"] {
      _ = try await archive.load(root, script) { $0.setValue(accept, forHTTPHeaderField: "Accept") }
    }
    for other in ["/1", "paper", "?page=2"] { _ = try await archive.load(root + other, script) }
    _ = try await archive.load(root, script) { $0.setValue("Bearer ada", forHTTPHeaderField: "Authorization") }
    let url = try #require(URL(string: root))
    #expect(try await archive.remove(for: URLRequest(url: url)) == 2)
    #expect(try await archive.store.list().count == 4)
    var adas = URLRequest(url: url)
    adas.setValue("Bearer ada", forHTTPHeaderField: "Authorization")
    #expect(try await archive.remove(for: adas) == 1)
    #expect(try await archive.remove(for: adas) == 0)
  }
}
