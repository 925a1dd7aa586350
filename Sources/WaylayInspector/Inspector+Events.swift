import DequeModule

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
  public func events(bufferingNewest limit: Int = 1_000) -> AsyncStream<Event> {
    let buffer = EventBuffer(limit: limit)
    let number = memory.withLock { memory -> Int in
      let number = (memory.buffers.keys.max() ?? 0) + 1
      memory.buffers[number] = buffer
      return number
    }
    let subscription = Subscription(buffer, self, number)
    return AsyncStream { await subscription.next() }
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

  /// Registers a buffer with its inspector, and removes it when the subscription ends.
  final class Subscription: @unchecked Sendable {
    // Unchecked: the weak reference is not set after initialization, and may be read from any thread.
    private weak var inspector: Inspector?
    private let buffer: EventBuffer
    private let number: Int

    init(_ buffer: EventBuffer, _ inspector: Inspector, _ number: Int) {
      self.buffer = buffer
      self.inspector = inspector
      self.number = number
    }

    deinit {
      inspector?.memory.withLock { _ = $0.buffers.removeValue(forKey: number) }
    }

    func next() async -> Event? {
      while true {
        switch await buffer.next() {
        case .end: return nil
        case .cleared: return .cleared
        case .lost(let count): return .lost(count)
        case .number(let number):
          guard let inspector else { return nil }
          if let exchange = inspector.exchange(number) { return .exchange(exchange) }
          buffer.lose()
        }
      }
    }
  }
}

/// The unread changes of one subscriber: the numbers of changed exchanges, coalesced.
final class EventBuffer: Sendable {
  private struct State {
    var numbers: Deque<Int> = []
    var isWaiting: Set<Int> = []
    var lost = 0
    var isCleared = false
    var hasEnded = false
    var waiters = Waiters()

    var isEmpty: Bool { numbers.isEmpty && lost == 0 && !isCleared && !hasEnded }
  }

  /// An item for the reader.
  enum Item {
    case number(Int)
    case lost(Int)
    case cleared
    case end
  }

  private let limit: Int
  private let state = Locked(State())

  init(limit: Int) {
    self.limit = max(1, limit)
  }

  func add(_ number: Int) {
    state.change(waking: \.waiters) { state in
      guard state.isWaiting.insert(number).inserted else { return }
      if state.numbers.count == limit, let oldest = state.numbers.popFirst() {
        state.isWaiting.remove(oldest)
        state.lost += 1
      }
      state.numbers.append(number)
    }
  }

  /// Counts a change of an exchange that was evicted.
  func lose() {
    state.withLock { $0.lost += 1 }
  }

  func clear() {
    state.change(waking: \.waiters) { ($0.numbers, $0.isWaiting, $0.lost, $0.isCleared) = ([], [], 0, true) }
  }

  func end() { state.change(waking: \.waiters) { $0.hasEnded = true } }

  /// Waits for the next item.
  func next() async -> Item {
    while true {
      if let item = take() { return item }
      if Task.isCancelled { return .end }
      await state.wait(at: \.waiters) { !$0.isEmpty }
    }
  }

  private func take() -> Item? {
    state.withLock { state in
      if exchange(&state.isCleared, with: false) { return .cleared }
      if state.lost > 0 { return .lost(exchange(&state.lost, with: 0)) }
      if let number = state.numbers.popFirst() {
        state.isWaiting.remove(number)
        return .number(number)
      }
      return state.hasEnded ? .end : nil
    }
  }
}
