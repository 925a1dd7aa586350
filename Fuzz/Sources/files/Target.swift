import Crypto
import Driver
import Foundation

@testable import WaylayArchive

@main
enum Target {
  static func main() { fuzz(test) }
}

private let key = SymmetricKey(data: [UInt8](repeating: 7, count: 32))
private let sealings = [Sealing(), Sealing(key: key, archive: [UInt8](repeating: 9, count: 32))]

/// One input: a head, an identity, or a chunk of a stored body with what is known of it.
@_cdecl("LLVMFuzzerTestOneInput")
func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let kind = bytes.first else { return 0 }
  let rest = Array(bytes.dropFirst())
  switch kind % 8 {
  case 0...5: head(rest)
  default: chunk(rest, isEncrypted: kind % 8 == 6)
  }
  return 0
}

private func head(_ bytes: [UInt8]) {
  if let block = HeadBlock(decoding: bytes[...]) { check(block) }
  _ = Identity(decoding: bytes)
}

private func check(_ block: HeadBlock) {
  require(block.bodyLength >= 0 && block.storedBodyLength >= 0, "not what it was")
  let again = HeadBlock(decoding: block.encoded()[...])
  require(again?.chunks == block.chunks && again?.head == block.head && again?.key == block.key, "another head")
}

/// A chunk that does not fit what is known of it gives nothing, and never more than it should.
private func chunk(_ bytes: [UInt8], isEncrypted: Bool) {
  var source = ByteSource(bytes[...])
  guard let plain = source.number(UInt32.self), let flags = source.number(UInt8.self) else { return }
  let stored = Data(bytes.suffix(source.remaining))
  let place = Sealing.Context(file: 1, index: 2)
  let chunk = BodyChunk(
    stored: UInt32(stored.count), plain: plain % UInt32(BodyChunk.size + 1),
    check: stored.withUnsafeBytes { Checksum.of($0, seed: place.seed) },
    isCompressed: flags & 1 == 1)
  let sealing = sealings[isEncrypted ? 1 : 0]
  if let opened = sealing.opened(chunk: stored, chunk, place, digest: [1]) {
    require(opened.count == Int(chunk.plain), "another length")
  }
  // What is sealed is opened again as it was, and as nothing else in another place.
  guard let (sealed, known) = try? sealing.sealed(chunk: stored, compressing: flags & 2 == 2, place, digest: [1]),
    !stored.isEmpty
  else { return }
  require(sealing.opened(chunk: sealed, known, place, digest: [1]) == stored, "not what was sealed")
  require(
    sealing.opened(chunk: sealed, known, Sealing.Context(file: 1, index: 3), digest: [1]) == nil,
    "a chunk in another place")
}
