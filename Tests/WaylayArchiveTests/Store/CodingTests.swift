import Foundation
import Testing

@testable import WaylayArchive

@Suite("What is written to disk", .timeLimit(.minutes(5)))
struct CodingTests {
  @Test("XXH64 gives the checksums of its author's reference, at every length of the loop's tail")
  func checksum() {
    #expect(Checksum.of([], seed: 0) == 0xEF46_DB37_51D8_E999)
    #expect(Checksum.of(Array("a".utf8), seed: 0) == 0xD24E_C4F1_A98C_6E5B)
    #expect(Checksum.of(Array("abc".utf8), seed: 0) == 0x44BC_2CF5_AD77_0999)
    #expect(Checksum.of(Array("Nobody inspects the spammish repetition".utf8), seed: 0) == 0xFBCE_A83C_8A37_8BF1)
    #expect(Checksum.of(Array("abc".utf8), seed: 1) != Checksum.of(Array("abc".utf8), seed: 2))
    for length in 1..<100 {
      let bytes = [UInt8](Data.noise(length))
      let sum = Checksum.of(bytes, seed: 3)
      for position in bytes.indices {
        var other = bytes
        other[position] ^= 0x10
        #expect(Checksum.of(other, seed: 3) != sum)
      }
    }
  }

  @Test("a head block reads back, and nothing else reads as one or traps")
  func headBlock() throws {
    let draft = EntryDraft.sample("a", partition: "b", tags: ["x", "y"], isPinned: true, mediaType: "text/html")
    let chunks = [
      BodyChunk(stored: 65_536, plain: 65_536, check: 1, isCompressed: false),
      BodyChunk(stored: 100, plain: 3000, check: 2, isCompressed: true),
    ]
    let block = HeadBlock(key: draft.key, details: draft.details, head: draft.head, chunks: chunks)
    let bytes = block.encoded()
    #expect(HeadBlock(decoding: bytes[...]) == block)
    for length in bytes.indices { #expect(HeadBlock(decoding: bytes[..<length]) == nil) }
    for position in bytes.indices {
      for value in [0, 0x7F, 0xFF] as [UInt8] {
        var other = bytes
        other[position] = value
        _ = HeadBlock(decoding: other[...])
      }
    }
  }

  @Test("keys and partitions are their bytes")
  func keys() {
    #expect(ArchiveKey("é") != ArchiveKey("e\u{301}"))
    #expect(ArchivePartition("é") != ArchivePartition("e\u{301}"))
    #expect(ArchiveKey(bytes: [1, 2], partition: "") != ArchiveKey(bytes: [2], partition: "\u{1}"))
  }
}
