import Foundation
import StoreFaults
import WaylayCore

@testable import WaylayArchive

/// Holds up the store's calls to the file system, of one kind, until it is released: what overlaps in time by chance
/// overlaps for certain.
final class Hold: Sendable {
  private struct State {
    var isOn = false
    var held = 0
  }

  private let call: FailingSystem.Call
  private let state = Locked(State())
  private let permits = DispatchSemaphore(value: 0)

  init(_ call: FailingSystem.Call) {
    self.call = call
  }

  /// The calls that are held up now.
  var held: Int { state.withLock { $0.held } }

  func begin() { state.withLock { $0.isOn = true } }

  func release() {
    let held = state.withLock { state in
      state.isOn = false
      defer { state.held = 0 }
      return state.held
    }
    for _ in 0..<held { permits.signal() }
  }

  /// Waits until so many calls are held up.
  func wait(for count: Int) async throws {
    while held < count {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  /// Options under which a store's calls of the kind come by here.
  func options(
    _ options: DiskStore.Options = .init(logger: .silent), on system: any SystemCalls = PosixCalls()
  ) -> DiskStore.Options {
    var options = options
    options.system = FailingSystem(system) { [self] call in
      if call == self.call, holds() { permits.wait() }
      return nil
    }
    return options
  }

  private func holds() -> Bool {
    state.withLock { state in
      if state.isOn { state.held += 1 }
      return state.isOn
    }
  }
}
