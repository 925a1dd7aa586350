/// How far apart two texts are.
enum TextDistance {
  /// The edits that lead from one to the other, as a part of the longer one's length: 0 for equal ones, 1 for those
  /// with nothing in common.
  ///
  /// Of long texts only the first 64 bytes are looked at.
  static func between(_ one: String, _ other: String) -> Double {
    guard one != other else { return 0 }
    var (one, other) = (one, other)
    return one.withUTF8 { one in
      other.withUTF8 { other in
        let (one, other) = (one.prefix(64), other.prefix(64))
        guard !one.elementsEqual(other) else { return 0 }
        guard !one.isEmpty, !other.isEmpty else { return 1 }
        return Double(edits(one, other)) / Double(max(one.count, other.count))
      }
    }
  }

  private static func edits(_ one: Slice<UnsafeBufferPointer<UInt8>>, _ other: Slice<UnsafeBufferPointer<UInt8>>) -> Int
  {
    withUnsafeTemporaryAllocation(of: Int.self, capacity: other.count + 1) { row in
      for column in 0...other.count { row.initializeElement(at: column, to: column) }
      for (index, byte) in one.enumerated() {
        var diagonal = row[0]
        row[0] = index + 1
        for (column, wanted) in other.enumerated() {
          let above = row[column + 1]
          row[column + 1] = byte == wanted ? diagonal : 1 + min(diagonal, above, row[column])
          diagonal = above
        }
      }
      return row[other.count]
    }
  }
}
