import Foundation

extension URLSessionConfiguration {
  /// Returns a copy whose sessions send their requests through the registry's chains.
  ///
  /// ```swift
  /// let session = URLSession(configuration: .default.intercepted(by: registry))
  /// ```
  ///
  /// Two sessions with different registries never interfere, even with equal requests.
  /// `a.intercepted(by: inner).intercepted(by: outer)` nests them: the registry named last owns a request, and its
  /// transport leads through the one before. Protocol classes already in the configuration are still asked before the
  /// network.
  ///
  /// On Linux the copy has no `urlCache`: the loading system there never stores a response, and a lookup costs more
  /// than an interceptor does (platform facts P22, P24).
  ///
  /// Header fields, timeouts, cookie and credential storage are those of the session: set them on the copy, as on any
  /// configuration, before you make the session.
  ///
  /// Background sessions run outside the app's process, and no protocol class is asked there: to intercept the
  /// configuration of one is a programming error, which stops the program. On Linux they do not exist.
  ///
  /// On watchOS protocol classes cannot define protocols, so sessions are not intercepted there: use direct loads, such
  /// as ``InterceptorRegistry/data(for:upTo:)``.
  /// https://developer.apple.com/documentation/foundation/urlprotocol
  public func intercepted(by registry: InterceptorRegistry) -> URLSessionConfiguration {
    precondition(
      identifier == nil,
      "The requests of a background session cannot be intercepted: they would go out without this registry's chains. Use "
        + "a configuration without an identifier.")
    let copy = copied
    let protocolClass = registry.protocolClass(for: copy)
    copy.protocolClasses = [protocolClass] + (copy.protocolClasses ?? [])
    PlatformClient.adjust(copy)
    return copy
  }
}

/// The state of interception with the Foundation in the process.
public struct InterceptionReport: Sendable, Hashable, CustomStringConvertible {
  /// Whether loads of sessions are intercepted. Otherwise they fail with `WaylayError.foundationChanged`.
  public let canIntercept: Bool
  /// The losses, one clause each; empty if everything is as expected.
  public let losses: [String]

  /// The report in a line.
  public var description: String {
    guard canIntercept else { return "loads of sessions cannot be intercepted with this version of Foundation" }
    let list = losses.joined(separator: "; ")
    return "loads of sessions are intercepted" + (list.isEmpty ? "" : ", but with this version of Foundation \(list)")
  }

  private static let logged = Promise<Void>()

  /// Logs losses, once per process.
  static func logOnce(to registry: InterceptorRegistry) {
    let report = InterceptorRegistry.interceptionReport
    guard !report.canIntercept || !report.losses.isEmpty, logged.settle(.success(())) else { return }
    registry.complain("\(report)")
  }
}

extension InterceptorRegistry {
  /// Whether loads of sessions can be intercepted with this version of Foundation.
  ///
  /// ```swift
  /// guard InterceptorRegistry.canIntercept else { fatalError("pin the toolchain, or update Waylay") }
  /// ```
  ///
  /// The short form of ``interceptionReport``, which names the losses.
  public static var canIntercept: Bool { interceptionReport.canIntercept }

  /// The state of interception with this version of Foundation.
  ///
  /// On Linux a chain needs properties of a task that are not public. If they are stored in another way than expected,
  /// reflection finds them; if they are missing, the report names the losses. They are logged once per process. Some are
  /// known only after the first load of a session. Direct loads need none of these properties. On Apple platforms
  /// nothing is lost.
  public static var interceptionReport: InterceptionReport { PlatformClient.report }

  /// A protocol class for `configuration.protocolClasses`, for code that sets them itself.
  ///
  /// Each read makes an installation with its own class, which uses the registry's own configuration for settings
  /// that the loading system hides (cookies, additional header fields, timeouts). Prefer `configuration.intercepted(by:)`, which
  /// uses the session's configuration.
  public var protocolClass: URLProtocol.Type {
    makeProtocolClass(configuration: configuration.withLock { $0.copied })
  }

  /// The class for sessions of a configuration. If a load can determine its session, all configurations with equal
  /// additional header fields share one class; otherwise each configuration gets a class.
  fileprivate func protocolClass(for configuration: URLSessionConfiguration) -> URLProtocol.Type {
    let key = LoadContext(configuration).additionalFields
    if PlatformClient.knowsSession, let known = state.withLock({ $0.classes[key] }) { return known }
    // The installation retains the configuration itself, so that later changes of it count.
    let made = makeProtocolClass(configuration: configuration, followsSessions: true)
    if PlatformClient.knowsSession { state.withLock { $0.classes[key] = made } }
    return made
  }

  func makeProtocolClass(
    configuration: URLSessionConfiguration, followsSessions: Bool = false,
    where isOurs: (@Sendable (URLRequest) -> Bool)? = nil
  ) -> URLProtocol.Type {
    let installation = Installation(
      self, configuration: configuration, followsSessions: followsSessions, isOurs: isOurs)
    if configuration.identifier != nil {
      complain("a background session's requests are not intercepted: use a configuration without an identifier")
    }
    PlatformClient.prepare()
    InterceptionReport.logOnce(to: self)
    let protocolClass = ProtocolClasses.make(for: installation)
    installation.core.protocolClass.withLock { $0 = protocolClass }
    let isInvalidated = state.withLock { state in
      if !state.isInvalidated { state.installations.append(installation) }
      return state.isInvalidated
    }
    if isInvalidated { installation.invalidate() }
    return protocolClass
  }
}

extension InterceptorRegistry {
  /// Sends the requests of `URLSession.shared` through the registry's chains, for code that only uses that session.
  ///
  /// ```swift
  /// let interception = registry.interceptSharedSession()
  /// defer { interception.end() }
  /// let (data, _) = try await URLSession.shared.data(from: url)
  /// ```
  ///
  /// Its effect is as global as the session: everything in the process that uses `URLSession.shared` is intercepted,
  /// and tests that run in parallel share the interception. Call it at launch, before any request runs, because the
  /// loading system does not expect its classes to change later. Where the code lets you pass a session, prefer your
  /// own, made from `configuration.intercepted(by:)`.
  ///
  /// The most recent interception is asked first. Cookies, header fields and timeouts are those of the shared session.
  /// On Linux the call changes the configuration of the live session (platform fact P11); on Apple platforms it
  /// registers the protocol class, as `URLProtocol.registerClass(_:)` documents.
  ///
  /// - Returns: An object that ends the interception. Dropping it ends nothing.
  public func interceptSharedSession() -> SharedSessionInterception {
    let protocolClass = makeProtocolClass(configuration: URLSession.shared.configuration.copied)
    SharedSession.insert(protocolClass, into: .shared)
    return SharedSessionInterception(protocolClass, of: [.shared])
  }

  /// Sends requests of sessions that exist already through the registry's chains.
  ///
  /// On Linux the call removes the `urlCache` of the sessions: with a cache, `canInit` would be called on another thread
  /// (platform facts P22, P24).
  ///
  /// - Parameter isOurs: Called for each request: on Linux in the code that makes the request (P7), on Apple platforms on
  ///   any thread. The loading system handles a request that is not ours.
  /// - Returns: The interception, and whether all of the sessions are intercepted: on Apple platforms only
  ///   `URLSession.shared` can be.
  package func intercept(
    _ sessions: [URLSession], where isOurs: @escaping @Sendable (URLRequest) -> Bool
  ) -> (interception: SharedSessionInterception, isComplete: Bool) {
    let configuration = (sessions.first ?? .shared).configuration.copied
    let protocolClass = makeProtocolClass(configuration: configuration, followsSessions: true, where: isOurs)
    let reached = sessions.filter { SharedSession.canChange($0) }
    for session in reached {
      PlatformClient.adjust(session.configuration)
      SharedSession.insert(protocolClass, into: session)
    }
    return (SharedSessionInterception(protocolClass, of: reached), reached.count == sessions.count)
  }
}

/// The interception of `URLSession.shared` by a registry, until you end it.
///
/// End several interceptions in reverse order: a later one leads through the earlier ones.
public final class SharedSessionInterception: Sendable {
  private let protocolClass: Locked<URLProtocol.Type?>
  private let sessions: [URLSession]

  init(_ protocolClass: URLProtocol.Type, of sessions: [URLSession]) {
    self.protocolClass = Locked(protocolClass)
    self.sessions = sessions
  }

  /// Restores the shared session. Loads in progress continue; a second call does nothing.
  ///
  /// Invalidating the registry first does not end the interception: the shared session then fails its loads until you
  /// call this method.
  public func end() {
    guard let ended = protocolClass.withLock({ $0.take() }) else { return }
    for session in sessions { SharedSession.remove(ended, from: session) }
  }
}
