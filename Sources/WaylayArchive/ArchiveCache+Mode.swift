import Foundation

extension ArchiveCache {
  /// The mode for requests without a more specific mode. You can set it at any time; it applies to loads that start
  /// afterwards.
  public var mode: ArchiveMode {
    get { engine.modes.withLock { $0.general } }
    set { engine.modes.withLock { $0.general = newValue } }
  }

  /// Sets the mode for the requests that a scope covers, or removes it with `nil`.
  ///
  /// ```swift
  /// archive.setMode(.preferArchive, for: .host("*.cdn.example.com"), named: "cdn")
  /// ```
  ///
  /// - Parameters:
  ///   - mode: The mode; `nil` removes the one with that name.
  ///   - scope: The requests.
  ///   - name: The setting's name. A later call with the same name replaces it; if several cover a request, the most
  ///     recent one wins.
  public func setMode(_ mode: ArchiveMode?, for scope: InterceptorChain.Scope, named name: String) {
    engine.modes.withLock { modes in
      modes.scoped.removeAll { $0.name == name }
      if let mode { modes.scoped.append(ScopedMode(name: name, scope: scope, mode: mode)) }
    }
  }

  /// Sets the mode for the requests to one host, or removes it with `nil`.
  public func setMode(_ mode: ArchiveMode?, forHost host: String) {
    setMode(mode, for: .host(host), named: "host \(host)")
  }

  /// Lets a sequence of reachability values set ``mode``; `true` means that the network is available.
  ///
  /// ```swift
  /// archive.follow(reachability)              // any AsyncSequence of Bool
  /// ```
  ///
  /// The archive owns the task that reads the sequence. It cancels the task in ``invalidate()``, when the archive is
  /// released, or when it follows another sequence.
  ///
  /// - Parameters:
  ///   - reachability: The sequence. Its end or failure leaves the mode unchanged.
  ///   - online: The mode for `true`.
  ///   - offline: The mode for `false`.
  public func follow<Reachability: AsyncSequence & Sendable>(
    _ reachability: Reachability, online: ArchiveMode = .online, offline: ArchiveMode = .offline
  ) where Reachability.Element == Bool {
    let task = Task { [modes = engine.modes] in
      do {
        for try await isReachable in reachability { modes.withLock { $0.general = isReachable ? online : offline } }
      } catch {}
    }
    engine.modes.withLock { [engine] modes -> Task<Void, Never>? in
      // Nobody would end it any more.
      guard !engine.isInvalidated.withLock({ $0 }) else { return task }
      defer { modes.follower = task }
      return modes.follower
    }?.cancel()
  }

  /// A mode for some requests.
  struct ScopedMode: Sendable {
    let name: String
    let scope: InterceptorChain.Scope
    let mode: ArchiveMode
  }

  /// The modes of an archive.
  struct Modes: Sendable {
    var general: ArchiveMode
    var scoped: [ScopedMode] = []
    var follower: Task<Void, Never>?
  }
}

/// The mode for one request, set by an interceptor before the archive.
///
/// ```swift
/// request[ArchiveModeKey.self] = .preferArchive
/// ```
///
/// An app that makes the requests itself can use `URLRequest.cachePolicy` or ``ArchiveCache/Configuration/modeFor``.
public enum ArchiveModeKey: InterceptedRequest.Key {
  /// The default: no specific mode.
  public static let defaultValue: ArchiveMode? = nil
}
