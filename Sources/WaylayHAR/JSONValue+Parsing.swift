extension JSONValue {
  /// Parses JSON in UTF-8.
  ///
  /// - Throws: `HARError.notJSON` with the line and the column where it stops being JSON. Values may be nested
  ///   128 levels deep.
  public init(parsing data: Data) throws(HARError) {
    try self.init(data) { HARError(.notJSON, "This is not JSON: \($0)", underlying: $0) }
  }

  /// Parses JSON.
  ///
  /// - Throws: `HARError.notJSON` with the line and the column where it stops being JSON.
  public init(parsing text: String) throws(HARError) {
    try self.init(parsing: Data(text.utf8))
  }

  /// Parses UTF-8 bytes, and converts a syntax error with `failure`.
  init(_ bytes: some Sequence<UInt8>, _ failure: (JSONSyntaxError) -> HARError) throws(HARError) {
    do { try self.init(reading: bytes) } catch { throw failure(error) }
  }
}
