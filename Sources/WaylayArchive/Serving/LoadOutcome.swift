import Foundation
import Logging

/// What has become of a load that the archive itself has asked for: loads note it, whoever asked reads it once the body
/// has come to its end.
final class LoadOutcome: Sendable {
  enum Kind: Sendable {
    /// It was loaded, and so many bytes of it are stored now.
    case stored(Int64)
    /// It was there already, or another load is storing it.
    case present
    /// It was loaded, and is not stored.
    case refused(String)
  }

  /// The outcome of the load that this task asks for.
  @TaskLocal static var current: LoadOutcome?

  private let engine: ArchiveEngine
  private let state = Locked<Kind?>(nil)

  init(of engine: ArchiveEngine) {
    self.engine = engine
  }

  /// The one that this task's load through an archive has, where it has one.
  static func current(of engine: ArchiveEngine) -> LoadOutcome? {
    current.flatMap { $0.engine === engine ? $0 : nil }
  }

  /// What the last hop has said; `nil` when none came by the archive.
  var kind: Kind? { state.withLock { $0 } }

  func note(_ kind: Kind) { state.withLock { $0 = kind } }
}

extension ArchiveLoad {
  /// Why an answer is not stored.
  struct Refusal: Sendable {
    /// What the store said, where it was the store.
    var code: ArchiveError.Code?
  }

  /// Says that an answer is not stored, by a rule.
  @discardableResult
  func refuse(_ reason: String) -> Refusal {
    engine.reporter.report(event(.refused, reason: reason))
    outcome?.note(.refused(reason))
    return Refusal()
  }

  /// Says that an answer is not stored, by the store.
  @discardableResult
  func refuse(_ error: any Error) -> Refusal {
    let code = (error as? ArchiveError)?.code
    let isOverLimit = code == .entryTooLarge || code == .storeFull
    engine.reporter.report(event(.refused, reason: error.redacted), at: isOverLimit ? .notice : nil)
    outcome?.note(.refused(error.redacted))
    return Refusal(code: code)
  }
}
