// Stubs, and the core's exports, are visible in every file of this module and of its clients.
@_exported public import WaylayMocks
