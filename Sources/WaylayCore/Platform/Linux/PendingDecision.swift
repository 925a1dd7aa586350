#if canImport(FoundationNetworking)
  import Foundation

  /// A decision on its way from `canInit` to the protocol object that is made for it.
  ///
  /// On Linux the loading system asks `canInit` and makes the object in one go, on one thread, inside the app's
  /// `resume()` (P6, P7). So the decision waits in a slot of that thread; whoever finds another class's or another
  /// URL's decision there decides anew.
  enum PendingDecision {
    private static let key: pthread_key_t = {
      var key = pthread_key_t()
      let result = pthread_key_create(&key) { slot in
        if let slot { Unmanaged<Installation.Decision>.fromOpaque(slot).release() }
      }
      precondition(result == 0, "a thread slot could not be made: error \(result)")
      return key
    }()

    static func keep(_ decision: Installation.Decision) {
      let previous = pthread_getspecific(key)
      pthread_setspecific(key, Unmanaged.passRetained(decision).toOpaque())
      if let previous { Unmanaged<Installation.Decision>.fromOpaque(previous).release() }
    }

    static func take(for owner: URLProtocol.Type, _ request: URLRequest) -> Installation.Decision? {
      guard let pointer = pthread_getspecific(key) else { return nil }
      pthread_setspecific(key, nil)
      let decision = Unmanaged<Installation.Decision>.fromOpaque(pointer).takeRetainedValue()
      return decision.owner == ObjectIdentifier(owner) && decision.request.url == request.url ? decision : nil
    }
  }
#endif
