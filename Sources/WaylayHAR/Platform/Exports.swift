@_exported public import WaylayBase
