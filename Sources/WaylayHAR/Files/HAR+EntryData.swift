public import Foundation

extension HAR.Entry {
  /// Reads one entry from its JSON, as ``data(isPretty:)`` writes it: a line of a journal, or a message to a page.
  ///
  /// - Throws: ``HARError`` when the bytes are no JSON, or no entry.
  public init(data: Data) throws(HARError) {
    let json: JSONValue
    do { json = try JSONValue(data.withoutByteOrderMark) } catch {
      throw HARError(.notJSON, "This is no JSON, so it is no entry: \(HARError.place(of: error)).", underlying: error)
    }
    try self.init(json, number: 1)
  }

  /// The entry alone as JSON, without an archive round it.
  ///
  /// - Parameter isPretty: Whether it is indented. One line else, without a line break at its end.
  public func data(isPretty: Bool = false) -> Data {
    var json = JSONText(isPretty: isPretty)
    write(to: &json)
    return Data(json.bytes)
  }
}
