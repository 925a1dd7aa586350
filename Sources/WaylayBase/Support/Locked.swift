/// A value behind a lock: the one lock type of the package.
///
/// A POSIX mutex, as in `NSLock`, in the same allocation as the value: a load makes some of these, and an `NSLock` takes
/// five allocations, which is more than a short chain needs. Not `Mutex`, because the thread sanitizer of Swift 6.3 on
/// Linux reports races in correct code that uses it (U13). Critical sections stay short, and none of them contains an
/// `await`.
///
/// A lock that guards no value holds a `Bool`: a state of size zero has the address of its object, and the thread
/// sanitizer would mistake an access to it for a change of the object's type.
///
/// The object is not generic: generic code of another module is not specialized, and to look up the metadata of a
/// generic class costs more than the allocation.
package struct Locked<State>: @unchecked Sendable {
  // Unchecked: the value is only ever touched between lock and unlock.
  private let storage: ManagedBuffer<LockHeader, UInt8>

  package init(_ state: State) {
    assert(MemoryLayout<State>.size > 0, "a state without a size is taken for a race by the thread sanitizer")
    storage = LockStorage.make(for: State.self, size: MemoryLayout<State>.size + MemoryLayout<State>.alignment)
    storage.withUnsafeMutablePointerToElements { bytes in
      bytes.value(of: State.self).initialize(to: state)
    }
  }

  @discardableResult
  package func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    // The pointers are valid as long as the object: a closure around `body` would be another generic call.
    let (header, bytes) = storage.withUnsafeMutablePointers { ($0, $1) }
    let mutex = UnsafeMutableRawPointer(header).assumingMemoryBound(to: pthread_mutex_t.self)
    pthread_mutex_lock(mutex)
    defer {
      pthread_mutex_unlock(mutex)
      extendLifetime(storage)
    }
    return try body(&bytes.value(of: State.self).pointee)
  }
}

private struct LockHeader {
  /// The first member: a pointer to the header is one to the mutex.
  var mutex = pthread_mutex_t()
  let type: Any.Type
}

private final class LockStorage: ManagedBuffer<LockHeader, UInt8> {
  static func make(for type: Any.Type, size: Int) -> ManagedBuffer<LockHeader, UInt8> {
    let storage = create(minimumCapacity: size) { _ in LockHeader(type: type) }
    storage.withUnsafeMutablePointerToHeader { header in
      let mutex = UnsafeMutableRawPointer(header).assumingMemoryBound(to: pthread_mutex_t.self)
      let result = pthread_mutex_init(mutex, nil)
      precondition(result == 0, "a mutex could not be made: error \(result)")
    }
    return storage
  }

  deinit {
    withUnsafeMutablePointers { header, bytes in
      func deinitialize<State>(_ type: State.Type) {
        bytes.value(of: type).deinitialize(count: 1)
      }
      deinitialize(header.pointee.type)
      pthread_mutex_destroy(UnsafeMutableRawPointer(header).assumingMemoryBound(to: pthread_mutex_t.self))
    }
  }
}

extension UnsafeMutablePointer<UInt8> {
  /// The first place for a value of a type.
  fileprivate func value<State>(of type: State.Type) -> UnsafeMutablePointer<State> {
    UnsafeMutableRawPointer(self).alignedUp(for: type).assumingMemoryBound(to: type)
  }
}
