/// A value of which changed copies are made.
package protocol Changeable {}

extension Changeable {
  /// A copy with a change.
  package func with(_ change: (inout Self) throws -> Void) rethrows -> Self {
    var copy = self
    try change(&copy)
    return copy
  }
}
