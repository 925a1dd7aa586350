extension HAR.Body {
  /// A piece in which a body arrived.
  package struct Piece: Hashable, Sendable {
    /// When it arrived, in milliseconds after the exchange began.
    package var time: Double
    /// The number of its bytes.
    package var size: Int

    /// Makes a piece.
    package init(time: Double, size: Int) {
      self.time = time
      self.size = size
    }
  }

  /// The pieces in which the body arrived: `_chunks`, a text such as `12.5+300 40+17`, in which each piece has its time
  /// and its number of bytes. It is left out for a body of one piece, and has no say where it is not about these bytes.
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

  /// Puts the borders of the pieces where they were in the body that this one was made of by replacing parts of it.
  /// Event streams end their pieces with their lines, and a replacement leaves lines what they are.
  mutating func moveBorders(from original: HAR.Body) {
    let pieces = original.pieces
    guard !pieces.isEmpty, data != original.data else { return }
    func lines(_ data: Data) -> [Data] { data.split(separator: 10, omittingEmptySubsequences: false).map { Data($0) } }
    var (old, new) = (lines(original.data), lines(data))
    if old.count != new.count { (old, new) = ([original.data], [data]) }
    var moved: [Piece] = []
    // Where the line begins in each, and how many bytes of the new body are in the pieces so far.
    var (number, oldStart, newStart, done, end) = (0, 0, 0, 0, 0)
    for piece in pieces {
      end += piece.size
      while number < old.count - 1, oldStart + old[number].count < end {
        oldStart += old[number].count + 1
        newStart += new[number].count + 1
        number += 1
      }
      let border = newStart + Self.border(end - oldStart, old[number], new[number])
      // A piece of which nothing is left is none.
      if border > done { moved.append(Piece(time: piece.time, size: border - done)) }
      done = max(done, border)
    }
    if done < data.count, !moved.isEmpty { moved[moved.count - 1].size += data.count - done }
    self.pieces = moved
  }

  /// A place in a text, in the text that was made of it: what is the same before and after stays so.
  private static func border(_ place: Int, _ old: Data, _ new: Data) -> Int {
    let before = zip(old, new).prefix { $0 == $1 }.count
    if place <= before { return place }
    let after = zip(old.reversed(), new.reversed()).prefix { $0 == $1 }.count
    return old.count - place <= after ? max(before, new.count - (old.count - place)) : before
  }
}
