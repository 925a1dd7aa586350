// What the sources of the package see through WaylayCore.
@_exported public import Foundation
@_exported public import HTTPTypes

#if canImport(FoundationNetworking)
  @_exported public import FoundationNetworking
#endif

/// Stands in for the core's error, which needs the rest of it.
package struct TransportError: Error {
  enum Phase { case receiving }

  init(_ code: URLError.Code, phase: Phase, message: String, underlying: WaylayError) {}
}

/// Stands in for the core's error, which needs the rest of it.
package struct WaylayError: Error {
  enum Code { case limitExceeded }
  let message: String

  init(_ code: Code, _ message: String) {
    self.message = message
  }
}
