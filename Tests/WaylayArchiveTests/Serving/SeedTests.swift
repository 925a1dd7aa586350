import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("Seeding from a folder", .timeLimit(.minutes(5)))
struct SeedTests {
  private let folder = TemporaryDirectory()

  init() throws {
    for (path, text) in [
      "index.html": "home", "images/a map.png": "map", "docs/index.html": "docs", "docs/.hidden": "no",
      "data.unknown": "bytes",
    ] { try folder.write(Data(text.utf8), path) }
    try FileManager.default.createSymbolicLink(
      atPath: folder.url.appendingPathComponent("link.txt").path, withDestinationPath: "/etc/hostname")
  }

  @Test("files answer for their URLs, and index.html for its folder, without a network")
  func answers() async throws {
    try await withSite { (site: Site) async throws in
      let count = try await site.archive.seed(from: folder.url, as: site.origin.url("/guide"))
      #expect(count == 6)
      #expect(site.archive.counters.misses == 0 && site.archive.counters.stored == 6)
      try await site.origin.stopListening()
      let home = try await site.get("/guide/")
      #expect(home.text == "home" && home["Content-Type"] == "text/html; charset=utf-8")
      #expect(try await site.get("/guide/index.html").text == "home")
      #expect(try await site.get("/guide/docs/").text == "docs")
      let map = try await site.get("/guide/images/a%20map.png")
      #expect(map.text == "map" && map["Content-Type"] == "image/png" && map["Last-Modified"] != nil)
      #expect(try await site.get("/guide/data.unknown")["Content-Type"] == "application/octet-stream")
      site.archive.mode = .offline
      for path in ["/guide/docs/.hidden", "/guide/link.txt"] {
        #expect(cause(await failure { try await site.get(path) })?.code == .notStored)
      }
    }
  }

  @Test("stale at once, unless told otherwise: the server is asked for something newer")
  func lifetime() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/index.html", with: numbered())
      site.origin.reply(to: "/data.unknown", with: numbered())
      try await site.archive.seed(from: folder.url, as: site.origin.url("/"))
      #expect(try await site.get("/index.html").text == "body 1")
      #expect(site.seen("/index.html").first?["If-Modified-Since"].isEmpty == false)
      // What is stored stays, unless it is to be replaced.
      #expect(try await site.archive.seed(from: folder.url, as: site.origin.url("/"), lifetime: .seconds(60)) == 0)
      #expect(
        try await site.archive.seed(from: folder.url, as: site.origin.url("/"), lifetime: .seconds(60), replacing: true)
          == 6)
      #expect(try await site.get("/data.unknown").text == "bytes")
      site.wall.advance(by: 61)
      #expect(try await site.get("/data.unknown").text == "body 1")
    }
  }

  @Test("keys, marks and refusals are those of the configuration; what is too large is left out")
  func rules() async throws {
    try folder.write(.noise(9000), "large.bin")
    try await withSite(
      limits: StoreLimits(bytes: 1 << 20, entryBytes: 5000),
      {
        $0.partition = { _ in "ada" }
        $0.willStore = { candidate in
          candidate.tags.insert("seed")
          if candidate.request.url?.pathExtension == "unknown" { candidate.refuse("not this one") }
        }
      }
    ) { (site: Site) async throws in
      #expect(try await site.archive.seed(from: folder.url, as: site.origin.url("/")) == 5)
      let entries = try await site.archive.store.list(.partition("ada"))
      #expect(entries.count == 5 && entries.allSatisfy { $0.details.tags == ["seed"] })
      #expect(entries.allSatisfy { ArchivedResponse($0)?.fields[.lastModified] != nil })
    }
  }

  @Test("a folder that is not there is an error")
  func missing() async throws {
    let error = await failure {
      try await ArchiveCache().seed(
        from: folder.url.appendingPathComponent("none"), as: URL(string: "https://a.example")!)
    }
    #expect((error as? ArchiveError)?.code == .unreadable)
  }
}
