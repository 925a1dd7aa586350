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
  switch kind % 4 {
  case 0: replay(bytes, seed: 1)
  case 1: replay(withChecksums(bytes, seed: 1), seed: 1)
  case 2: head(bytes)
  default: mark(bytes)
  }
  return 0
}

/// Whatever a log says, what comes of it is consistent.
private func replay(_ bytes: [UInt8], seed: UInt64) {
  var replay = Replay()
  bytes.withUnsafeBytes { replay.add($0, from: 0, seed: seed) }
  replay.finish()
  precondition(replay.index.count == replay.usage.count)
  precondition(replay.index.handles.count == replay.index.count)
  precondition(replay.folders.values.allSatisfy(PartitionFolder.isUsable))
  var cost: Int64 = 0
  for handle in replay.index.handles {
    let slot = replay.index[handle]
    cost &+= slot.cost
    precondition(slot.cost > 0)
    precondition(!replay.loose.contains(slot.headFile(replay.index.hash(handle))))
  }
  precondition(cost == replay.usage.bytes)
  while let handle = replay.index.victim() { replay.index.remove(handle) }
  precondition(replay.index.count == replay.index.pinned)
}

/// Chance does not find a checksum: this lets every record through, so that what is behind is reached.
private func withChecksums(_ bytes: [UInt8], seed: UInt64) -> [UInt8] {
  var bytes = bytes
  var start = 0
  var position: UInt64 = 0
  while bytes.count - start >= LogRecord.size {
    // Few kinds, keys and numbers, so that records are about the same entries.
    bytes[start] = bytes[start] % 6
    for field in [8, 24, 32, 40] {
      bytes[start + field] %= 8
      for rest in 1..<8 { bytes[start + field + rest] = 0 }
    }
    let end = start + LogRecord.size
    let check = Checksum.of(Array(bytes[start..<end - 8]), seed: Checksum.seed(seed, position))
    for shift in 0..<8 { bytes[end - 8 + shift] = UInt8(truncatingIfNeeded: check >> (8 * UInt64(shift))) }
    // What is read is written the same.
    bytes[start..<end].withUnsafeBytes { raw in
      if let record = LogRecord(decoding: raw, seed: Checksum.seed(seed, position)) {
        let again = record.encoded(seed: Checksum.seed(seed, position))
        let other = again.withUnsafeBytes { LogRecord(decoding: $0, seed: Checksum.seed(seed, position)) }
        precondition(other == record)
      }
    }
    start = end
    position += 1
  }
  return bytes
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
    guard let mark = try? FormatMark(decoding: bytes[...], magic: "WAYLAYJ\n", version: version, payload: 8) else { continue }
    let again = try? FormatMark(decoding: mark.encoded[...], magic: "WAYLAYJ\n", version: version, payload: 8)
    precondition(again == mark)
  }
}
