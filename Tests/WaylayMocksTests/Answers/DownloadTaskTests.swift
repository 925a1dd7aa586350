import Foundation
import TestSupport
import Testing
import WaylayCore
import WaylayMocks

@Suite("Download tasks with mocks", .timeLimit(.minutes(5)))
struct DownloadTaskTests {
  private func download(_ mock: MockInterceptor) async throws -> Data {
    let (file, _) = try await mock.session.download(from: .mocked)
    defer { try? FileManager.default.removeItem(at: file) }
    return try Data(contentsOf: file)
  }

  @Test("data, files and chunks are written to the file")
  func bodies() async throws {
    let source = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data("from a file".utf8).write(to: source)
    defer { try? FileManager.default.removeItem(at: source) }
    #expect(try await download(MockInterceptor { Stub(.get, "/**", .text("text")) }) == Data("text".utf8))
    #expect(try await download(MockInterceptor { Stub(.get, "/**", .file(source)) }) == Data("from a file".utf8))
    #expect(
      try await download(MockInterceptor { Stub(.get, "/**", .body(.stream(["a", "b"].asChunks))) })
        == Data("ab".utf8))
    #expect(FileManager.default.fileExists(atPath: source.path))
  }

  @Test("a fault in the middle of the file fails the task with the fault's code")
  func fault() async throws {
    let mock = MockInterceptor { Stub(.get, "/**", .text("0123456789").fault(.connectionReset(afterBytes: 4))) }
    #expect(await failureCode { try await mock.session.download(from: .mocked) } == .networkConnectionLost)
    let truncated = MockInterceptor { Stub(.get, "/**", .text("0123456789").fault(.truncated(afterBytes: 4))) }
    #expect(await failureCode { try await truncated.session.download(from: .mocked) } == .networkConnectionLost)
  }
}

extension [String] {
  fileprivate var asChunks: AsyncStream<Data> {
    AsyncStream { continuation in
      for text in self { continuation.yield(Data(text.utf8)) }
      continuation.finish()
    }
  }
}
