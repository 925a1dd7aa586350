import Foundation
import Testing
import Waylay

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("The listings of the documentation", .timeLimit(.minutes(5)))
struct ListingTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The lines that count: without indentation, comments at the end, blank lines and imports.
  private static func lines(_ text: some StringProtocol) -> [String] {
    text.split(separator: "\n").compactMap { line in
      let code = line.components(separatedBy: "  //")[0].trimmingCharacters(in: .whitespaces)
      return code.isEmpty || code.hasPrefix("//") || code.hasPrefix("import ") ? nil : code
    }
  }

  private static func listings(in file: URL) throws -> [[String]] {
    // What listings start from is compiled with each of them, by Scripts/listings.sh.
    try String(contentsOf: file, encoding: .utf8).components(
      separatedBy: "To try a listing of this page, put these lines above it:")[0]
      .components(separatedBy: "```swift\n").dropFirst()
      .map { lines($0.components(separatedBy: "```")[0]) }
      // A manifest's fragment is not a program.
      .filter { !["dependencies: [", "platforms: [.macOS(.v13)],"].contains($0.first ?? "") }
  }

  private static func compiledLines() throws -> [String] {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.lastPathComponent.hasPrefix("Listings") }
      .flatMap { try lines(String(contentsOf: $0, encoding: .utf8)) }
  }

  @Test("each stands word for word in a file that compiles", arguments: ["README.md", "Documentation.docc"])
  func compiled(place: String) throws {
    let path = Self.root.appendingPathComponent(place)
    let files =
      place.hasSuffix(".md")
      ? [path]
      : try FileManager.default.contentsOfDirectory(at: path, includingPropertiesForKeys: nil).filter {
        $0.pathExtension == "md"
      }
    let compiled = try Self.compiledLines()
    var count = 0
    for file in files {
      for listing in try Self.listings(in: file) {
        count += 1
        let isThere = compiled.indices.contains { compiled[$0...].starts(with: listing) }
        #expect(
          isThere,
          "\(file.lastPathComponent): copy this listing to Listings*.swift:\n\(listing.joined(separator: "\n"))")
      }
    }
    #expect(count > 2)
  }

  @Test("README shows a failed test's report as it is printed")
  func report() async throws {
    let mock = MockInterceptor { Stub(.get, "https://api.example.com/users/:id", .json(["name": "Ada"])) }
    let session = URLSession(configuration: .default.intercepted(by: InterceptorRegistry { mock }))
    let url = try #require(URL(string: "https://api.example.com/user/42"))
    let error = try await #require(throws: URLError.self) { try await session.data(from: url) }
    let message = try #require(error.cause(as: MockError.self)?.message)
      .replacing(/\[\w+\/\w+\.swift:\d+\]/, with: "[AppTests/UserTests.swift:5]")
    let readme = try String(contentsOf: Self.root.appendingPathComponent("README.md"), encoding: .utf8)
    #expect(readme.contains("```text\n\(message.trimmingCharacters(in: .newlines))\n```\n"), "\(message)")
  }
}
