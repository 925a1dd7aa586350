// What the core exports (Foundation, the URL loading system, HTTPTypes, Logging) is seen by every file of this module,
// and by files that import it.
@_exported public import WaylayCore

// What stubs respond with, and what bodies are compared with, is written as JSON; reports and cassettes take secrets out
// by one set of rules.
@_exported public import protocol WaylayHAR.JSONConvertible
@_exported public import struct WaylayHAR.JSONLiteral
@_exported public import struct WaylayHAR.JSONValue
@_exported public import struct WaylayHAR.Redaction
