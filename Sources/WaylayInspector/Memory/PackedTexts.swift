import Foundation

/// Texts that are put behind each other, so that one search goes through all of them.
struct PackedTexts {
  /// What each text ends with: a byte that no UTF-8 has.
  static let end: UInt8 = 0xFF

  private var texts: [String] = []
  /// Where each of them begins.
  private var starts: [Int] = []
  /// How many bytes they take, with their ends.
  private(set) var size = 0

  mutating func add(_ text: String) {
    texts.append(text)
    starts.append(size)
    size += text.utf8.count + 1
  }

  /// Where the text of that number begins, or would begin if there were one.
  func beginning(_ index: Int) -> Int { index < starts.count ? starts[index] : size }

  /// Where it is, without its end.
  func place(_ index: Int) -> Range<Int> { starts[index]..<beginning(index + 1) - 1 }

  /// All of them and then the bodies, in one piece that is no larger than it has to be.
  func packed(with bodies: Data...) -> [UInt8] {
    let count = bodies.reduce(size) { $0 + $1.count }
    return [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
      for text in texts {
        filled = bytes[filled...].initialize(fromContentsOf: text.utf8)
        filled = bytes[filled...].initialize(fromContentsOf: CollectionOfOne(Self.end))
      }
      for body in bodies { filled = bytes[filled...].initialize(fromContentsOf: body) }
    }
  }
}
