import Foundation

extension Inspector {
  /// Adds an exchange that something else has seen: one of an HTTP archive, or one of a program that is watched.
  ///
  /// ```swift
  /// var reader = try HARReader(file)
  /// while let entry = try reader.next() { inspector.add(entry) }
  /// ```
  ///
  /// Secrets are taken out by ``redaction``, bodies are kept as far as the ``limits`` let them be, and the exchange has
  /// the next number, whatever number its entry names. An entry whose state is `open` (see ``Exchange/Field``) may be
  /// followed by what becomes of it, by ``update(_:to:)``.
  ///
  /// - Returns: Its number.
  @discardableResult
  public func add(_ entry: HAR.Entry) -> Exchange.ID {
    let entry = bare(entry)
    let (slot, kept, gone, mailboxes) = memory.withLock { memory -> (Slot, KeptExchange, [Slot], [Int: Mailbox]) in
      let kept = KeptExchange(entry, memory.nextNumber())
      let slot = Slot(kept, at: clock.now())
      var gone = memory.add(slot, cost: kept.cost)
      if kept.state != .open { gone += memory.end(slot) }
      return (slot, kept, gone, memory.mailboxes)
    }
    for slot in gone { slot.forget() }
    if let journal, kept.state != .open { journal.append([kept.entry]) }
    tell(mailboxes, of: slot)
    return Exchange.ID(slot.number)
  }

  /// Says what has become of an exchange that was added while it was open.
  ///
  /// - Parameters:
  ///   - id: Its number, from ``add(_:)``.
  ///   - entry: All that is known of it now.
  /// - Returns: Whether it was there: `false` for one that has ended or is not kept any more.
  @discardableResult
  public func update(_ id: Exchange.ID, to entry: HAR.Entry) -> Bool {
    guard let slot = memory.withLock({ $0.slot(id.number) }) else { return false }
    let kept = KeptExchange(bare(entry), id.number)
    guard slot.replace(by: kept) else { return false }
    let (gone, mailboxes) = memory.withLock { memory -> ([Slot], [Int: Mailbox]) in
      let gone = memory.settle(slot, cost: kept.cost)
      return (kept.state == .open ? gone : gone + memory.end(slot), memory.mailboxes)
    }
    for slot in gone { slot.forget() }
    if let journal, kept.state != .open { journal.append([kept.entry]) }
    tell(mailboxes, of: slot)
    return true
  }

  /// An entry without secrets, with as much of its bodies as may be kept.
  private func bare(_ entry: HAR.Entry) -> HAR.Entry {
    var entry = redaction.redacted(entry)
    entry.response.body = cut(entry.response.body)
    entry.request.body = entry.request.body.map { cut($0) }
    return entry
  }

  private func cut(_ body: HAR.Body) -> HAR.Body {
    let limit = limits.mostOfABody
    guard body.data.count > limit else { return body }
    return HAR.Body(Data(body.data.prefix(limit)), mediaType: body.mediaType, size: body.size)
  }
}
