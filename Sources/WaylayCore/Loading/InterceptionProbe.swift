import Foundation

extension URLSession {
  /// Checks that the loading system hands this session's requests to a registry.
  ///
  /// ```swift
  /// let session = URLSession(configuration: .default.intercepted(by: registry))
  /// try await session.verifyInterception()
  /// ```
  ///
  /// Call it at launch where a request must not go out without its chain. It makes one request, for a closed port of
  /// this machine, which the registry answers before any chain: no interceptor, history or event has it.
  ///
  /// - Throws: `WaylayError.notIntercepted`, which says where to look; `registryInvalidated` for a session whose
  ///   registry has ended.
  public func verifyInterception() async throws {
    // In a background session a task with a completion handler ends the process.
    guard configuration.identifier == nil else { throw InterceptionProbe.notIntercepted("it is a background session") }
    try await InterceptionProbe.verify { _ = try await self.data(for: $0, delegate: nil) }
  }
}

extension URLSessionConfiguration {
  /// The same for a session that is made from this configuration, and ended.
  ///
  /// - Throws: What that of a session throws.
  public func verifyInterception() async throws {
    guard identifier == nil else { throw InterceptionProbe.notIntercepted("it is a background session") }
    let session = URLSession(configuration: self)
    defer { session.finishTasksAndInvalidate() }
    try await session.verifyInterception()
  }
}

/// The request that finds out whether a protocol class of ours is asked.
package enum InterceptionProbe {
  static let method = "WAYLAY-PROBE"

  /// Requests under way, and whether a class has answered.
  private static let probes = Locked<[String: Bool]>([:])

  /// Loads a probe, which fails in any case, and throws unless a class of ours was why.
  package static func verify(_ load: (URLRequest) async throws -> Void) async throws {
    let id = UUID().uuidString
    // Port 1 is closed: without us the load fails at once, and asks no resolver.
    guard let url = URL(string: "https://127.0.0.1:1/\(id)") else { return }
    var request = URLRequest(url: url, timeoutInterval: 10)
    request.httpMethod = method
    probes.withLock { $0[id] = false }
    var failure: (any Error)?
    do { try await load(request) } catch { failure = error }
    guard probes.withLock({ $0.removeValue(forKey: id) }) != true else { return }
    try Task.checkCancellation()
    if let cause = (failure as? URLError)?.cause(as: WaylayError.self), cause.code == .registryInvalidated {
      throw cause
    }
    throw notIntercepted("no protocol class of Waylay was asked", failure)
  }

  /// Whether the request is a probe; notes that it has come.
  static func answers(_ request: URLRequest) -> Bool {
    guard request.httpMethod == method, let id = request.url?.lastPathComponent else { return false }
    return probes.withLock { probes in
      guard probes[id] != nil else { return false }
      probes[id] = true
      return true
    }
  }

  static func notIntercepted(_ reason: String, _ underlying: (any Error)? = nil) -> WaylayError {
    WaylayError(
      .notIntercepted,
      "the requests of this session go out without a registry: \(reason). Make the session after intercepted(by:), from the "
        + "configuration that it returns; for URLSession.shared call interceptSharedSession(). Leave "
        + "usesClassicLoadingMode true: the new loader asks no protocol class. Background sessions cannot be intercepted, "
        + "and another protocol class may be asked first. A URLLoader that is the registry needs no protocol class.",
      underlying: underlying)
  }
}
