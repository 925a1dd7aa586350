/// Which of the given things stands for which of the wanted ones, each for one at most, whatever their order.
struct Assignment {
  /// For each thing given, the wanted one that it stands for.
  private(set) var owners: [Int: Int] = [:]
  /// The wanted ones that nothing stands for.
  private(set) var missing: [Int] = []

  /// Gives each wanted thing one of its own; it may take another's when that one finds another (an augmenting path).
  init(of wanted: Int, among given: Int, accepts: (_ given: Int, _ wanted: Int) -> Bool) {
    for index in 0..<wanted {
      var tried: Set<Int> = []
      if !place(index, given, accepts, &tried) { missing.append(index) }
    }
  }

  var isComplete: Bool { missing.isEmpty }

  private mutating func place(
    _ index: Int, _ given: Int, _ accepts: (Int, Int) -> Bool, _ tried: inout Set<Int>
  ) -> Bool {
    for position in 0..<given where !tried.contains(position) && accepts(position, index) {
      tried.insert(position)
      if let owner = owners[position], !place(owner, given, accepts, &tried) { continue }
      owners[position] = index
      return true
    }
    return false
  }
}
