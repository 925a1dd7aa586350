/// A value behind a lock: the one lock type of the package.
///
/// A POSIX mutex, as in `NSLock`, in the same allocation as the value: a load makes two of these, and an `NSLock` takes
/// five allocations, which is more than a short chain needs. Not `Mutex`, because the thread sanitizer of Swift 6.3 on
/// Linux reports races in correct code that uses it (U13). Critical sections stay short, and none of them contains an
/// `await`.
///
/// A lock that guards no value holds a `Bool`: a state of size zero has the address of its object, and the thread
/// sanitizer would mistake an access to it for a change of the object's type.
///
/// Inlinable, because the loads of the core take these locks, and generic code of another module is not specialized.
package struct Locked<State>: @unchecked Sendable {
  // Unchecked: the value is only ever touched between lock and unlock.
  @usableFromInline let storage: ManagedBuffer<State, pthread_mutex_t>

  @inlinable
  package init(_ state: State) {
    assert(MemoryLayout<State>.size > 0, "a state without a size is taken for a race by the thread sanitizer")
    storage = Storage.create(minimumCapacity: 1) { storage in
      storage.withUnsafeMutablePointerToElements { mutex in
        mutex.initialize(to: pthread_mutex_t())
        let result = pthread_mutex_init(mutex, nil)
        precondition(result == 0, "a mutex could not be made: error \(result)")
      }
      return state
    }
  }

  @inlinable @discardableResult
  package func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    try storage.withUnsafeMutablePointers { state, mutex in
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      return try body(&state.pointee)
    }
  }

  @usableFromInline
  final class Storage: ManagedBuffer<State, pthread_mutex_t> {
    @inlinable
    deinit {
      withUnsafeMutablePointerToElements { _ = pthread_mutex_destroy($0) }
    }
  }
}
