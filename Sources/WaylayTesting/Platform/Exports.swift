// The core's exports are visible in every file of this module and of its clients: Foundation, the URL loading system,
// HTTPTypes, Logging.
@_exported public import WaylayCore
@_exported public import WaylayMocks
