// What the sources of the package see through WaylayCore.
@_exported public import Foundation
@_exported public import HTTPTypes

#if canImport(FoundationNetworking)
  @_exported public import FoundationNetworking
#endif

/// Stands in for the core's request: of it errors name the number, and cookies are for its URL and its document.
public struct InterceptedRequest {
  public struct ID: Hashable, Sendable {}

  public struct Options {
    public var handlesCookies: Bool { true }
    public var mainDocumentURL: URL? { nil }
  }

  public var id: ID
  public var url: URL
  public var options: Options { Options() }
}

/// Stands in for what errors of the rewriter list, which needs the rest of the core.
public struct HostAttempt: Sendable {}
