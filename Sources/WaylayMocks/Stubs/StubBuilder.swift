/// A result builder for a list of stubs, which accepts conditions, loops and arrays.
///
/// ```swift
/// let mock = MockInterceptor {
///   Stub(.get, "/users/:id", .json(["id": 42]))
///   for page in 1...3 { Stub(.get, "/pages/\(page)", .text("page \(page)")) }
/// }
/// ```
@resultBuilder
public enum StubBuilder {
  /// One stub.
  public static func buildExpression(_ stub: Stub) -> [Stub] { [stub] }
  /// An existing list.
  public static func buildExpression(_ stubs: [Stub]) -> [Stub] { stubs }
  /// The empty list.
  public static func buildBlock() -> [Stub] { [] }
  /// All parts in the order of the source.
  public static func buildBlock(_ parts: [Stub]...) -> [Stub] { parts.flatMap { $0 } }
  /// `if` without `else`.
  public static func buildOptional(_ part: [Stub]?) -> [Stub] { part ?? [] }
  /// `if`, first branch.
  public static func buildEither(first part: [Stub]) -> [Stub] { part }
  /// `if`, second branch.
  public static func buildEither(second part: [Stub]) -> [Stub] { part }
  /// `for`.
  public static func buildArray(_ parts: [[Stub]]) -> [Stub] { parts.flatMap { $0 } }
  /// `if #available`.
  public static func buildLimitedAvailability(_ part: [Stub]) -> [Stub] { part }
}

extension HTTPRequest.Method {
  /// Makes a custom method.
  ///
  /// ```swift
  /// Stub(.named("PURGE"), "/cache/**", .status(204))
  /// ```
  ///
  /// A name with characters that are invalid in a method (RFC 9110, section 9.1) matches no request: a stub for it
  /// stays unused, and is reported.
  public static func named(_ name: String) -> HTTPRequest.Method {
    if let method = HTTPRequest.Method(rawValue: name) { return method }
    let bytes = name.utf8.map { byte in
      let scalar = Unicode.Scalar(byte)
      return scalar.isASCII && scalar.properties.isAlphabetic
        ? String(scalar) : "%" + String(byte, radix: 16, uppercase: true)
    }
    return HTTPRequest.Method(rawValue: bytes.joined()) ?? .trace
  }
}
