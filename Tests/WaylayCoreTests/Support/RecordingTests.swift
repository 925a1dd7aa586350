import Foundation
import Logging
import TestSupport
import Testing
import WaylayCore

/// The search of all that a run says finds what there is to be found.
@Suite("The search for planted secrets", .timeLimit(.minutes(5)))
struct RecordingTests {
  @Test("a process that has recorded a planted secret fails, wherever the secret was", .exitTest)
  func recorded() async {
    await #expect(processExitsWith: .exitCode(Recording.exitCode)) { Recording.note("a \(Recording.mark)-text") }
    await #expect(processExitsWith: .exitCode(Recording.exitCode)) {
      Recording.note(URLError(.timedOut, userInfo: [NSLocalizedDescriptionKey: Recording.mark]))
    }
    await #expect(processExitsWith: .exitCode(Recording.exitCode)) {
      _ = await failure { throw WaylayError(.timedOut, Recording.mark) }
    }
    await #expect(processExitsWith: .success) { Recording.note("a text") }
  }

  @Test(
    "a process that has logged a planted secret fails: in a message, in metadata, at any level, by a logger of whomever",
    .exitTest
  )
  func logged() async {
    await #expect(processExitsWith: .exitCode(Recording.exitCode)) {
      _ = Recording.begin
      Logger(label: "anybody").trace("\(Recording.mark)")
    }
    await #expect(processExitsWith: .exitCode(Recording.exitCode)) {
      Logger.recording().critical("said", metadata: ["key": ["\(Recording.mark)"]])
    }
  }

  @Test("a registry without a logger of its own is overheard", .exitTest)
  func registry() async throws {
    // A path is no secret, and is said.
    let path = "/\(UUID().uuidString)"
    let url = try #require(URL(string: "http://example.com\(path)"))
    let count = try await Recording.count(of: path) {
      let registry = InterceptorRegistry { Link.answer("x") }
      _ = try await registry.data(for: URLRequest(url: url))
      registry.invalidate()
    }
    #expect(count == 1)
    await #expect(processExitsWith: .exitCode(Recording.exitCode)) {
      _ = Recording.begin
      let registry = InterceptorRegistry { Link.answer("x") }
      _ = try await registry.data(for: URLRequest(url: #require(URL(string: "http://example.com/\(Recording.mark)"))))
    }
  }
}
