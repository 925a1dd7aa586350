// On Linux the URL loading system is a separate module; re-exporting it here spares every other file the condition.
@_exported public import HTTPTypes
@_exported public import Logging
@_exported public import WaylayBase

#if CORELIBS_FOUNDATION
  @_exported public import FoundationNetworking
#endif

// If a method hides a C function, call the function with its module: `WaylayCore.close(…)`.
