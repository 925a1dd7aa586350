// What the core exports (Foundation, and its networking on Linux) is seen by every file of this module.
@_exported public import WaylayCore
