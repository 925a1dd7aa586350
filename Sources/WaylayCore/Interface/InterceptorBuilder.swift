/// A result builder for the ordered list of a chain's interceptors, which accepts conditions, loops and arrays.
///
/// ```swift
/// let chain = InterceptorChain("api") {
///   LoopGuard()
///   if isDebugBuild { RequestPrinter() }
///   for tenant in tenants { TenantHeader(tenant) }
/// }
/// ```
@resultBuilder
public enum InterceptorBuilder {
  /// One interceptor.
  public static func buildExpression(_ interceptor: any RequestInterceptor) -> [any RequestInterceptor] {
    [interceptor]
  }
  /// An existing list.
  public static func buildExpression(_ interceptors: [any RequestInterceptor]) -> [any RequestInterceptor] {
    interceptors
  }
  /// The empty list.
  public static func buildBlock() -> [any RequestInterceptor] { [] }
  /// All parts in the order of the source.
  public static func buildBlock(_ parts: [any RequestInterceptor]...) -> [any RequestInterceptor] {
    parts.flatMap { $0 }
  }
  /// `if` without `else`.
  public static func buildOptional(_ part: [any RequestInterceptor]?) -> [any RequestInterceptor] { part ?? [] }
  /// `if`, first branch.
  public static func buildEither(first part: [any RequestInterceptor]) -> [any RequestInterceptor] { part }
  /// `if`, second branch.
  public static func buildEither(second part: [any RequestInterceptor]) -> [any RequestInterceptor] { part }
  /// `for`.
  public static func buildArray(_ parts: [[any RequestInterceptor]]) -> [any RequestInterceptor] {
    parts.flatMap { $0 }
  }
  /// `if #available`.
  public static func buildLimitedAvailability(_ part: [any RequestInterceptor]) -> [any RequestInterceptor] { part }
}
