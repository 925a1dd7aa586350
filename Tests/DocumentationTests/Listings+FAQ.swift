import Foundation
import Waylay

// The listings of `FAQ.md`, each in a scope of its own. Those that are tests run.

private func question1() async throws {
  let registry = InterceptorRegistry()
  let session = URLSession(configuration: .default.intercepted(by: registry))
  _ = session
}
