import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayTesting

/// What the tests of this file play: `Cassettes/…`, beside it.
private let users = "https://api.example.com/users/"

@Suite("A cassette of a test", .timeLimit(.minutes(5)))
struct CassetteScopeTests {
  @Test("plays to URLSession.mocked", .cassette("users"))
  func plays() async throws {
    let (data, _) = try await URLSession.mocked.data(from: #require(URL(string: users + "1")))
    #expect(String(decoding: data, as: UTF8.self) == #"{"name":"Ada"}"#)
    #expect(MockScope.current?.cassette?.file.lastPathComponent == "users.har")
  }

  @Test("is named after the test, where it is given no name", .cassette())
  func named() async throws {
    let file = try #require(MockScope.current?.cassette?.file.path)
    #expect(file.hasSuffix("Tests/WaylayTestingTests/Scopes/Cassettes/CassetteScopeTests/named.har"))
    #expect(try await name(of: 1) == "Ada")
  }

  @Suite("Of a suite", .cassette("suite"))
  struct Inherited {
    @Test("each test has its own, in a folder")
    func first() async throws { #expect(try await name(of: 1) == "Ada") }

    @Test("and another test another")
    func second() async throws { #expect(try await name(of: 1) == "Grace") }
  }

  @Test(
    "is asked after the stubs: those of its own scope, those round it and those in it",
    .mocked { Stub(.get, "https://api.example.com/users/2", .json(["name": "Outer"])) }, .cassette("users"))
  func stubs() async throws {
    MockInterceptor.current.add { Stub(.get, "https://api.example.com/users/3", .json(["name": "Own"])) }
    #expect(try await name(of: 2) == "Outer")
    #expect(try await name(of: 3) == "Own")
    try await withMock {
      Stub(.get, "https://api.example.com/users/4", .json(["name": "Inner"]))
    } operation: { () async throws in
      #expect(try await name(of: 4) == "Inner")
      #expect(try await name(of: 1) == "Ada")
    }
  }

  @Test("leaves the answer to unmatched requests to a mock that names one", .cassette("users"))
  func unmatched() async throws {
    #expect(try await name(of: 1) == "Ada")
    let reports = try await collectReports {
      try await withMock(.init(unmatched: .status(501))) {
      } operation: { () async throws in
        let (_, response) = try await URLSession.mocked.data(from: #require(URL(string: users + "1")))
        #expect((response as? HTTPURLResponse)?.statusCode == 501)
      }
    }
    #expect(reports.count == 1 && reports.first?.text.contains("No stub") == true)
  }

  @Test("fails the test for a request without an entry, and warns of an entry without a request")
  func reports() async throws {
    let all = await collectReports {
      await withCassette("users") {
        _ = try? await name(of: 7)
      }
    }.map(\.text)
    #expect(all.contains { $0.hasPrefix("No entry of the cassette users.har matches GET \(users)7") }, "\(all)")
    #expect(all.contains { $0.hasPrefix("The cassette users.har has entries that were not played: 1 of 1.") }, "\(all)")
    #expect(all.count == 2, "\(all)")
  }

  @Test("records what it is asked, and not what a test that throws has asked until then")
  func records() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("tape").path
    try await withOrigin { origin in
      let url = origin.url("/hello")
      await #expect(throws: CancellationError.self) {
        try await withCassette(path, mode: .once) {
          _ = try await URLSession.mocked.data(from: url)
          throw CancellationError()
        }
      }
      #expect(!FileManager.default.fileExists(atPath: path + ".har"))
      try await withCassette(path, mode: .once) {
        let (data, _) = try await URLSession.mocked.data(from: url)
        #expect(data == Data("hello".utf8))
      }
      #expect(FileManager.default.fileExists(atPath: path + ".har"))
      await origin.stop()
      try await withCassette(path, mode: .once) {
        let (data, _) = try await URLSession.mocked.data(from: url)
        #expect(data == Data("hello".utf8))
      }
    }
  }

  @Test("says what could not be written when the test is over")
  func unwritable() async throws {
    try await withOrigin { origin in
      let url = origin.url("/hello")
      let reports = try await collectReports {
        try await withCassette("/dev/null/tape", mode: .all) { _ = try await URLSession.mocked.data(from: url) }
      }
      #expect(reports.contains { $0.text.contains("/dev/null/tape.har cannot be written") }, "\(reports)")
    }
  }
}

/// What a client of the tests above finds.
private func name(of id: Int) async throws -> String {
  let (data, _) = try await URLSession.mocked.data(from: #require(URL(string: users + "\(id)")))
  return try JSONDecoder().decode([String: String].self, from: data)["name"] ?? ""
}
