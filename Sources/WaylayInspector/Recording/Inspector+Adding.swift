import Foundation

extension Inspector {
  /// Adds an exchange recorded elsewhere: one of an HTTP archive, or one of a watched program.
  ///
  /// ```swift
  /// var reader = try HARReader(file)
  /// while let entry = try reader.next() { inspector.add(entry) }
  /// ```
  ///
  /// ``redaction`` removes secrets, the ``limits`` apply to bodies, and the exchange gets the next number, regardless
  /// of the number in its entry. If the entry's state is `open` (see ``Exchange/Field``), ``update(_:to:)`` can update
  /// it later.
  ///
  /// - Returns: The identifier of the exchange.
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

  /// Updates an exchange that was open when it was added.
  ///
  /// - Parameters:
  ///   - id: Its identifier, from ``add(_:)``.
  ///   - entry: Everything known about it now.
  /// - Returns: Whether it was updated: `false` for one that has ended or is no longer kept.
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
