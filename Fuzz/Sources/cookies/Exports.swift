@_exported public import Foundation
@_exported public import HTTPTypes

#if canImport(FoundationNetworking)
  @_exported public import FoundationNetworking
#endif

/// Stands in for the core's response, which needs the rest of it.
package struct InterceptedResponse {
  package struct Source {
    package var storesCookies: Bool { true }
  }

  package var fields: HTTPFields
  package var source = Source()
}

/// Stands in for the core's redirect: the fields that never go to another origin.
enum Redirect {
  static let credentials: Set<String> = ["authorization", "cookie", "proxy-authorization", "host"]
}

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
