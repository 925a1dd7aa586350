// On Linux the URL loading system is a module of its own; re-exporting it here spares every other file the condition.
@_exported public import Foundation
@_exported public import HTTPTypes
@_exported public import Logging

#if canImport(FoundationNetworking)
  @_exported public import FoundationNetworking
#endif
