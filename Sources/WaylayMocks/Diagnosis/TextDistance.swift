/// How far apart two texts are.
enum TextDistance {
  /// The edits that lead from one to the other, as a part of the longer one's length: 0 for equal ones, 1 for those with nothing in common.
  ///
  /// Of long texts only the first 64 bytes are looked at.
  static func between(_ one: String, _ other: String) -> Double {
    let (one, other) = (Array(one.utf8.prefix(64)), Array(other.utf8.prefix(64)))
    guard one != other else { return 0 }
    guard !one.isEmpty, !other.isEmpty else { return 1 }
    var row = Array(0...other.count)
    for (index, byte) in one.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for (column, wanted) in other.enumerated() {
        let above = row[column + 1]
        row[column + 1] = byte == wanted ? diagonal : 1 + min(diagonal, above, row[column])
        diagonal = above
      }
    }
    return Double(row[other.count]) / Double(max(one.count, other.count))
  }
}
