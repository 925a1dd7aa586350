/// The name of a partition's folder.
enum PartitionFolder {
  static let longestName = 48

  /// Whether a name can be a folder's: plain, short, and leading nowhere else.
  static func isUsable(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= longestName && name.utf8.first != UInt8(ascii: ".")
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"),
          UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
          true
        default: false
        }
      }
  }

  /// The folder that a digest names.
  static func named(_ digest: UInt64) -> String {
    let digits = String(digest, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
