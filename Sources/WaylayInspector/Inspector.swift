/// Records the traffic of a chain for inspection: requests, responses, bodies as they arrive, times and failures.
///
/// ```swift
/// let inspector = Inspector()
/// let session = URLSession(configuration: .default.intercepted(by: InterceptorRegistry { inspector }))
///
/// for exchange in inspector.exchanges { print(exchange) }
/// ```
///
/// An inspector does not change the traffic: it does not buffer bodies, and back pressure still reaches the server.
/// ``Limits`` bound the number and the bytes of the kept exchanges; the oldest exchanges are removed. ``redaction``
/// removes secrets before an exchange is kept, shown or written.
///
/// An inspector records the requests and responses at its place in the chain: as the first interceptor, it sees those
/// of the app. To record also the addresses that a later interceptor has tried, put ``attempts`` last:
///
/// ```swift
/// InterceptorRegistry {
///   inspector            // the traffic of the app
///   archive
///   HostRewriter(rules)
///   inspector.attempts   // the requests to the network
/// }
/// ```
///
/// Each redirect is a separate exchange. No interceptor handles the messages of a WebSocket task: the task is listed
/// with the state `unseen`.
public final class Inspector: RequestInterceptor {
  /// The name in errors and logs.
  public var name: String { "Inspector" }
  /// The limits for the kept exchanges.
  public let limits: Limits
  /// The values to remove from an exchange before it is kept.
  public let redaction: Redaction

  /// The journal that ended exchanges are written to; `nil` for none.
  public let journal: Journal?

  let memory: Locked<Memory>
  /// The credentials in exchanges so far, which are removed from others.
  private let known = Locked(KnownSecrets(limit: 2_000))
  let clock: TimerClock
  let sealing = DispatchQueue(label: "waylay.inspector", qos: .utility)

  /// Makes an empty inspector.
  ///
  /// - Parameters:
  ///   - limits: The limits for the kept exchanges.
  ///   - redaction: The values to remove from an exchange before it is kept.
  ///   - journal: The journal that ended exchanges are written to. Default: none.
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
    // Also write the ended exchanges that are not packed yet.
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

  /// The bytes of the kept exchanges, as counted for ``Limits/bytes``.
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

  /// Waits until all exchanges that have ended are packed, and written to the ``journal``. Use it, for example, before
  /// an app ends.
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

  /// A snapshot of the kept exchanges.
  var slots: [Slot] { memory.withLock { $0.all } }

  func exchange(_ slot: Slot) -> Exchange { Exchange(slot.seal(by: self).entry) }

  /// The exchange without secrets that were found after it was recorded.
  package func shown(_ exchange: Exchange) -> Exchange { Exchange(redacted(exchange.entry)) }

  /// A text without the secrets of exchanges.
  package func redacted(_ text: String) -> String { redaction.redacted(text, knowing: known.withLock { $0 }) }

  /// Removes the secrets of this exchange and of others.
  package func redacted(_ entry: HAR.Entry) -> HAR.Entry {
    var report = RedactionReport()
    return redaction.redacted(entry, report: &report) { found in
      known.withLock { known in
        known.add(found)
        return known
      }
    }
  }
}

extension Inspector {
  /// The limits of an ``Inspector``. Beyond a limit the oldest exchanges are removed first; open ones stay as long as
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

    /// The maximum number of bytes of one body.
    var mostOfABody: Int { min(bodyBytes, bytes) }
  }
}
