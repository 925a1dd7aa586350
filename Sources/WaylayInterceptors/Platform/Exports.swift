// Re-exports the core with its own exports (Foundation, HTTPTypes, Logging) to this module and its clients.
@_exported public import WaylayCore
