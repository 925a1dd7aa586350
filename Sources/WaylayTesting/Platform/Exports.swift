// Every file of this module, and every client, sees what the core exports: Foundation, the URL loading system,
// HTTPTypes, Logging.
@_exported public import WaylayCore
@_exported public import WaylayMocks
