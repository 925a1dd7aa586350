/// Records the traffic of a chain for inspection: requests, responses, bodies as they arrive, times, failures.
///
/// ```swift
/// let inspector = Inspector()
/// let session = URLSession(configuration: .default.intercepted(by: InterceptorRegistry { inspector }))
///
/// for exchange in inspector.exchanges { print(exchange) }
/// ```
///
/// An inspector changes nothing: bodies stream through it, and a slow reader still holds the server back. ``Limits``
/// bound what it keeps, by number and by bytes; the oldest exchanges are removed. ``redaction`` removes secrets before
/// an exchange is kept, shown or written.
///
/// An inspector sees the requests of the interceptor before it, and the responses that one receives: as the first of a
/// chain, it sees what the app sees. To see also which addresses were tried further down, put ``attempts`` last:
///
/// ```swift
/// InterceptorRegistry {
///   inspector            // what the app sees
///   archive
///   HostRewriter(rules)
///   inspector.attempts   // what went to the network for it
/// }
/// ```
///
/// Each redirect is a separate exchange. No chain handles a WebSocket task, so its messages are not visible: it is
/// listed with the state `unseen`.
public final class Inspector: RequestInterceptor {
  /// The name in errors and logs.
  public var name: String { "Inspector" }
  /// The limits for what is kept.
  public let limits: Limits
  /// What to remove from an exchange before it is kept.
  public let redaction: Redaction

  /// The journal that exchanges are written to when they end, if any.
  public let journal: Journal?

  let memory: Locked<Memory>
  let clock: TimerClock
  let sealing = DispatchQueue(label: "waylay.inspector", qos: .utility)

  /// Makes an empty inspector.
  ///
  /// - Parameters:
  ///   - limits: The limits for what is kept.
  ///   - redaction: What to remove from an exchange before it is kept.
  ///   - journal: The journal that exchanges are written to when they end; none by default.
  public convenience init(limits: Limits = Limits(), redaction: Redaction = .standard, journal: Journal? = nil) {
    self.init(limits: limits, redaction: redaction, journal: journal, clock: .system)
  }

  init(limits: Limits, redaction: Redaction, journal: Journal?, clock: TimerClock) {
    self.limits = limits
    self.redaction = redaction
    self.journal = journal
    self.clock = clock
    memory = Locked(Memory(limits: limits))
  }

  deinit {
    let (buffers, unsealed) = memory.withLock { (Array($0.buffers.values), $0.unsealed) }
    for buffer in buffers { buffer.end() }
    // The exchanges that have ended, but are not packed yet, are written too.
    if let journal { journal.append(unsealed.map { $0.seal(by: self).entry }) }
  }

  /// Whether new loads are recorded. Initially `true`. Open loads continue to be recorded.
  public var isRecording: Bool {
    get { memory.withLock { $0.isRecording } }
    set { memory.withLock { $0.isRecording = newValue } }
  }

  /// The kept exchanges, in the order in which they began.
  ///
  /// Open exchanges appear in their current state.
  public var exchanges: [Exchange] { slots.map { exchange($0) } }

  /// Returns the current state of an exchange; `nil` if it is no longer kept.
  public func exchange(_ id: Int) -> Exchange? { memory.withLock { $0.slot(id) }.map { exchange($0) } }

  /// The number of exchanges kept.
  public var count: Int { memory.withLock { $0.count } }

  /// The number of bytes they take, as counted for ``Limits/bytes``.
  public var bytes: Int { memory.withLock { $0.bytes } }

  /// The number of exchanges removed because of the ``limits``.
  public var dropped: Int { memory.withLock { $0.dropped } }

  /// Removes all exchanges. Open loads continue, but are no longer recorded.
  public func clear() {
    let (removed, buffers) = memory.withLock { memory in
      (memory.removeAll(), memory.buffers)
    }
    for slot in removed { slot.discard() }
    for buffer in buffers.values { buffer.clear() }
  }

  /// Waits until everything that has ended by now is in its final form, and in the ``journal``. Use it, for example,
  /// before an app ends.
  public func flush() async {
    await withCheckedContinuation { continuation in
      sealing.async { [self] in
        sealAll()
        continuation.resume()
      }
    }
  }

  /// The numbers of the kept exchanges, in order.
  package var numbers: [Int] { slots.map(\.number) }

  /// The exchanges that are kept, as a snapshot.
  var slots: [Slot] { memory.withLock { $0.all } }

  func exchange(_ slot: Slot) -> Exchange { Exchange(slot.seal(by: self).entry) }
}

extension Inspector {
  /// How much an ``Inspector`` keeps. Beyond a limit the oldest exchanges are removed first; open ones stay as long as
  /// possible.
  ///
  /// ```swift
  /// let inspector = Inspector(limits: Inspector.Limits(exchanges: 500, bytes: 16 << 20))
  /// ```
  public struct Limits: Sendable, Hashable {
    /// The maximum number of exchanges: 5 000 by default.
    public var exchanges: Int
    /// The maximum number of bytes of all exchanges together, heads and bodies: 64 MiB by default.
    public var bytes: Int
    /// The number of bytes kept of each body, from its beginning: 512 KiB by default. The whole body still passes
    /// through, and its full length is known.
    public var bodyBytes: Int

    /// Makes limits. Negative numbers count as zero; one exchange may always be kept.
    public init(exchanges: Int = 5_000, bytes: Int = 64 << 20, bodyBytes: Int = 512 << 10) {
      self.exchanges = max(1, exchanges)
      self.bytes = max(0, bytes)
      self.bodyBytes = max(0, bodyBytes)
    }

    /// What one body may take, at most: not more than all together.
    var mostOfABody: Int { min(bodyBytes, bytes) }
  }
}
