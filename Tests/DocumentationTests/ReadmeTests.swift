import Foundation
import Testing
import Waylay

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Test("README shows a failed test's report as it is printed", .timeLimit(.minutes(5)))
func reportInReadme() async throws {
  let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  let mock = MockInterceptor { Stub(.get, "https://api.example.com/users/:id", .json(["name": "Ada"])) }
  let session = URLSession(configuration: .default.intercepted(by: InterceptorRegistry { mock }))
  let url = try #require(URL(string: "https://api.example.com/user/42"))
  let error = try await #require(throws: URLError.self) { try await session.data(from: url) }
  let message = try #require(error.cause(as: MockError.self)?.message)
    .replacing(/\[\w+\/\w+\.swift:\d+\]/, with: "[AppTests/UserTests.swift:5]")
  let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
  #expect(readme.contains("```text\n\(message.trimmingCharacters(in: .newlines))\n```\n"), "\(message)")
}
