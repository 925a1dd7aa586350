/// A copy-on-write value behind one reference: a message passes through every interceptor of a chain, and few of them
/// change it.
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

  /// Whether both share one unchanged value.
  func isSame(as other: Self) -> Bool { box === other.box }
}
