/// Writes down what goes through a chain, for people to look at: requests, answers, bodies as they come, times,
/// failures.
///
/// ```swift
/// let inspector = Inspector()
/// let session = URLSession(configuration: .default.intercepted(by: InterceptorRegistry { inspector }))
///
/// for exchange in inspector.exchanges { print(exchange) }
/// ```
///
/// It changes nothing: bodies stream through it as they come, and a slow reader still holds the server back. What it
/// keeps has bounds, by number and by bytes, see ``Limits``; what is older goes. Secrets are taken out by ``redaction``
/// before an exchange is kept, shown or written.
///
/// An inspector sees what the link before it asked for, and what it was answered: first in a chain, it sees what the
/// app sees. To see also which addresses were tried beneath, put ``attempts`` last:
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
/// Each redirect is an exchange of its own. No chain serves a WebSocket task, so that its messages are not seen: it is
/// listed with the state ``Exchange/State/unseen``.
public final class Inspector: RequestInterceptor {
  /// The name that errors and logs use.
  public var name: String { "Inspector" }
  /// How much is kept.
  public let limits: Limits
  /// What is taken out of an exchange before it is kept.
  public let redaction: Redaction

  /// Where exchanges are written to as they end, if anywhere.
  public let journal: Journal?

  let memory: Locked<Memory>
  let clock: LoadClock
  let sealing = DispatchQueue(label: "waylay.inspector", qos: .utility)

  /// Makes an inspector that has seen nothing.
  ///
  /// - Parameters:
  ///   - limits: How much is kept.
  ///   - redaction: What is taken out of an exchange before it is kept.
  ///   - journal: Where exchanges are written to as they end; nowhere unless told otherwise.
  public convenience init(limits: Limits = Limits(), redaction: Redaction = .standard, journal: Journal? = nil) {
    self.init(limits: limits, redaction: redaction, journal: journal, clock: .system)
  }

  init(limits: Limits, redaction: Redaction, journal: Journal?, clock: LoadClock) {
    self.limits = limits
    self.redaction = redaction
    self.journal = journal
    self.clock = clock
    memory = Locked(Memory(limits: limits))
  }

  deinit {
    let (mailboxes, unsealed) = memory.withLock { (Array($0.mailboxes.values), $0.unsealed) }
    for mailbox in mailboxes { mailbox.end() }
    // What has ended a moment ago is written all the same.
    if let journal { journal.append(unsealed.map { $0.seal(by: self).entry }) }
  }

  /// Whether loads that begin are written down. `true` at first. Those that are open go on being written down.
  public var isRecording: Bool {
    get { memory.withLock { $0.isRecording } }
    set { memory.withLock { $0.isRecording = newValue } }
  }

  /// What is kept, in the order in which it began.
  ///
  /// Those that are open are shown as they are now.
  public var exchanges: [Exchange] { slots.map { exchange($0) } }

  /// One exchange as it is now; `nil` when it is not kept any more.
  public func exchange(_ id: Exchange.ID) -> Exchange? { memory.withLock { $0.slot(id.number) }.map { exchange($0) } }

  /// How many exchanges are kept.
  public var count: Int { memory.withLock { $0.count } }

  /// How many bytes they take, as far as they count for ``Limits/bytes``.
  public var bytes: Int { memory.withLock { $0.bytes } }

  /// How many exchanges have been let go because of the ``limits``.
  public var dropped: Int { memory.withLock { $0.dropped } }

  /// Lets go of everything that is kept. Loads that are open go on, and are not written down any further.
  public func clear() {
    let (gone, mailboxes) = memory.withLock { memory in
      (memory.removeAll(), memory.mailboxes)
    }
    for slot in gone { slot.forget() }
    for mailbox in mailboxes.values { mailbox.clear() }
  }

  /// Waits until all that has ended by now is as it is kept, and in the ``journal``. Before an app ends, for example.
  public func flush() async {
    await withCheckedContinuation { continuation in
      sealing.async { [self] in
        sealAll()
        continuation.resume()
      }
    }
  }

  /// Those that are kept, without waiting for anybody while they are looked at.
  var slots: [Slot] { memory.withLock { $0.all } }

  func exchange(_ slot: Slot) -> Exchange { Exchange(slot.seal(by: self).entry) }
}
