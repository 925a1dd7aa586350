extension CacheEngine {
  /// Looks hosts up, and again whenever it is time to.
  func prefetch(_ queries: [HostQuery]) {
    let old = state.withLock { state in
      defer { state.prefetching = nil }
      state.table.pinned = Set(queries)
      return state.prefetching
    }
    old?.cancel()
    guard !queries.isEmpty, startDue() != nil else { return }
    state.withLock { state in
      guard !state.isStopped else { return }
      // The task holds the engine only while it works: it ends with it.
      state.prefetching = Task.detached { [weak self, clock] in
        while let pause = self?.startDue() {
          guard (try? await clock.sleep(pause)) != nil else { return }
        }
      }
    }
  }

  /// Begins the lookups that are due. Returns the time until the next; `nil` when there is none to come.
  private func startDue() -> Duration? {
    let now = clock.time()
    return state.withLock { state in
      guard !state.isStopped, !state.table.pinned.isEmpty else { return nil }
      var pause = Duration.seconds(60 * 60)
      for query in state.table.pinned {
        var due = state.table.due(query, at: now)
        if due <= now {
          start(query, isBackground: true, &state)
          // When it will be due next is known once the answer is there.
          due = now + .seconds(1)
        }
        pause = min(pause, due - now)
      }
      return pause
    }
  }
}
