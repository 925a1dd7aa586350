/// Finds the entries in the bytes of an archive, one after the other, however the bytes are cut into pieces.
///
/// It looks at strings and brackets alone: whether what is between them is JSON is for the decoder to say, entry by
/// entry.
struct EntryScanner {
  enum Place {
    /// The entries have not begun.
    case before
    case within
    /// The array of entries has ended.
    case after
  }

  private(set) var place = Place.before
  /// Whether there was an array of entries at all.
  private(set) var hasEntries = false
  /// The bytes of the entry that has begun and not ended.
  private(set) var entry: [UInt8] = []
  /// What stands before the entries, and the bracket after them: with what comes later, an archive without entries.
  /// Kept where somebody wants it.
  private(set) var rest: [UInt8] = []

  private let keepsRest: Bool
  private var depth = 0
  private var isInString = false
  private var isEscaped = false
  /// The last string outside the entries, as it is written, and whether a colon has come after it.
  private var name: [UInt8] = []
  private var isNamed = false
  /// Whether the object that the depth of 2 is in is the log.
  private var isInLog = false

  init(keepsRest: Bool = false) {
    self.keepsRest = keepsRest
  }

  /// Takes bytes from the front of a piece, up to the end of an entry, of the piece, or of the entries.
  ///
  /// - Returns: Whether ``entry`` is whole: it is to be taken then.
  mutating func scan(_ bytes: inout ArraySlice<UInt8>) -> Bool {
    let start = bytes.startIndex
    var index = start
    // What belongs to an entry is copied piece by piece, not byte by byte.
    var copied = start
    defer { bytes = bytes[index...] }
    while index < bytes.endIndex, place != .after {
      let byte = bytes[index]
      index += 1
      if keepsRest, place == .before { rest.append(byte) }
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
          continue
        }
        if place == .before, name.count < 16 { name.append(byte) }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""):
        isInString = true
        if place == .before {
          name.removeAll(keepingCapacity: true)
          isNamed = false
        }
      case UInt8(ascii: ":"): isNamed = true
      case UInt8(ascii: ","):
        isNamed = false
        if place == .within, depth == 3 { copied = index }
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        if place == .within, depth == 3 { copied = index - 1 }
        open(byte)
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if place == .within, depth == 3 {
          entry += bytes[copied..<index]
          return true
        }
        if place == .within, depth < 3 {
          place = .after
          if keepsRest { rest.append(byte) }
        }
        if depth < 2 { isInLog = false }
        if depth < 0 { place = .after }
      default: break
      }
    }
    if place == .within, depth > 3 { entry += bytes[copied..<index] }
    return false
  }

  /// The entry that is whole. The next one begins.
  mutating func take() -> [UInt8] {
    defer { entry = [] }
    return entry
  }

  private mutating func open(_ bracket: UInt8) {
    depth += 1
    guard place == .before else { return }
    if depth == 2, isNamed, bracket == UInt8(ascii: "{"), name == Array("log".utf8) { isInLog = true }
    if depth == 3, isNamed, isInLog, bracket == UInt8(ascii: "["), name == Array("entries".utf8) {
      place = .within
      hasEntries = true
    }
    isNamed = false
  }
}
