// Makes the exports of the core (Foundation, the URL loading system, HTTPTypes, Logging) visible in every file of this
// module, and to its clients.
@_exported public import WaylayCore
