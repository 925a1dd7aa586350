// On Linux the URL loading system is a module of its own; re-exporting it here spares every other file the condition.
@_exported public import Foundation
@_exported public import HTTPTypes
@_exported public import Logging
@_exported public import WaylayBase

#if CORELIBS_FOUNDATION
  @_exported public import FoundationNetworking
#endif

// Foundation exports the C library, except on Android. A call that a method's name hides is `WaylayCore.close(…)`.
#if canImport(Android)
  @_exported public import Android
#endif
