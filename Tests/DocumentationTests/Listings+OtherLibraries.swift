import Foundation
import Waylay

// The listings of `OtherLibraries.md`, each in a scope of its own. Those that are tests run.

private func otherlibrary1() async throws {
  struct Client: Sendable {
    let session: URLSession

    init(configuration: URLSessionConfiguration = .default) {
      session = URLSession(configuration: configuration)
    }
  }

  let registry = InterceptorRegistry()
  let client = Client(configuration: .default.intercepted(by: registry))
  _ = client
}
