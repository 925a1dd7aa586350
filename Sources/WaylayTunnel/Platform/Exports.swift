// Re-exports `WaylayHosts` with its own exports (Foundation, the core) to this module.
@_exported public import WaylayHosts
