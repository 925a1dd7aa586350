import Foundation

extension URLSession {
  /// Checks that the loading system hands this session's requests to a registry.
  ///
  /// ```swift
  /// let session = URLSession(configuration: .default.intercepted(by: registry))
  /// try await session.verifyInterception()
  /// ```
  ///
  /// Call it at launch if a request must not be sent without its chain. It makes one request, for a closed port of this
  /// machine, which the registry answers before any chain: no interceptor, history or event contains it.
  ///
  /// - Throws: `WaylayError.notIntercepted`, whose message names the possible causes; `registryInvalidated` for a
  ///   session whose registry has ended.
  public func verifyInterception() async throws {
    // In a background session, a task with a completion handler traps.
    guard configuration.identifier == nil else { throw InterceptionProbe.notIntercepted("it is a background session") }
    try await InterceptionProbe.verify { _ = try await self.data(for: $0, delegate: nil) }
  }
}

extension URLSessionConfiguration {
  /// Makes a session from this configuration, and checks it.
  ///
  /// - Throws: The errors of `URLSession.verifyInterception()`.
  public func verifyInterception() async throws {
    guard identifier == nil else { throw InterceptionProbe.notIntercepted("it is a background session") }
    let session = URLSession(configuration: self)
    defer { session.finishTasksAndInvalidate() }
    try await session.verifyInterception()
  }
}

/// A request that detects whether the loading system asks the protocol classes of Waylay.
package enum InterceptionProbe {
  static let method = "WAYLAY-PROBE"

  /// The probes that no class has answered yet.
  private static let probes = Locked<Set<String>>([])

  /// Loads a probe, which always fails, and throws unless a protocol class of Waylay made it fail.
  package static func verify(_ load: (URLRequest) async throws -> Void) async throws {
    let id = UUID().uuidString
    // Port 1 is closed: without interception, the load fails at once and without a DNS lookup.
    guard let url = URL(string: "https://127.0.0.1:1/\(id)") else { return }
    var request = URLRequest(url: url, timeoutInterval: 10)
    request.httpMethod = method
    probes.withLock { _ = $0.insert(id) }
    var failure: (any Error)?
    do { try await load(request) } catch { failure = error }
    guard probes.withLock({ $0.remove(id) }) != nil else { return }
    try Task.checkCancellation()
    if let cause = (failure as? URLError)?.cause(as: WaylayError.self), cause.code == .registryInvalidated {
      throw cause
    }
    throw notIntercepted("no protocol class of Waylay was asked", failure)
  }

  /// Whether the request is a probe; records that a class was asked.
  static func answers(_ request: URLRequest) -> Bool {
    guard request.httpMethod == method, let id = request.url?.lastPathComponent else { return false }
    return probes.withLock { $0.remove(id) != nil }
  }

  static func notIntercepted(_ reason: String, _ underlying: (any Error)? = nil) -> WaylayError {
    WaylayError(
      .notIntercepted,
      "the requests of this session bypass the registry: \(reason). Make the session after intercepted(by:), from the "
        + "configuration that it returns; for URLSession.shared call interceptSharedSession(). Leave "
        + "usesClassicLoadingMode true: the new loader asks no protocol class. Background sessions cannot be intercepted, "
        + "and another protocol class may be asked first. A registry used as a URLLoader needs no protocol class.",
      underlying: underlying)
  }
}
