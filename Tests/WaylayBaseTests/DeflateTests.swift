import Foundation
import Testing
import WaylayBase

@Suite("Compression by zlib")
struct DeflateTests {
  private let text = Data(String(repeating: "once upon a time ", count: 500).utf8)

  @Test("gives back what it was given, in each format, and refuses what is cut off or too large")
  func roundTrip() throws {
    #expect(Deflate.isAvailable)
    for format in [Deflate.Format.raw, .zlib, .gzip] {
      let compressed = try #require(Deflate.compressed(text, as: format))
      #expect(compressed.count < text.count / 10)
      #expect(Deflate.inflated(compressed, as: format, limit: text.count) == text)
      #expect(Deflate.inflated(compressed, as: format, limit: 1 << 30) == text)
      #expect(Deflate.inflated(compressed, as: format, limit: text.count - 1) == nil)
      #expect(Deflate.inflated(compressed.dropLast(5), as: format, limit: text.count) == nil)
      #expect(Deflate.inflated(Data(), as: format, limit: 10) == nil)
      let empty = try #require(Deflate.compressed(Data(), as: format))
      #expect(Deflate.inflated(empty, as: format, limit: 0) == Data())
    }
    let noise = Data((0..<5000).map { _ in UInt8.random(in: 0...255) })
    #expect(Deflate.compressed(noise, room: noise.count - noise.count / 8) == nil)
    #expect(Deflate.compressed(noise).flatMap { Deflate.inflated($0, limit: noise.count) } == noise)
  }

  @Test("reads members of gzip that follow each other, and what grows a thousandfold only up to its limit")
  func members() throws {
    let one = try #require(Deflate.compressed(text, as: .gzip))
    #expect(Deflate.inflated(one + one, as: .gzip, limit: 1 << 20) == text + text)
    let bomb = try #require(Deflate.compressed(Data(count: 8 << 20), as: .gzip))
    #expect(bomb.count < 10_000)
    #expect(Deflate.inflated(bomb, as: .gzip, limit: 4 << 20) == nil)
    #expect(Deflate.inflated(bomb, as: .gzip, limit: 8 << 20)?.count == 8 << 20)
  }
}
