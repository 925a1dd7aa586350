import DequeModule

/// What one subscriber has not heard of yet: numbers of exchanges, each once, however often it has changed.
final class Mailbox: Sendable {
  private struct State {
    var numbers: Deque<Int> = []
    var isWaiting: Set<Int> = []
    var lost = 0
    var isCleared = false
    var hasEnded = false
    var waiters = Waiters()

    var isEmpty: Bool { numbers.isEmpty && lost == 0 && !isCleared && !hasEnded }
  }

  /// What a reader gets.
  enum Letter {
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
    state.withLock { state -> [CheckedContinuation<Void, Never>] in
      guard state.isWaiting.insert(number).inserted else { return [] }
      if state.numbers.count == limit, let oldest = state.numbers.popFirst() {
        state.isWaiting.remove(oldest)
        state.lost += 1
      }
      state.numbers.append(number)
      return state.waiters.takeAll()
    }.wake()
  }

  /// An exchange that the reader was to hear of is not kept any more.
  func lose() {
    state.withLock { $0.lost += 1 }
  }

  func clear() {
    state.withLock { state -> [CheckedContinuation<Void, Never>] in
      (state.numbers, state.isWaiting, state.lost, state.isCleared) = ([], [], 0, true)
      return state.waiters.takeAll()
    }.wake()
  }

  func end() {
    state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.hasEnded = true
      return state.waiters.takeAll()
    }.wake()
  }

  /// What comes next: it is waited for.
  func next() async -> Letter {
    while true {
      if let letter = take() { return letter }
      if Task.isCancelled { return .end }
      await state.wait(at: \.waiters) { !$0.isEmpty }
    }
  }

  private func take() -> Letter? {
    state.withLock { state in
      if state.isCleared {
        state.isCleared = false
        return .cleared
      }
      if state.lost > 0 {
        defer { state.lost = 0 }
        return .lost(state.lost)
      }
      if let number = state.numbers.popFirst() {
        state.isWaiting.remove(number)
        return .number(number)
      }
      return state.hasEnded ? .end : nil
    }
  }
}
