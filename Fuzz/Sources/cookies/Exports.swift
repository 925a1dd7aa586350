// What the sources of the package see through WaylayCore.
@_exported public import Core

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
