// What the sources of the package see through WaylayCore.
@_exported public import Foundation
@_exported public import HTTPTypes

#if canImport(FoundationNetworking)
  @_exported public import FoundationNetworking
#endif
