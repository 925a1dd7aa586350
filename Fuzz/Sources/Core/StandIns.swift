// What the sources of the package see through WaylayCore.
@_exported public import Foundation
@_exported public import HTTPTypes

#if canImport(FoundationNetworking)
  @_exported public import FoundationNetworking
#endif

/// Stands in for the core's request, of which errors name the number.
public struct InterceptedRequest {
  public struct ID: Hashable, Sendable {}
}

/// Stands in for what errors of the rewriter list, which needs the rest of the core.
public struct HostAttempt: Sendable {}
