/// A request method, as far as a cache tells them apart.
package enum CacheMethod: UInt8, Hashable, Sendable {
  case get = 0
  case head = 1
  case post = 2
  /// Known to be safe (RFC 9110, section 9.2.1) and not stored.
  case otherSafe = 3
  /// Unsafe, or not known to be safe: a success invalidates what is stored (RFC 9111, section 4.4).
  case otherUnsafe = 4

  /// - Parameter name: The method in whatever letter case: the loading system writes them in upper case.
  package init(_ name: String) {
    self =
      switch name {
      case "GET": .get
      case "HEAD": .head
      case "POST": .post
      default: Self.uncommon(name.uppercased())
      }
  }

  private static func uncommon(_ name: String) -> CacheMethod {
    switch name {
    case "GET": .get
    case "HEAD": .head
    case "POST": .post
    case "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH", "QUERY": .otherSafe
    default: .otherUnsafe
    }
  }

  /// Whether a success changes nothing at the origin.
  var isSafe: Bool { self == .get || self == .head || self == .otherSafe }
}
