import Foundation
import WaylayCore

@testable import WaylayArchive

/// The steps of a schedule. Each says to the history when it begins and when it has ended.
extension World {
  /// Does one step, which the dice choose.
  func step(_ dice: inout Dice) async {
    switch dice.roll(100) {
    case 0..<20: await put(&dice)
    case 20..<42: await look(&dice)
    case 42..<50: await remove(&dice)
    case 50..<56: await update(&dice)
    case 56..<62: makeWriter(&dice)
    case 62..<74: await write(&dice)
    case 74..<80: await resume(&dice)
    case 80..<85: await flush(&dice)
    case 85..<87: await clear(&dice)
    case 87: await burst(&dice)
    case _ where isInMemory: await look(&dice)
    case 88..<93: await open(&dice)
    case 93..<97: await leave(&dice)
    default: await move(&dice)
    }
  }

  private func length(_ dice: inout Dice) -> Int {
    switch dice.roll(30) {
    case 0: 131_000 + dice.roll(3000)
    case 1, 2: 65_000 + dice.roll(2000)
    case 3: 0
    default: dice.roll(400)
    }
  }

  // MARK: Looking

  /// Looks a key up, all the bodies among it, and has the history compare.
  @discardableResult
  func look(up key: Int, in handle: Handle, _ dice: inout Dice) async -> [StoredEntry] {
    let start = state.withLock { $0.history.tick() }
    do {
      let entries = try await handle.store.entries(for: Content.key(key))
      let end = state.withLock { $0.history.tick() }
      var seen: [History.Seen] = []
      for entry in entries {
        guard entry.key == Content.key(key), let head = Content.Head(entry.head) else {
          violate("\(handle.name): a head of something else under key \(key)")
          continue
        }
        var body: Data?
        do {
          body = try await entry.body().collect(upTo: 1 << 24)
        } catch {
          // Removed between the look-up and the reading.
          let isLeaving =
            isSmall || state.withLock { $0.history.values[head.version]?.leaving != nil || hasGrown($0, head) }
          if !isLeaving { judge(error, "reading version \(head.version)", handle) }
        }
        seen.append(History.Seen(head: head, length: Int(entry.bodyLength), body: body))
      }
      // What reads without locks gives up when a writer comes.
      let isOpen = !handle.isReader || (handle.store as? DiskStore)?.isOpen ?? true
      state.withLock { state in
        let now = state.marks[handle.number] ?? Marks()
        if let closed = now.closed, closed < start, !entries.isEmpty {
          state.history.violate("\(handle.name) gave something out after it was closed")
        }
        state.history.note(
          "\(handle.name) has \(seen.map { "\($0.head.version)[\($0.length)]" }) under \(key), from \(start) to \(end)")
        state.history.check(
          History.Look(
            key: key, incarnation: handle.incarnation, start: start, handle: handle.number,
            isWhole: now.isWhole && !isSmall && isOpen,
            who: handle.name), seen)
      }
      return entries
    } catch {
      judge(error, "looking up key \(key)", handle)
      return []
    }
  }

  /// Whether an entry may have a longer body by now, in another file.
  private func hasGrown(_ state: State, _ head: Content.Head) -> Bool {
    state.history.values[head.version]?.lengths.contains { $0.length > head.length } ?? false
  }

  private func look(_ dice: inout Dice) async {
    guard let handle = handle(&dice) else { return await open(&dice) }
    if dice.chance(10) {
      let start = state.withLock { $0.history.tick() }
      guard let entries = try? await handle.store.list() else { return }
      for entry in entries where entry.key != Content.passing {
        guard let head = Content.Head(entry.head) else { violate("a head that nobody wrote"); continue }
        state.withLock { state in
          state.history.check(
            History.Look(
              key: head.key, incarnation: handle.incarnation, start: start, handle: handle.number, isWhole: false,
              who: handle.name),
            [History.Seen(head: head, length: Int(entry.bodyLength))])
        }
      }
    } else {
      await look(up: dice.roll(Content.keys), in: handle, &dice)
    }
  }

  // MARK: Storing

  /// A store to write to: mostly one that can be.
  private func writable(_ dice: inout Dice) async -> Handle? {
    if let handle = handle(&dice, where: { !$0.isReader && $1.isWhole }), dice.chance(90) { return handle }
    if let handle = handle(&dice), dice.chance(50) { return handle }
    await open(&dice)
    return nil
  }

  private func put(_ dice: inout Dice) async {
    guard let handle = await writable(&dice) else { return }
    let key = dice.roll(Content.keys)
    let old = dice.chance(70) ? await look(up: key, in: handle, &dice) : []
    let versions = old.compactMap { Content.Head($0.head)?.version }
    let size = length(&dice)
    let version = state.withLock { state in
      let version = state.history.begin(key: key, incarnation: handle.incarnation)
      state.history.publish(version, length: size, by: handle.number)
      state.history.leave(versions)
      state.history.note("\(handle.name) puts \(version)[\(size)] under \(key) for \(versions)")
      return version
    }
    do {
      let entry = try await handle.store.put(
        Content.draft(.init(key: key, version: version, length: size), replacing: old.map(\.id)),
        body: Content.body(version, size))
      state.withLock { state in
        state.history.published(version, length: size, entry.id, by: handle.number)
        state.history.left(versions, by: handle.number)
      }
    } catch {
      state.withLock { $0.history.doubt(version) }
      judge(error, "putting", handle)
    }
  }

  private func update(_ dice: inout Dice) async {
    guard let handle = await writable(&dice) else { return }
    for entry in await look(up: dice.roll(Content.keys), in: handle, &dice) {
      guard var head = Content.Head(entry.head) else { continue }
      head.round += 1
      if dice.chance(30) { await Task.yield() }
      do {
        _ = try handle.store.update(entry, head: head.bytes, details: entry.details)
      } catch {
        judge(error, "updating", handle)
      }
    }
  }

  private func makeWriter(_ dice: inout Dice) {
    guard let handle = handle(&dice, where: { handle, _ in !handle.isReader }) else { return }
    let key = dice.roll(Content.keys)
    do {
      let writer = try handle.store.makeWriter(for: Content.key(key), length: nil)
      keep(
        writer, handle, key: key,
        version: state.withLock { $0.history.begin(key: key, incarnation: handle.incarnation) })
    } catch {
      judge(error, "making a writer", handle)
    }
  }

  private func resume(_ dice: inout Dice) async {
    guard let handle = await writable(&dice) else { return }
    let key = dice.roll(Content.keys)
    let entries = await look(up: key, in: handle, &dice)
    // Somebody else may go on with it first.
    for _ in 0..<dice.roll(3) { await Task.yield() }
    guard let entry = entries.first, let head = Content.Head(entry.head) else { return }
    do {
      guard let writer = try await handle.store.resumeWriting(entry) else { return }
      if writer.length != entry.bodyLength {
        violate(
          "\(handle.name) goes on with version \(head.version) at \(writer.length), asked for \(entry.bodyLength)")
      }
      keep(writer, handle, key: key, version: head.version)
    } catch {
      judge(error, "resuming", handle)
    }
  }

  /// Adds to a body, stores it so far or for good, or lets it go.
  private func write(_ dice: inout Dice) async {
    guard let writer = takeWriter(&dice) else { return makeWriter(&dice) }
    guard let handle = handle(writer.handle) else { return }
    let isClosed = marks(writer.handle).closed != nil
    let start = Int(writer.writer.length)
    let choice = dice.roll(10)
    do {
      switch choice {
      case 0..<5:
        let end = min(start + length(&dice), Content.most)
        try await writer.writer.append(Content.body(writer.version, start..<end))
        if isClosed, end > start { violate("a writer of \(handle.name), which was closed, took bytes") }
        giveBack(writer)
      case 5..<8:
        let isLast = choice > 5
        let head = Content.Head(key: writer.key, version: writer.version, length: start)
        state.withLock { state in
          state.history.publish(writer.version, length: start, by: handle.number)
          state.history.note(
            "\(handle.name) \(isLast ? "commits" : "checkpoints") \(writer.version)[\(start)] under \(writer.key)")
        }
        let entry =
          try await isLast ? writer.writer.commit(Content.draft(head)) : writer.writer.checkpoint(Content.draft(head))
        state.withLock { $0.history.published(writer.version, length: start, entry.id, by: handle.number) }
        if isClosed { violate("a writer of \(handle.name), which was closed, stored something") }
        if !isLast { giveBack(writer) }
      case 8:
        let bytes = try await writer.writer.read(at: Int64(start / 2), upTo: 100)
        if bytes != Content.body(writer.version, start / 2..<start).prefix(bytes.count) || bytes.isEmpty && start > 0 {
          violate("a writer of \(handle.name) gave back what it was not given")
        }
        giveBack(writer)
      default: writer.writer.abort()
      }
    } catch {
      // One that fails has given up, and leaves what a checkpoint stored; that of one which was to be the last word is
      // in doubt.
      let wasRemoved = state.withLock { state in
        let isLeaving = state.history.values[writer.version]?.leaving != nil
        return isLeaving
      }
      // Another store may have gone on with it.
      let isShared = state.withLock { $0.handles.count > 1 }
      judge(
        error, "writing version \(writer.version)", handle,
        expected: wasRemoved || isSmall || isShared ? [.notWritten] : [])
    }
  }

  // MARK: Removing

  private func remove(_ dice: inout Dice) async {
    guard let handle = handle(&dice) else { return }
    let entries = await look(up: dice.roll(Content.keys), in: handle, &dice)
    let versions = entries.compactMap { Content.Head($0.head)?.version }
    guard !handle.isReader else { return handle.store.remove(entries.map(\.id)) }
    state.withLock { state in
      state.history.leave(versions)
      state.history.note("\(handle.name) removes \(versions)")
    }
    handle.store.remove(entries.map(\.id))
    if marks(handle.number).isWhole { state.withLock { $0.history.left(versions, by: handle.number) } }
  }

  private func clear(_ dice: inout Dice) async {
    guard let handle = handle(&dice, where: { handle, _ in !handle.isReader }) else { return }
    let doomed = state.withLock { $0.history.beginClear(handle.incarnation, by: handle.number) }
    note("\(handle.name) removes everything: \(doomed)")
    var isDone = false
    do {
      try await handle.store.removeAll(dice.chance(50) ? .all : .host("example.com"))
      isDone = marks(handle.number).isWhole
    } catch {
      judge(error, "removing everything", handle)
    }
    state.withLock { [isDone] in $0.history.endClear(doomed, isDone, by: handle.number) }
  }

  func flush(_ dice: inout Dice) async {
    guard let handle = handle(&dice, where: { handle, _ in !handle.isReader }) else { return }
    await flush(handle)
  }

  func flush(_ handle: Handle) async {
    let start = state.withLock { $0.history.tick() }
    do {
      try await handle.store.flush()
      if marks(handle.number).isWhole {
        state.withLock { $0.history.flushed(handle.incarnation, since: start, by: handle.number) }
      }
    } catch {
      judge(error, "flushing", handle)
    }
  }

  /// Enough records for a log to be shortened, now and then.
  private func burst(_ dice: inout Dice) async {
    guard dice.chance(5), let handle = handle(&dice, where: { !$0.isReader && $1.isWhole }) else { return }
    do {
      for count in 0..<1100 {
        let details = EntryDetails(url: "passing", stored: Date(timeIntervalSince1970: 0))
        let draft = EntryDraft(key: Content.passing, head: [], details: details)
        handle.store.remove([try await handle.store.put(draft, body: Data()).id])
        if count % 100 == 99 { await flush(handle) }
      }
    } catch {
      judge(error, "putting what passes", handle, expected: [.storeFull])
    }
  }
}
