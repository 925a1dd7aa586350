import Driver
import Foundation

@testable import WaylayArchive

@main
enum Target {
  static func main() { fuzz(test) }
}

/// One input: the first byte says what it is taken for.
@_cdecl("LLVMFuzzerTestOneInput")
func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = [UInt8](UnsafeBufferPointer(start: start, count: count))
  guard let kind = input.first else { return 0 }
  let bytes = Array(input.dropFirst())
  if kind % 2 == 0 { head(bytes) } else { mark(bytes) }
  return 0
}

private func head(_ bytes: [UInt8]) {
  guard let block = HeadBlock(decoding: bytes[...]) else { return }
  precondition(block.bodyLength >= 0 && block.storedBodyLength >= 0)
  let again = HeadBlock(decoding: block.encoded()[...])
  // Dates that are no number are equal to nothing.
  precondition(again?.chunks == block.chunks && again?.head == block.head && again?.key == block.key)
}

private func mark(_ bytes: [UInt8]) {
  for version in [1, 2] as [UInt32] {
    let mark = FormatMark(magic: "WAYLAYJ\n", version: version, payloadSize: 8)
    guard let payload = try? mark.payload(of: bytes) else { continue }
    precondition((try? mark.payload(of: mark.encoded(payload))) == payload)
  }
}
