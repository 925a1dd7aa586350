import Foundation

extension ArchiveCache {
  /// The mode of requests for which nothing narrower is said. It may be set at any time, and counts for the loads that
  /// start afterwards.
  public var mode: ArchiveMode {
    get { engine.modes.withLock { $0.general } }
    set { engine.modes.withLock { $0.general = newValue } }
  }

  /// Sets the mode of the requests that a scope covers, or takes it back with `nil`.
  ///
  /// ```swift
  /// archive.setMode(.preferArchive, for: .host("*.cdn.example.com"), named: "cdn")
  /// ```
  ///
  /// - Parameters:
  ///   - mode: The mode; `nil` to forget what was said under that name.
  ///   - scope: The requests.
  ///   - name: What to call it. A later call with the same name replaces it; among several that cover a request, the
  ///     one set last counts.
  public func setMode(_ mode: ArchiveMode?, for scope: InterceptorChain.Scope, named name: String) {
    engine.modes.withLock { modes in
      modes.scoped.removeAll { $0.name == name }
      if let mode { modes.scoped.append(ScopedMode(name: name, scope: scope, mode: mode)) }
    }
  }

  /// Sets the mode of the requests to one host, or takes it back with `nil`.
  public func setMode(_ mode: ArchiveMode?, forHost host: String) {
    setMode(mode, for: .host(host), named: "host \(host)")
  }

  /// Lets a sequence of reachability drive ``mode``: `true` for a network that is there.
  ///
  /// ```swift
  /// archive.follow(reachability)              // any AsyncSequence of Bool
  /// ```
  ///
  /// The archive owns the task that reads the sequence, and cancels it with ``invalidate()``, at its end, or when it
  /// follows another one.
  ///
  /// - Parameters:
  ///   - reachability: The sequence. Its end or its failure leaves the mode as it is.
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
    engine.modes.withLock { modes -> Task<Void, Never>? in
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

/// The mode of one request, as an interceptor before the archive notes it.
///
/// ```swift
/// request[ArchiveModeKey.self] = .preferArchive
/// ```
///
/// An app that makes its requests itself may use `URLRequest.cachePolicy`, or ``ArchiveCache/Configuration/modeFor``.
public enum ArchiveModeKey: InterceptedRequest.Key {
  /// No mode of its own.
  public static let defaultValue: ArchiveMode? = nil
}
