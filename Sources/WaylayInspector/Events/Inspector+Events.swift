extension Inspector {
  /// The events from now on.
  ///
  /// ```swift
  /// for await event in inspector.events() {
  ///   switch event {
  ///   case .exchange(let exchange): rows[exchange.id] = exchange
  ///   case .cleared: rows = [:]
  ///   case .lost: rows = Dictionary(uniqueKeysWithValues: inspector.exchanges.map { ($0.id, $0) })
  ///   }
  /// }
  /// ```
  ///
  /// An exchange appears when it begins, when its head arrives, as its bodies grow, and when it ends; changes that a
  /// slow reader has missed are combined into one event. A slow reader therefore sees fewer steps, but always the last
  /// one.
  ///
  /// - Parameter limit: The number of exchanges buffered for a slow reader. Beyond it the oldest are dropped, and
  ///   ``Event/lost(_:)`` reports that.
  public func events(bufferingNewest limit: Int = 1_000) -> Events {
    let mailbox = Mailbox(limit: limit)
    let number = memory.withLock { memory -> Int in
      let number = (memory.mailboxes.keys.max() ?? 0) + 1
      memory.mailboxes[number] = mailbox
      return number
    }
    return Events(Subscription(mailbox, self, number))
  }

  /// An event of an inspector.
  public enum Event: Sendable, Hashable {
    /// An exchange began, changed or ended; this is its current state.
    case exchange(Exchange)
    /// ``Inspector/clear()`` removed all exchanges.
    case cleared
    /// The number of exchanges whose changes the reader missed, because it was slow or they are no longer kept.
    case lost(Int)
  }

  /// The events of an ``Inspector`` for one reader. The sequence ends with the inspector, or when the reader's task is
  /// cancelled.
  public struct Events: AsyncSequence, Sendable {
    /// An event of an inspector.
    public typealias Element = Event
    private let subscription: Subscription

    init(_ subscription: Subscription) {
      self.subscription = subscription
    }

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(subscription) }

    /// Reads events one by one.
    public struct AsyncIterator: AsyncIteratorProtocol {
      private let subscription: Subscription

      init(_ subscription: Subscription) {
        self.subscription = subscription
      }

      /// The next event; `nil` at the end.
      public func next() async -> Event? { await subscription.next() }
    }
  }

  /// Keeps a mailbox at its inspector, and takes it away in the end.
  final class Subscription: Sendable {
    private let mailbox: Mailbox
    private let inspector: Weakly
    private let number: Int

    /// An inspector may go while somebody waits for its events.
    private final class Weakly: @unchecked Sendable {
      // Unchecked: never set after it was made; reading a weak reference is safe.
      private(set) weak var inspector: Inspector?

      init(_ inspector: Inspector) {
        self.inspector = inspector
      }
    }

    init(_ mailbox: Mailbox, _ inspector: Inspector, _ number: Int) {
      self.mailbox = mailbox
      self.inspector = Weakly(inspector)
      self.number = number
    }

    deinit {
      inspector.inspector?.memory.withLock { _ = $0.mailboxes.removeValue(forKey: number) }
    }

    func next() async -> Event? {
      while true {
        switch await mailbox.next() {
        case .end: return nil
        case .cleared: return .cleared
        case .lost(let count): return .lost(count)
        case .number(let number):
          guard let inspector = inspector.inspector else { return nil }
          if let exchange = inspector.exchange(Exchange.ID(number)) { return .exchange(exchange) }
          mailbox.lose()
        }
      }
    }
  }
}
