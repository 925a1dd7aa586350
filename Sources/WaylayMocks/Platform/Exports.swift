// The core's exports (Foundation, the URL loading system, HTTPTypes, Logging) are visible in every file of this module,
// and in files that import it.
@_exported public import WaylayCore

// Stubs and body matchers use JSON values; reports and cassettes share one set of redaction rules.
@_exported public import protocol WaylayHAR.JSONConvertible
@_exported public import struct WaylayHAR.JSONLiteral
@_exported public import struct WaylayHAR.JSONValue
@_exported public import struct WaylayHAR.Redaction
