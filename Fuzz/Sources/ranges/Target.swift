import Driver
import Foundation

@testable import WaylayArchive
@testable import WaylayCore

@main
enum Target {
  static func main() { fuzz(test) }
}

private let lengths: [Int64] = [0, 1, 2, 10, 1_000, 1 << 40, .max]

/// One input: what kind it is, and a field.
@_cdecl("LLVMFuzzerTestOneInput")
func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeBufferPointer(start: start, count: count)
  guard let kind = bytes.first else { return 0 }
  let text = String(decoding: bytes.dropFirst(), as: UTF8.self)
  if kind % 2 == 0 { contentRange(text) } else { range(text) }
  return 0
}

private func range(_ text: String) {
  let range = ByteRange(text)
  for length in lengths {
    guard let bytes = range.bytes(of: length) else { continue }
    require(!bytes.isEmpty && bytes.lowerBound >= 0 && bytes.upperBound <= length, "beyond the end: \(text) of \(length)")
    require(range.bytes.map { $0.lowerBound == bytes.lowerBound && $0.upperBound >= bytes.upperBound } ?? true, "\(text) of \(length)")
  }
}

private func contentRange(_ text: String) {
  guard let range = ContentRange(text) else { return }
  require(!range.bytes.isEmpty && range.bytes.lowerBound >= 0, "not what it was")
  require(range.completeLength.map { range.bytes.upperBound <= $0 } ?? true, "beyond the end: \(text)")
  require(ContentRange(range.value) == range, "\(text) became \(range.value)")
}
