import Foundation
import Testing
import WaylayBase

@Suite("Digests", .timeLimit(.minutes(5)))
struct DigestTests {
  @Test("are those of RFC 1321 and FIPS 180-4")
  func vectors() {
    #expect(MessageDigest.md5("".utf8) == "d41d8cd98f00b204e9800998ecf8427e")
    #expect(MessageDigest.md5("message digest".utf8) == "f96b697d7cb7938d525a2f31aaf161d0")
    #expect(
      MessageDigest.sha256("abc".utf8) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      MessageDigest.sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8)
        == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
  }

  @Test("pad a message that ends at any place of a block")
  func lengths() {
    let digests = (0...130).map { MessageDigest.sha256(Array(repeating: 0x61, count: $0)) }
    #expect(Set(digests).count == 131)
    #expect(digests[55] == "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318")
    #expect(digests[56] == "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a")
    #expect(digests[64] == "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb")
  }
}
