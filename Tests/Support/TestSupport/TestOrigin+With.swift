package import TestOrigin

/// Runs a test with a server of its own.
package func withOrigin(
  hosts: [String] = ["127.0.0.1"], tls: TestOrigin.TLS? = nil, behaviour: TestOrigin.Behaviour = .serve,
  _ body: (TestOrigin) async throws -> Void
) async throws {
  _ = Recording.begin
  let origin = try await TestOrigin.start(hosts: hosts, tls: tls, behaviour: behaviour)
  do {
    try await body(origin)
    await origin.stop()
  } catch {
    await origin.stop()
    throw error
  }
}
