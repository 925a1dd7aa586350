import Foundation
import OfflineReader
import Testing
import WaylayTesting

@Suite struct ReaderTests {
  let directory = FileManager.default.temporaryDirectory.appendingPathComponent("reader-\(UUID().uuidString)")
  let front = URL(string: "https://news.example.com/")!

  @Test(
    .mocked {
      Stub(.get, "https://news.example.com/", .text("News <a href=\"/1\">one</a> <a href=\"//other.example/\">two</a>"))
      Stub(.get, "https://news.example.com/1", .text("Article 1"))
    })
  func readsPagesInALaterRun() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let pages = try await Reader(at: directory, configuration: .mocked).load(front)
    #expect(pages.map(\.path) == ["/", "/1"])

    let later = Reader(at: directory, isReadOnly: true)
    #expect(try await later.read(pages[1]) == "Article 1")
    let missing = await #expect(throws: URLError.self) { try await later.read(front.appendingPathComponent("2")) }
    #expect(Reader.message(try #require(missing)).contains("offline"))
  }

  @Test(arguments: [true, false])
  func saysWhyADirectoryCannotBeUsed(isReadOnly: Bool) async throws {
    try Data("a file".utf8).write(to: directory)
    defer { try? FileManager.default.removeItem(at: directory) }
    let reader = Reader(at: directory, isReadOnly: isReadOnly)
    let error = await #expect(throws: (any Error).self) { _ = try await reader.read(front) }
    #expect(Reader.message(try #require(error)).contains(directory.path))
  }

  @Test func makesNoDirectoryToReadFrom() async throws {
    let reader = Reader(at: directory, isReadOnly: true)
    let error = await #expect(throws: (any Error).self) { _ = try await reader.read(front) }
    #expect(Reader.message(try #require(error)).contains("No such file or directory"))
    #expect(!FileManager.default.fileExists(atPath: directory.path))
  }
}
