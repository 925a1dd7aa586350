import Foundation
import HTTPTypes
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("What one user's request does to another's entries", .timeLimit(.minutes(5)))
struct OtherUsersTests {
  private func load(
    _ archive: ArchiveCache, _ script: ScriptedNext, _ user: String, _ method: String = "GET", _ query: String = ""
  ) async throws -> String {
    try await archive.load("http://example.com/a" + query, script) {
      $0.httpMethod = method
      $0.setValue("Bearer \(user)", forHTTPHeaderField: "Authorization")
    }.text
  }

  @Test(
    "a change by one user makes every user's entry of the URL doubtful (RFC 9111, section 4.4)",
    arguments: [true, false], ["PUT", "DELETE", "POST"])
  func invalidates(_ isPartitioned: Bool, _ method: String) async throws {
    try await withDirectory { directory in
      for storage in [ArchiveCache.Storage.memory, .disk(at: directory)] {
        let archive = ArchiveCache(storage) {
          if isPartitioned { $0.partition = { $0.value(forHTTPHeaderField: "Authorization") } }
        }
        try await archive.waitUntilOpen()
        let script = ScriptedNext()
        script.answers("old", [.cacheControl: "max-age=1000"])
        for user in ["ada", "bob"] {
          _ = try await load(archive, script, user)
          _ = try await load(archive, script, user, "GET", "?other")
        }
        script.answers("changed")
        _ = try await load(archive, script, "ada", method)
        script.answers("new", [.cacheControl: "max-age=1000"])
        for user in ["ada", "bob"] {
          #expect(try await load(archive, script, user) == "new")
          #expect(try await load(archive, script, user, "GET", "?other") == "old")
        }
        await archive.close()
      }
    }
  }

  @Test("explain says that something is stored for somebody else, and a filter by URL finds it")
  func explained() async throws {
    let archive = ArchiveCache { $0.keys = [.ignoringQueryItems(["utm"])] }
    let script = ScriptedNext()
    script.answers("old", [.cacheControl: "max-age=1000"])
    for user in ["ada", "bob"] { _ = try await load(archive, script, user, "GET", "?utm=1") }
    let url = try #require(URL(string: "http://example.com/a?utm=2"))
    let rows = await archive.explain(URLRequest(url: url)).rows
    #expect(rows.contains { $0.name == "elsewhere" && $0.text.hasPrefix("2 ") })
    #expect(rows.contains { $0.name == "reason" && $0.text.contains("other credentials") })
    // By the key rules: another value of what does not count is the same URL.
    #expect(try await archive.removeAll(.url(url)) == 2)
  }

  @Test("a host is found in whatever form it is written")
  func hosts() async throws {
    let archive = ArchiveCache()
    let script = ScriptedNext()
    script.answers("old", [.cacheControl: "max-age=1000"])
    _ = try await archive.load("http://xn--bcher-kva.example/", script)
    for host in ["xn--bcher-kva.example", "XN--Bcher-KVA.example", "bücher.example"] {
      #expect(try await archive.entries(.host(host)).count == 1, "\(host)")
    }
    #expect(try await archive.removeAll(.host("www.xn--bcher-kva.example")) == 0)
  }
}
