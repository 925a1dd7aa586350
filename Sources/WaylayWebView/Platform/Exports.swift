// Re-exports the core with its own exports (Foundation, the URL loading system) to this module.
@_exported public import WaylayCore
