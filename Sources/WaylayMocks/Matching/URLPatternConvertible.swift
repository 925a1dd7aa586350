/// A type that can be written as a stub's URL: a `String` is parsed as a ``URLPattern``, a `URL` is taken literally, a
/// ``URLPattern`` is used unchanged.
///
/// ```swift
/// Stub(.get, "/users/:id") { .text("a pattern") }
/// Stub(.get, url) { .text("this URL alone") }
/// Stub(.get, .regex(#"/v\d+/users$"#)) { .text("an expression") }
/// ```
public protocol URLPatternConvertible {
  /// The corresponding pattern.
  var urlPattern: URLPattern { get }
}

extension String: URLPatternConvertible {
  /// The pattern parsed from this text.
  public var urlPattern: URLPattern { URLPattern(self) }
}

extension URL: URLPatternConvertible {
  /// A pattern for this URL and those equal to it: scheme, host, port, path, and exactly these query items in any
  /// order.
  public var urlPattern: URLPattern { URLPattern(literally: self) }
}

extension URLPattern: URLPatternConvertible {
  /// The pattern itself.
  public var urlPattern: URLPattern { self }
}

extension URLPatternConvertible where Self == URLPattern {
  /// Every URL.
  public static var any: URLPattern { URLPattern(any: ()) }

  /// URLs in whose text the regular expression (ICU syntax) finds a match, with `^` and `$` for the ends; named groups
  /// become ``MockRequest/parameters``.
  public static func regex(_ pattern: String) -> URLPattern { URLPattern(regex: pattern) }
}
