public import Foundation

extension Inspector {
  /// Returns the exchanges that a closure selects, in the order in which they began.
  ///
  /// ```swift
  /// let errors = inspector.exchanges { ($0.response?.status ?? 0) >= 400 }
  /// ```
  ///
  /// - Parameters:
  ///   - limit: The maximum number of exchanges to return, the newest ones.
  ///   - isIncluded: Returns whether to include an exchange.
  public func exchanges(newest limit: Int = .max, where isIncluded: (Exchange) -> Bool) -> [Exchange] {
    var found: [Exchange] = []
    for slot in slots.reversed() {
      guard found.count < limit else { break }
      let exchange = exchange(slot)
      if isIncluded(exchange) { found.append(exchange) }
    }
    return found.reversed()
  }

  /// Returns the kept exchanges as an HTTP archive in memory. For large amounts, use ``writeHAR(to:isPretty:where:)``.
  ///
  /// - Parameter isIncluded: Returns whether to include an exchange. Default: all of them.
  public func har(where isIncluded: ((Exchange) -> Bool)? = nil) -> HAR {
    HAR(entries: kept(where: isIncluded).map { redacted($0.entry) })
  }

  /// Writes the kept exchanges to an HTTP archive one by one, so only one of them needs memory at a time.
  /// - Parameters:
  ///   - file: The location of the archive. The file appears when it is complete, and only its owner can access it.
  ///   - isPretty: Whether to indent the file.
  ///   - isIncluded: Returns whether to include an exchange. Default: all of them.
  /// - Throws: `HARError` if it cannot be written. An existing file then stays unchanged.
  public func writeHAR(
    to file: URL, isPretty: Bool = false, where isIncluded: ((Exchange) -> Bool)? = nil
  ) throws(HARError) {
    var writer = try HARWriter(file, isPretty: isPretty)
    for exchange in kept(where: isIncluded) { try writer.append(redacted(exchange.entry)) }
    try writer.finish()
  }

  /// Returns the kept exchanges as human-readable text, each as written by ``Exchange/text()``.
  ///
  /// - Parameter isIncluded: Returns whether to include an exchange. Default: all of them.
  public func text(where isIncluded: ((Exchange) -> Bool)? = nil) -> String {
    kept(where: isIncluded).map { Exchange(redacted($0.entry)).text() }.joined(separator: "\n")
  }

  /// The kept exchanges that a closure selects, in packed form.
  func kept(where isIncluded: ((Exchange) -> Bool)?) -> [KeptExchange] {
    let kept = slots.map { $0.seal(by: self) }
    guard let isIncluded else { return kept }
    return kept.filter { isIncluded(Exchange($0.entry)) }
  }
}

extension Inspector {
  /// Adds an exchange recorded elsewhere, such as one of an HTTP archive.
  ///
  /// ```swift
  /// var reader = try HARReader(file)
  /// while let entry = try reader.next() { inspector.add(entry) }
  /// ```
  ///
  /// ``redaction`` removes secrets, the ``limits`` apply to bodies, and the exchange gets the next number, regardless
  /// of the number in its entry. If the entry's state is `open` (see ``Exchange/init(_:)``), ``update(_:to:)`` can
  /// update it later.
  ///
  /// - Returns: The number of the exchange, its ``Exchange/id``.
  @discardableResult
  public func add(_ entry: HAR.Entry) -> Int {
    let entry = cut(redacted(entry))
    let kept = withMemory { memory in
      let kept = KeptExchange(entry, memory.nextNumber())
      let slot = Slot(kept, at: clock.now())
      memory.add(slot, cost: kept.cost)
      if kept.state != .open { memory.end(slot) }
      return kept
    }
    if let journal, kept.state != .open { journal.append([kept.entry]) }
    tell(of: kept.number)
    return kept.number
  }

  /// Updates an exchange that was open when it was added.
  ///
  /// - Parameters:
  ///   - id: The number from ``add(_:)``.
  ///   - entry: The current content of the exchange.
  /// - Returns: Whether the exchange was updated: `false` if it has ended or is no longer kept.
  @discardableResult
  public func update(_ id: Int, to entry: HAR.Entry) -> Bool {
    guard let slot = memory.withLock({ $0.slot(id) }) else { return false }
    let kept = KeptExchange(cut(redacted(entry)), id)
    guard slot.replace(by: kept) else { return false }
    withMemory { memory in
      memory.settle(slot, cost: kept.cost)
      if kept.state != .open { memory.end(slot) }
    }
    if let journal, kept.state != .open { journal.append([kept.entry]) }
    tell(of: id)
    return true
  }

  /// Returns the entry with its bodies truncated to the limit.
  package func cut(_ entry: HAR.Entry) -> HAR.Entry {
    var entry = entry
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
