@_exported public import WaylayCore
@_exported public import WaylayHAR
