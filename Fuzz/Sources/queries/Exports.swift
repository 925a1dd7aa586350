// What the sources of the package see through WaylayCore.
@_exported public import Core
