// What the core exports (Foundation, the URL loading system) is seen by every file of this module.
@_exported public import WaylayCore
