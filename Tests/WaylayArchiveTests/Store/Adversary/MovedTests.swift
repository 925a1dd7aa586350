import Foundation
import StoreFaults
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("An archive whose files are moved while it is open", .timeLimit(.minutes(10)))
struct MovedTests {
  let directory = TemporaryDirectory()
  private let planted = (1...40).map { Planted(1, $0, 1) }

  private func url(_ path: String) -> URL { directory.url.appendingPathComponent(path) }

  private func filled(_ directory: TemporaryDirectory, version: Int = 1) async throws -> ArchiveCache {
    let archive = ArchiveCache(.disk(at: directory.url, memory: 0), Planted.configure)
    for one in planted { try await Planted(1, one.key, version).store(in: archive) }
    try await archive.flush()
    return archive
  }

  /// Whatever has become of it: nothing wrong is given out, and errors are the archive's.
  private func use(_ archive: ArchiveCache, isRemoving: Bool = true) async throws {
    func attempt(_ operation: () async throws -> Void) async throws {
      do { try await operation() } catch is ArchiveError {}
    }
    for one in planted { try await attempt { _ = try await one.version(in: archive) } }
    try await attempt { try await Planted(1, 41, 1).store(in: archive) }
    try await attempt { try await archive.flush() }
    try await attempt { _ = try await Planted(1, 41, 1).version(in: archive) }
    guard isRemoving else { return }
    try await attempt { try await archive.removeAll() }
    try await attempt { try await archive.flush() }
  }

  @Test(
    "which are removed or exchanged one by one, gives out nothing wrong, and the next one on the directory goes on",
    .heavy, arguments: ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "bodies", ""], [true, false])
  func files(path: String, isExchanged: Bool) async throws {
    let other = TemporaryDirectory()
    await (try filled(other, version: 2)).close()
    let archive = try await filled(directory)
    let isThere = FileManager.default.fileExists(atPath: url(path).path)
    if isThere { try FileManager.default.removeItem(at: url(path)) }
    let replacement = other.url.appendingPathComponent(path)
    if isExchanged, FileManager.default.fileExists(atPath: replacement.path) {
      try FileManager.default.copyItem(at: replacement, to: url(path))
    }
    try await use(archive)
    await archive.close()
    let next = ArchiveCache(at: directory.url, Planted.configure)
    for one in planted { _ = try await one.version(in: next) }
    try await Planted(1, 1, 3).store(in: next)
    try await next.flush()
    #expect(try await Planted(1, 1, 3).version(in: next) == 3)
    await next.close()
  }

  @Test(
    "that is closed can be copied, with another path, and answers as the original does",
    arguments: [false, true])
  func copied(isEncrypted: Bool) async throws {
    let copy = TemporaryDirectory()
    func archive(_ directory: TemporaryDirectory) -> ArchiveCache {
      var options = DiskStore.Options(memory: 0, logger: .silent)
      #if Cryptography
        if isEncrypted { options.encryptionKey = { StoreKind.key } }
      #endif
      return ArchiveCache(.disk(at: directory.url, options: options)) { $0.partitionsByAuthorization = true }
    }
    func load(_ archive: ArchiveCache, _ user: String, _ text: String?) async throws -> String {
      let request = InterceptedRequest(
        .get, URL(string: "https://a.test/x")!, fields: [.authorization: "Bearer \(user)", .acceptLanguage: user])
      let response = try await archive.startLoading(
        request,
        next: InterceptorChain.Next { request in
          guard let text else { throw URLError(.notConnectedToInternet) }
          return InterceptedResponse(
            to: request, fields: [.cacheControl: "max-age=60, private", .vary: "Accept-Language"], body: .text(text))
        })
      return String(decoding: try await response.body.collect(upTo: 1000), as: UTF8.self)
    }
    let original = archive(directory)
    for user in ["ada", "bob"] { _ = try await load(original, user, "of \(user)") }
    try await original.flush()
    await original.close()
    try FileManager.default.copyItem(at: directory.url, to: copy.url)
    for place in [copy, directory] {
      let archive = archive(place)
      for user in ["ada", "bob"] { #expect(try await load(archive, user, nil) == "of \(user)") }
      await archive.close()
    }
  }

  @Test("and restored from a backup has what the backup had")
  func restored() async throws {
    let backup = TemporaryDirectory()
    await (try filled(backup)).close()
    try FileManager.default.copyItem(at: backup.url, to: directory.url)
    let archive = ArchiveCache(.disk(at: directory.url, memory: 0), Planted.configure)
    try await archive.removeAll()
    try await Planted(1, 1, 5).store(in: archive)
    try await archive.flush()
    try FileManager.default.removeItem(at: directory.url)
    try FileManager.default.copyItem(at: backup.url, to: directory.url)
    _ = try? await Planted(1, 2, 5).store(in: archive)
    _ = try? await archive.flush()
    await archive.close()
    let again = ArchiveCache(at: directory.url, Planted.configure)
    var kept = 0
    for one in planted { if try await one.version(in: again) == 1 { kept += 1 } }
    #expect(kept >= planted.count - 1)
    await again.close()
  }

  @Test("elsewhere is used where it was no more, and opens where it is")
  func renamed() async throws {
    let archive = try await filled(directory)
    let elsewhere = TemporaryDirectory()
    try FileManager.default.moveItem(at: directory.url, to: elsewhere.url)
    _ = try? await Planted(1, 1, 2).store(in: archive)
    await archive.close()
    let again = ArchiveCache(at: elsewhere.url, Planted.configure)
    for one in planted.dropFirst() { #expect(try await one.version(in: again) == 1) }
    await again.close()
  }

  @Test("is begun again at the next load where its directory was removed, with what is stored then")
  func removed() async throws {
    let archive = try await filled(directory)
    try FileManager.default.removeItem(at: directory.url)
    let next = ArchiveCache(at: directory.url, Planted.configure)
    try await Planted(2, 1, 1).store(in: next)
    try await next.flush()
    try await use(archive, isRemoving: false)
    #expect(try await Planted(2, 1, 1).version(in: next) == 1)
    await archive.close()
    await next.close()
    let again = ArchiveCache(at: directory.url, Planted.configure)
    #expect(try await Planted(2, 1, 1).version(in: again) == 1)
    await again.close()
  }

  @Test("under whose name there is another program's database is refused, and that is left as it is")
  func foreign() async throws {
    try directory.write(Data(), "index.sqlite")
    let database = try Database(url("index.sqlite").path, .readWrite)
    try database.script("PRAGMA application_id=7; CREATE TABLE thesis(text); INSERT INTO thesis VALUES('precious')")
    database.close()
    let before = directory.contents("index.sqlite")
    let archive = ArchiveCache(at: directory.url, Planted.configure)
    let error = await #expect(throws: ArchiveError.self) { try await archive.waitUntilOpen() }
    #expect(error?.code == .foreignFormat)
    await archive.close()
    #expect(directory.contents("index.sqlite") == before)
    #expect(directory.files == ["index.sqlite"])
  }
}
