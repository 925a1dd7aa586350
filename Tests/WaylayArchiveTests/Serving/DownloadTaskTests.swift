import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("Download tasks with an archive", .timeLimit(.minutes(5)))
struct DownloadTaskTests {
  private func download(_ site: Site, _ path: String) async throws -> Data {
    let (file, _) = try await site.session.download(for: site.request(path))
    defer { try? FileManager.default.removeItem(at: file) }
    return try Data(contentsOf: file)
  }

  @Test("what was stored is downloaded with the server gone")
  func offline() async throws {
    let origin = try await TestOrigin.start()
    let site = Site(origin, ArchiveCache(), wall: Wall())
    origin.reply(to: "/file") { _ in
      Reply(200, [("Cache-Control", "max-age=1000")], .whole(Data(repeating: 7, count: 300_000)))
    }
    #expect(try await download(site, "/file").count == 300_000)
    await origin.stop()
    site.archive.mode = .offline
    #expect(try await download(site, "/file") == Data(repeating: 7, count: 300_000))
  }

  @Test("a download that broke off goes on where it was, with Range and If-Range")
  func resumed() async throws {
    let origin = try await TestOrigin.start()
    let site = Site(origin, ArchiveCache(), wall: Wall())
    let bytes = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 13) })
    origin.breaksOff(at: 600_000, of: bytes, to: "/file")
    #expect(await failureCode { try await download(site, "/file") } == .networkConnectionLost)
    #expect(try await download(site, "/file") == bytes)
    let last = try #require(origin.requests(to: "/file").last)
    #expect(last["Range"].first?.hasPrefix("bytes=") == true && last["If-Range"] == ["\"1\""])
    await origin.stop()
  }
}
