/// What a stub's URL can be written as: a `String` is parsed as a ``URLPattern``, a `URL` is taken literally, a
/// ``URLPattern`` is itself.
///
/// ```swift
/// Stub(.get, "/users/:id") { .text("a pattern") }
/// Stub(.get, url) { .text("this URL alone") }
/// Stub(.get, .regex(#"/v\d+/users$"#)) { .text("an expression") }
/// ```
public protocol URLPatternConvertible {
  /// The pattern it stands for.
  var urlPattern: URLPattern { get }
}

extension String: URLPatternConvertible {
  /// The pattern that the text is, parsed.
  public var urlPattern: URLPattern { URLPattern(self) }
}

extension URL: URLPatternConvertible {
  /// This URL and those equal to it: scheme, host, port, path, and the query exactly, in whatever order.
  public var urlPattern: URLPattern { URLPattern(literally: self) }
}

extension URLPattern: URLPatternConvertible {
  /// The pattern itself.
  public var urlPattern: URLPattern { self }
}

extension URLPatternConvertible where Self == URLPattern {
  /// Every URL.
  public static var any: URLPattern { URLPattern(any: ()) }

  /// URLs in which the regular expression (ICU syntax) is found, as text, with `^` and `$` for their ends; named groups
  /// become ``MockRequest/parameters``.
  public static func regex(_ pattern: String) -> URLPattern { URLPattern(regex: pattern) }
}
