// What the core exports (Foundation, the URL loading system, HTTPTypes, Logging) is seen by every file of this module,
// and by files that import it.
@_exported public import WaylayCore
