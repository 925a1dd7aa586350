// What the rewriter's module exports (Foundation, the core) is seen by every file of this module.
@_exported public import WaylayHosts
