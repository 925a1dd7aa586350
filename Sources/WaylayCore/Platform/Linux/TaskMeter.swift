#if CORELIBS_FOUNDATION
  import Foundation

  /// The progress of a task's bodies, as the app sees it.
  ///
  /// If a body is sent again, after a redirect or by a retry, only bytes beyond the first attempt's count: more than was
  /// announced is never reported.
  struct TaskMeter: Sendable {
    /// The unreported progress, and the totals including it.
    struct News: Equatable {
      var sent: Int64 = 0
      var received: Int64 = 0
      var totalSent: Int64 = 0
      var totalReceived: Int64 = 0
      /// `nil` if unknown.
      var expectedToSend: Int64?
      var expectedToReceive: Int64?

      /// `URLSession`'s value for an unknown length.
      static let unknown: Int64 = -1

      /// The number of bytes of both bodies; unknown if neither has a length. A body without a length, or with more bytes
      /// than announced, counts with the bytes so far: fractions of Foundation's `Progress` overflow if the completed
      /// count exceeds the total.
      var total: Int64 {
        guard max(expectedToSend ?? 0, expectedToReceive ?? 0) > 0 else { return Self.unknown }
        return max(expectedToSend ?? 0, totalSent).saturating(adding: max(expectedToReceive ?? 0, totalReceived))
      }

      var completed: Int64 { totalSent.saturating(adding: totalReceived) }
    }

    fileprivate struct State {
      var news = News()
      /// Whether a report is scheduled.
      var isUnderWay = false

      mutating func send() -> Bool { !exchange(&isUnderWay, with: true) }
    }

    private let state: Locked<State>

    /// - Parameter length: That of the request's body.
    init(sending length: Int64? = nil) {
      state = Locked(State(news: News(expectedToSend: length)))
    }

    /// Records the length of the response's body.
    func willReceive(_ length: Int64?) {
      state.withLock { $0.news.expectedToReceive = length }
    }

    /// Records that the transport has sent `total` bytes of the body, counted from its beginning.
    ///
    /// - Returns: Whether to schedule a report.
    func sent(_ total: Int64) -> Bool {
      state.withLock { state in
        let total = min(total, state.news.expectedToSend ?? .max)
        guard total > state.news.totalSent else { return false }
        state.news.sent += total - state.news.totalSent
        state.news.totalSent = total
        return state.send()
      }
    }

    /// Records that `count` more bytes of the response have arrived.
    ///
    /// - Parameter endIsTold: Whether the report of the response's end covers the last of them.
    func received(_ count: Int, endIsTold: Bool) -> Bool {
      state.withLock { state in
        state.news.received = state.news.received.saturating(adding: Int64(count))
        state.news.totalReceived = state.news.totalReceived.saturating(adding: Int64(count))
        return !(endIsTold && state.news.totalReceived == state.news.expectedToReceive) && state.send()
      }
    }

    /// Records that the whole response has arrived in one piece; the report of its end covers it.
    func receivedWhole(_ count: Int) {
      state.withLock { state in
        state.news.expectedToReceive = Int64(count)
        state.news.received = Int64(count)
        state.news.totalReceived = Int64(count)
        state.isUnderWay = true
      }
    }

    var hasUnreportedUpload: Bool { state.withLock { $0.news.sent > 0 } }

    /// Returns the news, and marks them as reported.
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
#endif
