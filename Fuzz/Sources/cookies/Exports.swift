// What the sources of the public see through WaylayCore.
@_exported public import Core

/// Stands in for the core's response, which needs the rest of it.
public struct InterceptedResponse {
  public struct Source {
    public var storesCookies: Bool { true }
  }

  public var fields: HTTPFields
  public var source = Source()
}

/// Stands in for the core's redirect: the fields that never go to another origin.
enum Redirect {
  static let credentials: Set<String> = ["authorization", "cookie", "proxy-authorization", "host"]
}
