import Crypto
import Foundation
import HTTPTypes
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("Secrets", .timeLimit(.minutes(5)))
struct SecretTests {
  /// An app's error that says everything.
  private struct Telling: Error, CustomStringConvertible {
    let description = "failed with pl4nted-of-error"
  }

  private static let url = "http://user:pl4nted-password@example.com/a?token=pl4nted-query&empty"

  private static func telling(_ request: InterceptedRequest) -> [any Error] {
    let info: [String: Any] = [
      NSURLErrorFailingURLErrorKey: request.url as Any, NSLocalizedDescriptionKey: "no pl4nted-of-error",
      NSUnderlyingErrorKey: Telling(),
    ]
    return [
      Telling(), URLError(.notConnectedToInternet, userInfo: info), URLError(.cannotParseResponse, userInfo: info),
      NSError(domain: "app", code: 7, userInfo: info),
      TransportError(.timedOut, message: "GET \(url) failed", underlying: Telling()),
    ]
  }

  private func request(_ request: inout URLRequest) {
    request.setValue("Bearer pl4nted-header", forHTTPHeaderField: "Authorization")
    request.setValue("session=pl4nted-cookie", forHTTPHeaderField: "Cookie")
    request.setValue("pl4nted-header", forHTTPHeaderField: "X-Key")
  }

  /// Runs an archive through whatever it can do, and collects all that it says.
  private func run(_ archive: ArchiveCache, _ wall: Wall) async throws -> [String] {
    let events = archive.events(bufferingNewest: 10_000)
    var said: [String] = []
    let script = ScriptedNext()
    let fields: HTTPFields = [
      .cacheControl: "max-age=10, stale-while-revalidate=15", .setCookie: "session=pl4nted-set-cookie", .eTag: "\"1\"",
      .vary: "X-Key, Cookie",
    ]
    func load(_ change: (inout URLRequest) -> Void = { _ in }) async {
      do {
        let loaded = try await archive.load(Self.url, script) {
          request(&$0)
          change(&$0)
        }
        said.append(loaded.response.fields[HTTPField.Name("Cache-Status")!] ?? "")
      } catch {
        if let error = (error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? ArchiveError {
          said.append("\(error) \(error.message)")
        }
      }
    }
    for text in ["pl4nted-body", "pl4nted-body, a second one"] {
      script.answers(text, fields)
      await load()
      await load()
      wall.advance(by: 20)
      for number in 0..<5 {
        script.answers { throw Self.telling($0)[number] }
        await load()
        wall.advance(by: 1)
        await load { $0.cachePolicy = .reloadIgnoringLocalCacheData }
      }
      wall.advance(by: 100)
      for number in 0..<5 {
        script.answers { throw Self.telling($0)[number] }
        await load()
        // A body that breaks off.
        script.answers { request in
          let chunks = AsyncThrowingStream<Data, any Error> { stream in
            stream.yield(Data("pl4nted-body".utf8))
            stream.finish(throwing: Self.telling(request)[number])
          }
          return InterceptedResponse(to: request, fields: fields, body: .stream(chunks, length: 100), source: .network)
        }
        await load { $0.cachePolicy = .reloadIgnoringLocalCacheData }
      }
      script.answers("", [.location: "/b"])
      await load { $0.httpMethod = "POST" }
      for mode in ArchiveMode.allCases {
        archive.mode = mode
        var asked = URLRequest(url: try #require(URL(string: Self.url)))
        request(&asked)
        let explanation = await archive.explain(asked)
        said.append("\(explanation) \(explanation.rows) \(explanation.variants)")
        await load()
        await load { $0.url = URL(string: Self.url + "&other=pl4nted-query") }
      }
      archive.mode = .online
    }
    for entry in try await archive.store.list() { said.append("\(entry) \(entry.details)") }
    try await archive.store.flush()
    archive.invalidate()
    for await event in events { said.append("\(event) \(event.reason ?? "")") }
    await archive.close()
    return said
  }

  #if Cryptography
    static let encryptions = [true]
  #else
    static let encryptions: [Bool] = []
  #endif

  @Test(
    "nothing that is said, and nothing on the disk, has a credential in it",
    arguments: [false] + SecretTests.encryptions)
  func nowhere(isEncrypted: Bool) async throws {
    let wall = Wall()
    let lines = Log<String>()
    try await withDirectory { directory in
      var options = DiskStore.Options()
      #if Cryptography
        if isEncrypted { options.encryptionKey = { SymmetricKey(data: [UInt8](repeating: 3, count: 32)) } }
      #endif
      let archive = ArchiveCache(.disk(at: directory, options: options)) {
        $0.now = { wall.now }
        #if StructuredFields
          $0.cacheStatus = .always
        #endif
        $0.keepsQueryValues = false
        $0.logger = .recording(lines)
        $0.willStore = { candidate in lines.add("\(candidate)") }
      }
      try await archive.waitUntilOpen()
      let said = try await run(archive, wall) + lines.all
      #expect(said.count > 50)
      for text in said {
        Recording.note(text)
        #expect(!text.contains(Recording.mark), "\(text)")
      }
      // Bodies are the app's content, and in clear unless the store encrypts them.
      let hidden = ["password", "query", "header", "cookie", "set-cookie", "of-error"] + (isEncrypted ? ["body"] : [])
      for file in FileManager.default.enumerator(atPath: directory.path)?.allObjects as? [String] ?? [] {
        let bytes = (try? Data(contentsOf: directory.appendingPathComponent(file))) ?? Data()
        for secret in hidden { #expect(bytes.range(of: Data("pl4nted-\(secret)".utf8)) == nil, "\(file): \(secret)") }
      }
    }
  }
}
