import Crypto
import Foundation
import TestSupport
import Testing

@testable import WaylayArchive

@Suite("What no archive can be made of", .timeLimit(.minutes(5)))
struct RefusalTests {
  private func code(_ operation: () async throws -> Void) async -> ArchiveError? {
    do {
      try await operation()
      return nil
    } catch { return error as? ArchiveError }
  }

  @Test(
    "a URL that leads to no file is refused, and nothing is made where its path would lead",
    arguments: ["https://example.com/waylay-refused?token=s3cret", "waylay-refused:/waylay-refused"])
  func remoteDirectory(text: String) async throws {
    let url = try #require(URL(string: text))
    let error = await code { _ = try DiskStore(at: url) }
    #expect(error?.code == .directoryUnusable)
    #expect(error?.message.contains("file URL") == true && "\(String(describing: error))".contains("s3cret") == false)
    let archive = ArchiveCache(at: url)
    #expect(await code { try await archive.waitUntilOpen() } != nil)
    await archive.close()
    #expect(!FileManager.default.fileExists(atPath: "/waylay-refused"))
  }

  #if Cryptography
    @Test(
      "a key shorter than 16 bytes is refused before anything is made; 16 are enough", arguments: [0, 1, 15, 16, 32])
    func shortKeys(bytes: Int) async throws {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let key = SymmetricKey(data: [UInt8](repeating: 7, count: bytes))
      let error = await code {
        let store = try DiskStore(at: folder, options: DiskStore.Options(encryptionKey: { key }))
        await store.close()
      }
      #expect(error?.code == (bytes < 16 ? .invalidKey : nil), "\(String(describing: error))")
      #expect(FileManager.default.fileExists(atPath: folder.path) == (bytes >= 16))
    }
  #endif
}
