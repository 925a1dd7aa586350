#if canImport(FoundationNetworking)
  import Foundation
  @_spi(Reflection) import Swift

  /// A property of a session task that is not public, and is read and written where it is stored.
  struct StoredProperty<Value>: Sendable {
    private let offset: Int

    /// `nil` when tasks have no such property, or one of another type.
    init?(_ name: String) {
      guard let place = storedPlace(of: name, in: URLSessionTask.self), place.type == Value.self else { return nil }
      offset = place.offset
    }

    /// Call it where Foundation reads the property itself.
    func read(from task: URLSessionTask) -> Value {
      // The task is alive for as long as this call, and what is there is of this type.
      withExtendedLifetime(task) {
        (Unmanaged.passUnretained(task).toOpaque() + offset).assumingMemoryBound(to: Value.self).pointee
      }
    }

    /// Call it where Foundation writes the property itself.
    func write(_ value: Value, into task: URLSessionTask) {
      // The task is alive for as long as this call, and what is there is of this type.
      (Unmanaged.passUnretained(task).toOpaque() + offset).assumingMemoryBound(to: Value.self).pointee = value
    }
  }

  /// A property of a session task that refers to an object by a protocol which cannot be named.
  struct StoredReference: Sendable {
    private let offset: Int

    /// `nil` when tasks have no such property, or one of another type than is named.
    init?(_ name: String, ofType typeName: String) {
      guard let place = storedPlace(of: name, in: URLSessionTask.self), String(reflecting: place.type) == typeName
      else { return nil }
      // A reference with a table of functions: the object comes first.
      func size<Value>(_: Value.Type) -> Int { MemoryLayout<Value>.size }
      guard _openExistential(place.type, do: size) == 2 * MemoryLayout<UnsafeRawPointer>.size else { return nil }
      offset = place.offset
    }

    /// Call it where Foundation reads the property itself.
    func read(from task: URLSessionTask) -> AnyObject? {
      // The task is alive for as long as this call, and keeps the object.
      withExtendedLifetime(task) {
        (Unmanaged.passUnretained(task).toOpaque() + offset).load(as: UnsafeRawPointer?.self)
          .map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }
      }
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
