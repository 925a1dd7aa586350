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
      extensions["_chunks"] = words.count > 1 ? JSONValue(words.joined(separator: " ")) : Optional.none
    }
  }

  /// Adapts the pieces of `original` to this body, which was made by replacing parts of it. The borders are mapped line
  /// by line: pieces of event streams end at line ends, and replacements keep lines.
  mutating func moveBorders(from original: HAR.Body) {
    let pieces = original.pieces
    guard !pieces.isEmpty, data != original.data else { return }
    func lines(_ data: Data) -> [Data] { data.split(separator: 10, omittingEmptySubsequences: false).map { Data($0) } }
    var (old, new) = (lines(original.data), lines(data))
    if old.count != new.count { (old, new) = ([original.data], [data]) }
    var moved: [Piece] = []
    // The start of the line in both bodies, and the number of bytes of the new body that are assigned to pieces.
    var (number, oldStart, newStart, done, end) = (0, 0, 0, 0, 0)
    for piece in pieces {
      end += piece.size
      while number < old.count - 1, oldStart + old[number].count < end {
        oldStart += old[number].count + 1
        newStart += new[number].count + 1
        number += 1
      }
      let border = newStart + Self.border(end - oldStart, old[number], new[number])
      // Omit pieces that became empty.
      if border > done { moved.append(Piece(time: piece.time, size: border - done)) }
      done = max(done, border)
    }
    if done < data.count, !moved.isEmpty { moved[moved.count - 1].size += data.count - done }
    self.pieces = moved
  }

  /// Maps an offset by the common prefix and suffix of both texts.
  private static func border(_ place: Int, _ old: Data, _ new: Data) -> Int {
    let before = zip(old, new).prefix { $0 == $1 }.count
    if place <= before { return place }
    let after = zip(old.reversed(), new.reversed()).prefix { $0 == $1 }.count
    return old.count - place <= after ? max(before, new.count - (old.count - place)) : before
  }
}
