/// A result builder for the list of a stub's responses, which are given one after the other.
///
/// ```swift
/// Stub(.get, "/status") { [.status(503), .status(200)] }
///
/// Stub(.get, "/pages") {
///   for page in 1...3 { .text("page \(page)") }
/// }
/// ```
///
/// Write several responses in brackets: a line that begins with a dot continues the line before it, so the second of
/// two such lines would modify the first one's response.
@resultBuilder
public enum MockResponseBuilder {
  /// One response.
  public static func buildExpression(_ response: MockResponse) -> [MockResponse] { [response] }
  /// An existing list.
  public static func buildExpression(_ responses: [MockResponse]) -> [MockResponse] { responses }
  /// The empty list.
  public static func buildBlock() -> [MockResponse] { [] }
  /// All parts in the order of the source.
  public static func buildBlock(_ parts: [MockResponse]...) -> [MockResponse] { parts.flatMap { $0 } }
  /// `if` without `else`.
  public static func buildOptional(_ part: [MockResponse]?) -> [MockResponse] { part ?? [] }
  /// `if`, first branch.
  public static func buildEither(first part: [MockResponse]) -> [MockResponse] { part }
  /// `if`, second branch.
  public static func buildEither(second part: [MockResponse]) -> [MockResponse] { part }
  /// `for`.
  public static func buildArray(_ parts: [[MockResponse]]) -> [MockResponse] { parts.flatMap { $0 } }
  /// `if #available`.
  public static func buildLimitedAvailability(_ part: [MockResponse]) -> [MockResponse] { part }
}
