import Foundation
import Testing
import WaylayTesting

/// Tests that fail on purpose, for what their reports have of their traffic: see `FailingTests`.
@Suite("Traffic", .enabled(if: Fixtures.areEnabled), .serialized)
struct TrafficFixtures {
  @Test(
    "fails in the middle",
    .mocked {
      Stub(.get, "https://api.example.com/users/1", .text("Ada").field("Set-Cookie", "sid=pl4nted-cookie"))
      Stub(.get, "https://api.example.com/users/2", .chunks(["Gra", "ce"]))
    })
  func failing() async throws {
    var request = URLRequest(url: UserClient.url(1))
    request.setValue("Bearer pl4nted-token", forHTTPHeaderField: "Authorization")
    let (data, _) = try await URLSession.mocked.data(for: request)
    #expect(String(decoding: data, as: UTF8.self) == "Grace")
    #expect(try await UserClient(session: .mocked).name(of: 2) == "Grace")
  }

  @Test("misses", .mocked())
  func missing() async { _ = await UserClient(session: .mocked).nameIfAny(of: 3) }

  @Test("throws", .mocked { Stub(.get, "https://api.example.com/users/1", .fault(.connectionReset)) })
  func throwing() async throws { _ = try await UserClient(session: .mocked).name(of: 1) }

  @Test("passes", .mocked { Stub(.get, "https://api.example.com/users/1", .text("Ada")) })
  func passing() async throws { #expect(try await UserClient(session: .mocked).name(of: 1) == "Ada") }

  @Test("knows its issue", .mocked { Stub(.get, "https://api.example.com/users/1", .text("Ada")) })
  func known() async {
    await withKnownIssue {
      let name = try await UserClient(session: .mocked).name(of: 1)
      #expect(name == "Grace")
    }
  }
}

/// Tests that would go to the network.
@Suite("Air gap", .enabled(if: Fixtures.areEnabled), .airgapped, .serialized)
struct AirGapFixtures {
  @Test("uses the shared session")
  func shared() async { _ = await UserClient(session: .shared).nameIfAny(of: 1) }

  @Test("uses the shared session in a detached task")
  func detached() async { await Task.detached { _ = await UserClient(session: .shared).nameIfAny(of: 1) }.value }

  @Test("lets a request pass", .mocked(.init(unmatched: .passThrough)))
  func passing() async { _ = await UserClient(session: .mocked).nameIfAny(of: 1) }

  @Test("lets a request of a stub pass", .mocked { Stub(.get, "https://api.example.com/users/1", .passThrough) })
  func passingStub() async { _ = await UserClient(session: .mocked).nameIfAny(of: 1) }

  @Test("is mocked", .mocked { Stub(.get, "https://api.example.com/users/1", .text("Ada")) })
  func mocked() async { #expect(await UserClient(session: .mocked).nameIfAny(of: 1) == "Ada") }

  @Test(
    "has its hard-wired session mocked",
    .mocked(intercepting: [.shared]) { Stub(.get, "https://api.example.com/users/1", .text("Ada")) })
  func hardWired() async { #expect(await UserClient(session: .shared).nameIfAny(of: 1) == "Ada") }

  @Test(
    "records",
    .cassette(FileManager.default.temporaryDirectory.appendingPathComponent("waylay-airgap.har").path, mode: .all))
  func recording() async { _ = await UserClient(session: .mocked).nameIfAny(of: 1) }

  @Test("asks nobody") func nobody() {}
}
