import Foundation
import StoreFaults
import WaylayCore

@testable import WaylayArchive

/// One schedule: steps chosen by a seed, one after the other or several at once, and an end at which everything has to
/// be there.
struct Schedule {
  let seed: UInt64
  let isLogging: Bool

  struct Outcome: Sendable {
    var violations: [String] = []
    var log: [String] = []
    var operations = 0
  }

  func run(in folder: URL) async -> Outcome {
    var dice = Dice(seed)
    let home = folder.appendingPathComponent(String(seed, radix: 16))
    try? FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: home) }
    let world = World(home.appendingPathComponent("archive"), &dice)
    world.state.withLock { $0.history.isLogging = isLogging }
    await world.open(&dice)
    if dice.chance(50) { await oneByOne(world, &dice) } else { await atOnce(world, &dice) }
    world.brake.release()
    await end(world, &dice)
    return world.state.withLock {
      Outcome(violations: $0.history.violations, log: $0.history.log, operations: $0.history.clock)
    }
  }

  /// Steps in the order of the dice; some are left under way while the next ones begin.
  private func oneByOne(_ world: World, _ dice: inout Dice) async {
    let steps = 10 + dice.roll(30)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<steps {
        var own = Dice(dice.word())
        if world.brake.isOn || dice.chance(15) {
          group.addTask { await world.step(&own) }
          if dice.chance(40) { world.brake.release() }
          if dice.chance(30) {
            world.brake.release()
            await group.waitForAll()
          } else {
            for _ in 0..<dice.roll(8) { await Task.yield() }
          }
        } else {
          await world.step(&own)
          if dice.chance(10) {
            world.brake.hold([.create, .write, .open, .remove, .rename, .synchronize, .read][dice.roll(7)])
          }
        }
      }
      world.brake.release()
      await group.waitForAll()
    }
  }

  /// Several tasks at once, which share the stores.
  private func atOnce(_ world: World, _ dice: inout Dice) async {
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<2 + dice.roll(3) {
        let (seed, steps) = (dice.word(), 5 + dice.roll(12))
        group.addTask {
          var own = Dice(seed)
          for _ in 0..<steps { await world.step(&own) }
        }
      }
    }
  }

  /// Looks at everything, closes everything, and opens once more: what was stored and not removed is there, and nothing
  /// else.
  private func end(_ world: World, _ dice: inout Dice) async {
    let stores = await closeAll(world, &dice)
    guard !world.isInMemory else { return }
    await reopen(world, &dice)
    await released(stores + world.state.withLock { $0.departing }, world)
  }

  /// Closes and releases all stores.
  ///
  /// - Returns: The stores, to know when they have gone. Nothing here holds them any more.
  private func closeAll(_ world: World, _ dice: inout Dice) async -> [World.Weak] {
    world.state.withLock { $0.writers = [:] }
    let handles = world.state.withLock { $0.handles }
    for handle in handles where !handle.isReader && world.marks(handle.number).isWhole { await world.flush(handle) }
    for handle in handles {
      for key in 0..<Content.keys { await world.look(up: key, in: handle, &dice) }
    }
    await withTaskGroup(of: Void.self) { group in
      for handle in handles {
        for _ in 0..<(dice.chance(20) ? 2 : 1) { group.addTask { await world.close(handle) } }
      }
    }
    let weak =
      handles.map { World.Weak(hold: $0.store is DiskStore ? $0.hold : nil) } + world.state.withLock { $0.departing }
    world.state.withLock { state in
      state.handles = []
      state.departing = []
    }
    return weak
  }

  private func reopen(_ world: World, _ dice: inout Dice) async {
    do {
      let hold = World.Hold()
      world.add(
        try DiskStore(at: world.directory, options: world.options(&dice, isReader: false, hold)), isReader: false,
        hold)
    } catch {
      return world.violate("opening at the end: \(error)")
    }
    guard let handle = world.handle(&dice) else { return }
    for key in 0..<Content.keys { await world.look(up: key, in: handle, &dice) }
    do {
      try await handle.store.flush()
      let listed = try await handle.store.list()
      if listed.count != handle.store.usage.count {
        world.violate("\(listed.count) entries are listed, and \(handle.store.usage.count) counted")
      }
      let bodies = listed.count { $0.contents is FileBody }
      let files = try FileManager.default.contentsOfDirectory(
        atPath: world.directory.appendingPathComponent("bodies").path)
      if files.count != bodies { world.violate("\(files.count) files of bodies are there, and \(bodies) are used") }
    } catch {
      world.violate("at the end: \(error)")
    }
    await world.close(handle)
    world.state.withLock { $0.handles = [] }
  }

  /// Waits until nobody holds the stores any more: their owner works for ever, or waits for ever.
  private func released(_ stores: [World.Weak], _ world: World) async {
    let start = ContinuousClock.now
    while stores.contains(where: { $0.hold != nil }) {
      guard start.duration(to: .now) < .seconds(20) else {
        return world.violate("somebody still holds a store that was closed and released")
      }
      await Task.yield()
    }
  }
}
