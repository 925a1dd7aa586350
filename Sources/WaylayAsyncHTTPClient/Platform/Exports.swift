// Re-exports the core with its own exports (Foundation, and its networking on Linux) to this module.
@_exported public import WaylayCore
