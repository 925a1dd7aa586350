#if !canImport(Darwin)
  import Foundation

  /// A thread with a run loop of the model: work waits in it for the modes it may run in, as in a `RunLoop`.
  package final class ModelRunLoop: @unchecked Sendable {
    /// What the model's run loop is running in.
    package enum Mode: Sendable, Hashable { case standard, `private` }

    /// Which modes a run loop ever runs in.
    package enum Habit: Sendable, CaseIterable { case standardOnly, privateOnly, both }

    // Unchecked: guarded by `condition`.
    private var queue: [(modes: Set<Mode>, work: @Sendable () -> Void)] = []
    private var mode: Mode
    private var isEnded = false
    private let condition = NSCondition()
    private let habit: Habit

    package init(_ habit: Habit) {
      self.habit = habit
      mode = habit == .privateOnly ? .private : .standard
      Thread.detachNewThread { self.run() }
    }

    /// The run loop of the calling thread; none on a thread that is not the model's.
    package static var current: ModelRunLoop? { Thread.current.threadDictionary["model.run-loop"] as? ModelRunLoop }

    package var currentMode: Mode {
      condition.lock()
      defer { condition.unlock() }
      return mode
    }

    package func perform(in modes: Set<Mode>, _ work: @escaping @Sendable () -> Void) {
      condition.lock()
      queue.append((modes, work))
      condition.signal()
      condition.unlock()
    }

    package func end() {
      condition.lock()
      isEnded = true
      condition.signal()
      condition.unlock()
    }

    private func run() {
      Thread.current.threadDictionary["model.run-loop"] = self
      while let work = next() { work() }
      Thread.current.threadDictionary.removeObject(forKey: "model.run-loop")
    }

    private func next() -> (@Sendable () -> Void)? {
      condition.lock()
      defer { condition.unlock() }
      while !isEnded {
        if let index = queue.firstIndex(where: { $0.modes.contains(mode) }) { return queue.remove(at: index).work }
        if habit == .both, !queue.isEmpty {
          mode = mode == .standard ? .private : .standard
          continue
        }
        condition.wait()
      }
      return nil
    }
  }
#endif
