#if canImport(FoundationNetworking)
  import Foundation
  @_spi(Reflection) import Swift

  /// A property of a session task that is not public to set, and is written where it is stored.
  struct StoredProperty<Value>: Sendable {
    private let offset: Int

    /// `nil` when tasks have no such property, or one of another type.
    init?(_ name: String) {
      guard let place = storedPlace(of: name, in: URLSessionTask.self), place.type == Value.self else { return nil }
      offset = place.offset
    }

    /// Call it where Foundation writes the property itself.
    func write(_ value: Value, into task: URLSessionTask) {
      // The task is alive for as long as this call, and what is there is of this type.
      (Unmanaged.passUnretained(task).toOpaque() + offset).assumingMemoryBound(to: Value.self).pointee = value
    }
  }

  /// Where objects of a class keep a property.
  func storedPlace(of name: String, in type: AnyClass) -> (offset: Int, type: Any.Type)? {
    var place: (Int, Any.Type)?
    // The option that stands for "of a class"; its name is a variable, which strict checks do not let through.
    _ = _forEachField(of: type, options: _EachFieldOptions(rawValue: 1)) { candidate, offset, type, _ in
      guard String(cString: candidate) == name else { return true }
      place = (offset, type)
      return false
    }
    return place
  }
#endif
