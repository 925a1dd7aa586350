public import Foundation

extension Inspector {
  /// Returns the kept exchanges as an HTTP archive in memory. For large amounts, use
  /// ``writeHAR(to:matching:isPretty:)``.
  ///
  /// - Parameter query: The exchanges to include; all of them by default.
  public func har(matching query: Query? = nil) -> HAR { HAR(entries: matches(query).map(\.entry)) }

  /// Writes the kept exchanges to an HTTP archive one by one, so that it needs the memory of only one.
  ///
  /// - Parameters:
  ///   - file: The location of the archive. The file appears when it is complete, and only its owner can access it.
  ///   - query: The exchanges to include; all of them by default.
  ///   - isPretty: Whether to indent the file.
  /// - Throws: `HARError` if it cannot be written. An existing file then stays unchanged.
  public func writeHAR(to file: URL, matching query: Query? = nil, isPretty: Bool = false) throws(HARError) {
    var writer = try HARWriter(file, isPretty: isPretty)
    for exchange in matches(query) { try writer.append(exchange.entry) }
    try writer.finish()
  }

  /// Returns the kept exchanges as human-readable text, each as written by ``Exchange/text()``.
  ///
  /// - Parameter query: The exchanges to include; all of them by default.
  public func text(matching query: Query? = nil) -> String {
    matches(query).map { Exchange($0.entry).text() }.joined(separator: "\n")
  }
}
