import Foundation

extension URL {
  /// Whether two URLs have one origin (RFC 6454): scheme, host and port.
  package func hasSameOrigin(as other: URL) -> Bool {
    scheme?.lowercased() == other.scheme?.lowercased() && host?.lowercased() == other.host?.lowercased()
      && portOrDefault == other.portOrDefault
  }

  /// The port, or the one that a URL of its scheme has when it names none.
  var portOrDefault: Int? { port ?? Self.defaultPort(of: scheme?.lowercased()) }

  /// The port of a URL that names none; `scheme` is in lower case.
  static func defaultPort(of scheme: String?) -> Int? {
    switch scheme {
    case "http": 80
    case "https": 443
    default: nil
    }
  }
}
