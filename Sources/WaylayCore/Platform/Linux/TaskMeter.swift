#if canImport(FoundationNetworking)
  import Foundation

  /// What has been sent and received of a task's bodies, as the app is told it.
  ///
  /// A body that is sent a second time, after a redirect or by a retry, counts from where the first time came to: more
  /// than was announced is never reported.
  struct TaskMeter: Sendable {
    /// What the app has not heard yet, and the totals it leads to.
    struct News: Equatable {
      var sent: Int64 = 0
      var received: Int64 = 0
      var totalSent: Int64 = 0
      var totalReceived: Int64 = 0
      /// `nil` where nobody knows.
      var expectedToSend: Int64?
      var expectedToReceive: Int64?

      /// What `URLSession` says of a length that is not known.
      static let unknown: Int64 = -1

      /// Bytes of both bodies together; unknown for as long as neither has a length. One that has none, or has more
      /// than was announced, is as long as what has come of it: fractions of Foundation's `Progress` overflow where a
      /// part is more than all.
      var total: Int64 {
        guard max(expectedToSend ?? 0, expectedToReceive ?? 0) > 0 else { return Self.unknown }
        return max(expectedToSend ?? 0, totalSent).saturating(adding: max(expectedToReceive ?? 0, totalReceived))
      }

      var completed: Int64 { totalSent.saturating(adding: totalReceived) }
    }

    fileprivate struct State {
      var news = News()
      /// Somebody is on the way to tell.
      var isUnderWay = false
    }

    private let state = Locked(State())

    /// The length of the request's body.
    func willSend(_ length: Int64?) {
      state.withLock { $0.news.expectedToSend = length }
    }

    /// The length of the response's body.
    func willReceive(_ length: Int64?) {
      state.withLock { $0.news.expectedToReceive = length }
    }

    /// A transport has sent so many bytes of the body, from its beginning.
    ///
    /// - Returns: Whether somebody should be sent to tell.
    func sent(_ total: Int64) -> Bool {
      state.withLock { state in
        let total = min(total, state.news.expectedToSend ?? .max)
        guard total > state.news.totalSent else { return false }
        state.news.sent += total - state.news.totalSent
        state.news.totalSent = total
        return state.send()
      }
    }

    /// So many bytes more of the response have come.
    func received(_ count: Int) -> Bool {
      state.withLock { state in
        state.news.received = state.news.received.saturating(adding: Int64(count))
        state.news.totalReceived = state.news.totalReceived.saturating(adding: Int64(count))
        return state.send()
      }
    }

    /// All of the response has come, in one piece: whoever tells of its end tells of this, too.
    func receivedWhole(_ count: Int) {
      state.withLock { state in
        state.news.expectedToReceive = Int64(count)
        state.news.received = Int64(count)
        state.news.totalReceived = Int64(count)
        state.isUnderWay = true
      }
    }

    /// What is to be told, which counts as told from now on.
    func take() -> News {
      state.withLock { state in
        state.isUnderWay = false
        defer {
          state.news.sent = 0
          state.news.received = 0
        }
        return state.news
      }
    }
  }

  extension TaskMeter.State {
    mutating func send() -> Bool {
      defer { isUnderWay = true }
      return !isUnderWay
    }
  }
#endif
