import Crypto
import Driver
import Foundation

@testable import WaylayArchive

@main
enum Target {
  static func main() { fuzz(test) }
}

private let key = SymmetricKey(data: [UInt8](repeating: 7, count: 32))
private let secret = [UInt8](repeating: 9, count: 32)
private let identities = [Identity(secret: secret, key: nil), Identity(secret: secret, key: key)]
private let sealings = [Sealing(), identities[1].sealing(key) ?? Sealing()]

/// One input: an exported archive, frames of one, or a chunk of a stored body with what is known of it.
@_cdecl("LLVMFuzzerTestOneInput")
func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let kind = bytes.first else { return 0 }
  let rest = Array(bytes.dropFirst())
  switch kind % 8 {
  case 0: read(rest, encrypted: false)
  case 1: read(frames(rest, 0), encrypted: false)
  case 2: read(frames(rest, 1), encrypted: true)
  case 3, 4, 5: head(rest)
  default: chunk(rest, isEncrypted: kind % 8 == 6)
  }
  return 0
}

/// Chance finds no checksum: this makes frames of an input, so that what is behind them is reached.
private func frames(_ bytes: [UInt8], _ place: Int) -> [UInt8] {
  let sealing = sealings[place]
  var file = ArchiveFile.mark.encoded(identities[place].payload)
  var source = ByteSource(bytes[...])
  var index: UInt64 = 0
  while let kind = source.number(UInt8.self), index < 100 {
    let payload = source.counted() ?? []
    guard let sealed = try? sealing.sealed([kind % 6] + payload, Sealing.Context(file: 0, index: index), digest: [])
    else { break }
    var sink = ByteSink()
    sink.put(sealed)
    sink.put(Checksum.of(sink.bytes, seed: index))
    file += sink.bytes
    index += 1
  }
  return file
}

/// Reads a file to its end or to its first damage, as an import does.
private func read(_ bytes: [UInt8], encrypted: Bool) {
  let files = FileSystem(OneFile(bytes: bytes))
  guard var reader = try? ArchiveFileReader(URL(fileURLWithPath: "a file"), key: encrypted ? key : nil, files) else {
    return
  }
  var total = 0
  while let (kind, payload) = try? reader.next() {
    total += payload.count
    require(total <= bytes.count, "more than there is")
    if kind == .entry, let block = HeadBlock(decoding: payload) { check(block) }
    if kind == .last { break }
  }
}

private func head(_ bytes: [UInt8]) {
  if let block = HeadBlock(decoding: bytes[...]) { check(block) }
  _ = try? ArchiveFile.mark.payload(of: bytes)
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
