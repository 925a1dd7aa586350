@_exported public import WaylayArchive
@_exported public import WaylayCore
@_exported public import WaylayHosts
@_exported public import WaylayMocks
