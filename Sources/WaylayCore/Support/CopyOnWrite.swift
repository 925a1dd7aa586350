/// A value behind one reference, copied where it is changed while others have it: a message is passed through every
/// interceptor of a chain, and changed in few of them.
struct CopyOnWrite<Value: Sendable>: @unchecked Sendable {
  // Unchecked: changed only while uniquely referenced.
  private final class Box {
    var value: Value

    init(_ value: Value) { self.value = value }
  }

  private var box: Box

  init(_ value: Value) { box = Box(value) }

  var value: Value {
    _read { yield box.value }
    _modify {
      if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
      yield &box.value
    }
  }

  /// Whether nothing has been changed since one was made from the other.
  func isSame(as other: Self) -> Bool { box === other.box }
}
