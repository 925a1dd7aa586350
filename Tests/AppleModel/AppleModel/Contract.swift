#if !canImport(Darwin)
  /// What a protocol object must never do to its client.
  ///
  /// From the documentation of `URLProtocol` and `URLProtocolClient`, and from the Read Me of Apple's sample
  /// CustomHTTPProtocol, version 1.1: calls on the thread of `startLoading` and in its modes; redirects and challenges,
  /// one response, data, one end; nothing after `stopLoading`; one challenge at a time, withdrawn before a failure.
  /// https://developer.apple.com/library/archive/samplecode/CustomHTTPProtocol/Listings/Read_Me_About_CustomHTTPProtocol_txt.html
  package enum Violation: String, Sendable, Hashable {
    case onAnotherThread, inAnotherMode, byAnotherObject
    case afterStop, afterEnd
    case dataBeforeResponse, secondResponse, endWithoutResponse
    case redirectAfterResponse, wordAfterRedirect
    /// The app has refused a redirect, and its task would wait for ever.
    case silenceAfterRefusal
    case challengeAfterResponse, challengeWhileOneIsOutstanding, foreignChallengeWithdrawn, challengeNotWithdrawn
    case neverFreed
    /// A property of a request is no property list: CFNetwork prints API MISUSE.
    case propertyMisused
  }

  /// The phases of one protocol object, and whether each call to the client fits.
  struct Contract {
    enum Phase { case loading, responded, redirected, ended }

    private(set) var phase = Phase.loading
    private(set) var violations: [Violation] = []
    var isStopped = false
    /// The last challenge, and whether it still waits for an answer.
    private var challenge: (id: ObjectIdentifier, isOutstanding: Bool)?
    private var hasOutstanding: Bool { challenge?.isOutstanding == true }

    mutating func note(_ violation: Violation) { violations.append(violation) }

    /// What every call must keep to.
    private mutating func check(orElse isFine: Bool = false) -> Bool {
      if isStopped {
        note(.afterStop)
        return false
      }
      if phase == .ended {
        note(.afterEnd)
        return false
      }
      if phase == .redirected, !isFine { note(.wordAfterRedirect) }
      return true
    }

    mutating func response() -> Bool {
      guard check() else { return false }
      if phase == .responded { note(.secondResponse) }
      phase = .responded
      return true
    }

    mutating func data() -> Bool {
      guard check() else { return false }
      if phase == .loading { note(.dataBeforeResponse) }
      return true
    }

    mutating func redirect() -> Bool {
      guard check() else { return false }
      if phase == .responded { note(.redirectAfterResponse) }
      phase = .redirected
      return true
    }

    /// The app does not follow: the object may say more.
    mutating func refused() { phase = .loading }

    /// - Parameter isFailure: A failure needs no response; after a redirect it is how an object may take its leave.
    mutating func end(isFailure: Bool) -> Bool {
      guard check(orElse: isFailure) else { return false }
      if hasOutstanding { note(.challengeNotWithdrawn) }
      if !isFailure, phase == .loading { note(.endWithoutResponse) }
      phase = .ended
      return true
    }

    mutating func ask(_ id: ObjectIdentifier) -> Bool {
      guard check() else { return false }
      if phase == .responded { note(.challengeAfterResponse) }
      if hasOutstanding { note(.challengeWhileOneIsOutstanding) }
      challenge = (id, true)
      return true
    }

    mutating func withdraw(_ id: ObjectIdentifier) -> Bool {
      guard check() else { return false }
      if challenge?.id != id { note(.foreignChallengeWithdrawn) }
      challenge?.isOutstanding = false
      return true
    }

    /// The app answers; before the sender hears of it.
    mutating func answered(_ id: ObjectIdentifier) {
      if challenge?.id == id { challenge?.isOutstanding = false }
    }
  }
#endif
