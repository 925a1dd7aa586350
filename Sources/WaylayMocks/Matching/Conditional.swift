/// A type that accepts conditions on a request: ``Stub`` and ``RequestPattern``.
///
/// ```swift
/// Stub(.get, "/search") { .json([]) }
///   .query("q", "swift")
///   .header("Accept-Language", "de")
///   .where(.header("X-Beta") || !.query("page"))
/// ```
public protocol Conditional {
  /// Returns the same value with an additional condition.
  func `where`(_ condition: RequestMatcher) -> Self
}

extension Conditional {
  /// Restricts to requests with that query item, among others; `nil` is an item without `=`, which differs from an
  /// empty value.
  public func query(_ name: String, _ value: String?) -> Self { self.where(.query(name, value)) }

  /// Restricts to requests with a query item of that name and any value.
  public func query(_ name: String) -> Self { self.where(.query(name)) }

  /// Restricts to requests with these query items in any order; the values of a repeated name in the given order.
  ///
  /// - Parameters:
  ///   - items: The items, as in `["page": "2", "flag": nil]`.
  ///   - exactly: Whether other items are disallowed.
  public func query(_ items: KeyValuePairs<String, String?>, exactly: Bool = false) -> Self {
    self.where(.query(items, exactly: exactly))
  }

  /// Restricts to requests with that header field. The name is case-insensitive.
  public func header(_ name: String, _ value: String) -> Self { self.where(.header(name, value)) }

  /// Restricts to requests with a header field of that name.
  public func header(_ name: String) -> Self { self.where(.header(name)) }

  /// Restricts to requests with that body.
  public func body(_ body: BodyMatcher) -> Self { self.where(.body(body)) }

  /// Restricts to requests that a closure accepts. Reports use the given name for it.
  public func `where`(_ name: String, _ predicate: @escaping @Sendable (MockRequest) -> Bool) -> Self {
    self.where(.predicate(name, predicate))
  }
}

extension Stub: Conditional {
  /// Returns the same stub with an additional condition.
  public func `where`(_ condition: RequestMatcher) -> Stub {
    with { stub in
      stub.pattern.add(condition)
      stub.problems += condition.problems.map { $0.located(at: stub.location) }
    }
  }
}

extension RequestPattern: Conditional {
  /// Returns the same pattern with an additional condition.
  public func `where`(_ condition: RequestMatcher) -> RequestPattern {
    var copy = self
    copy.add(condition)
    return copy
  }
}
