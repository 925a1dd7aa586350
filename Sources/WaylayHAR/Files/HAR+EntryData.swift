public import Foundation

extension HAR.Entry {
  /// Parses one entry from the JSON that ``data(isPretty:)`` writes, such as a line of a journal or a message to a
  /// page.
  ///
  /// - Throws: ``HARError`` if the bytes are not JSON, or not an entry.
  public init(data: Data) throws(HARError) {
    let json: JSONValue
    do { json = try JSONValue(data.withoutByteOrderMark) } catch {
      throw HARError(.notJSON, "This is not JSON, so not an entry: \(HARError.place(of: error)).", underlying: error)
    }
    try self.init(json, number: 1)
  }

  /// Returns the entry alone as JSON, without an enclosing archive.
  ///
  /// - Parameter isPretty: Whether to indent it. Otherwise it is one line, without a trailing line break.
  public func data(isPretty: Bool = false) -> Data {
    var json = JSONText(isPretty: isPretty)
    write(to: &json)
    return Data(json.bytes)
  }
}
