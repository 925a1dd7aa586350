extension HAR.Body {
  /// A piece of a body, as it arrived.
  package struct Piece: Hashable, Sendable {
    /// The arrival time in milliseconds after the start of the exchange.
    package var time: Double
    /// The number of its bytes.
    package var size: Int

    /// Makes a piece.
    package init(time: Double, size: Int) {
      self.time = time
      self.size = size
    }
  }

  /// The pieces in which the body arrived, stored in `_chunks` as text such as `12.5+300 40+17`: time and number of
  /// bytes per piece. The field is omitted for a single piece, and ignored if the sizes do not match the body.
  package var pieces: [Piece] {
    get {
      let words = extensions["_chunks"]?.string?.split(separator: " ") ?? []
      let pieces = words.compactMap { word -> Piece? in
        let parts = word.split(separator: "+")
        guard parts.count == 2, let time = Double(parts[0]), time >= 0, time.isFinite, let size = Int(parts[1]),
          1...data.count ~= size
        else { return nil }
        return Piece(time: time, size: size)
      }
      return pieces.reduce(0) { $0 &+ $1.size } == data.count ? pieces : []
    }
    set {
      let words = newValue.map { "\(($0.time * 1000).rounded() / 1000)+\($0.size)" }
      extensions["_chunks"] = words.count > 1 ? JSONValue(words.joined(separator: " ")) : nil
    }
  }

  /// Adapts the pieces of `original` to this body, which was made by replacing parts of it. The borders are mapped line
  /// by line: pieces of event streams end at line ends, and replacements keep lines.
  mutating func moveBorders(from original: HAR.Body) {
    guard !original.pieces.isEmpty, data != original.data else { return }
    func ends(_ data: Data) -> [Int] { [0] + data.enumerated().filter { $1 == 10 }.map { $0.offset + 1 } }
    var (old, new) = (ends(original.data), ends(data))
    if old.count != new.count { (old, new) = ([0], [0]) }
    var (moved, line, done, end) = ([Piece](), 0, 0, 0)
    for piece in original.pieces {
      end += piece.size
      while line + 1 < old.count, old[line + 1] <= end { line += 1 }
      // Within a line, a border stays at its distance from the beginning.
      let limit = line + 1 < new.count ? new[line + 1] : data.count
      let border = end == original.data.count ? data.count : min(new[line] + end - old[line], limit)
      // Omit pieces that became empty.
      if border > done { moved.append(Piece(time: piece.time, size: border - done)) }
      done = max(done, border)
    }
    pieces = moved
  }
}
