/// A named value of an extensible set: like an enum, but new values, which any release may add, do not break a
/// `switch`.
///
/// ```swift
/// for await event in archive.events() where event.kind == .hit { hits += 1 }
/// ```
///
/// - Note: `Domain` is the type that the values belong to.
public struct OpenEnum<Domain>: Hashable, Sendable, CustomStringConvertible {
  /// The value's name.
  public let description: String

  /// Makes a value with the given name.
  public init(_ description: String) {
    self.description = description
  }
}
