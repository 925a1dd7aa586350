import Foundation
import Testing
import WaylayTesting

// The listings of `Cassettes.md`. The test runs: its file is in the folder `Cassettes`.

@Test(.cassette("user"))
func showsAUser() async throws {
  let user = try await UserClient(session: .mocked).user(42)
  #expect(user.name == "Ada")
}

private func whatMayDiffer() -> Cassette.Options {
  var options = Cassette.Options.ignoring(.query("ts"), .field("X-Request-ID"), .json("$.nonce"))
  options.chunking = .everyByte
  return options
}

private func inParts(id: Int) async throws {
  let user = try await withCassette("user-\(id)") {
    try await UserClient(session: .mocked).user(id)
  }
  _ = user
}

private func options(url: URL) async throws {
  var options = Cassette.Options()
  options.matching = [.method, .path, .query, .body, .headerField("Accept-Language")]
  options.expiry = .days(90, then: .warn)
  options.timing = .scaled(by: 0.1)
  options.unused = .fail
  options.redaction.hide("patient_id")
  let cassette = Cassette("patients", mode: .once, options: options)

  let registry = InterceptorRegistry {
    LoopGuard()
    cassette
  }
  let session = URLSession(configuration: .default.intercepted(by: registry))
  let (data, _) = try await session.data(from: url)
  try cassette.eject()
  for issue in cassette.issues { print(issue) }
  _ = data
}
