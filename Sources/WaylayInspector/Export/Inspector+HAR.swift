public import Foundation

extension Inspector {
  /// What is kept, as an HTTP archive in memory. For much there is ``writeHAR(to:matching:isPretty:)``.
  ///
  /// - Parameter query: Which exchanges it has; all of them by default.
  public func har(matching query: Query? = nil) -> HAR { HAR(entries: matches(query).map(\.entry)) }

  /// Writes what is kept into an HTTP archive, exchange by exchange: with the memory of one.
  ///
  /// - Parameters:
  ///   - file: Where the archive is to be. The file appears when it is whole, and is for its owner alone.
  ///   - query: Which exchanges it has; all of them by default.
  ///   - isPretty: Whether it is indented.
  /// - Throws: `HARError` when it cannot be written. What was there before is still there then.
  public func writeHAR(to file: URL, matching query: Query? = nil, isPretty: Bool = false) throws(HARError) {
    var writer = try HARWriter(file, isPretty: isPretty)
    for exchange in matches(query) { try writer.append(exchange.entry) }
    try writer.finish()
  }

  /// What is kept, as text for people: each exchange as ``Exchange/text()`` writes it.
  ///
  /// - Parameter query: Which exchanges it has; all of them by default.
  public func text(matching query: Query? = nil) -> String {
    matches(query).map { Exchange($0.entry).text() }.joined(separator: "\n")
  }
}
