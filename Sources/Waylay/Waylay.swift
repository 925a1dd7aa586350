@_exported public import WaylayCore
