@_exported public import Foundation

/// Stands in for what errors of the rewriter list, which needs the core.
public struct HostAttempt: Sendable {}
