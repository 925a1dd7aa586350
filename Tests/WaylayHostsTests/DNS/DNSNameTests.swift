import Testing
import WaylayCore

@testable import WaylayHosts

@Suite("Names in DNS messages", .timeLimit(.minutes(5)))
struct DNSNameTests {
  /// Reads the name that begins at a place of some bytes.
  private func read(_ bytes: [UInt8], at place: Int = 0, allowsPointers: Bool = true) throws -> DNSName {
    var reader = DNSReader(bytes)
    _ = try reader.bytes(place)
    return try reader.name(allowsPointers: allowsPointers)
  }

  @Test("are read in lower case, with and without a pointer")
  func reading() throws {
    let bytes: [UInt8] = [3, 0x41, 0x50, 0x49, 2, 0x64, 0x65, 0] + [3, 0x77, 0x77, 0x77, 0xC0, 4]
    #expect(try read(bytes) == DNSName("api.de"))
    #expect(try read(bytes, at: 8) == DNSName("www.de"))
    #expect(throws: HostError.self) { try read(bytes, at: 8, allowsPointers: false) }
  }

  @Test(
    "that point at themselves, forward, in a circle or out of the message are refused",
    arguments: [
      [0xC0, 0], [0xC0, 2, 0], [0xC0, 0xFF], [0xC0], [1, 0x61, 0xC0, 0], [1, 0x61, 0xC0, 2], [0x40, 0], [0x80, 0],
      [5, 0x61], [1],
      [],
    ] as [[UInt8]])
  func circles(bytes: [UInt8]) {
    #expect(throws: HostError.self) { try read(bytes) }
  }

  @Test("that go around two pointers are refused")
  func twoPointers() {
    // At 0 a pointer to 2, at 2 a pointer to 0: read from 2.
    #expect(throws: HostError.self) { try read([0xC0, 2, 0xC0, 0], at: 2) }
  }

  @Test("end at 255 bytes, and a chain of pointers at 64")
  func limits() throws {
    let label = [UInt8](repeating: 0x61, count: 63)
    let longest = Array(repeating: [63] + label, count: 3).joined() + [61] + label.prefix(61) + [0]
    #expect(longest.count == 255)
    #expect(try read(Array(longest)).wire.count == 254)
    let tooLong = Array(repeating: [63] + label, count: 3).joined() + [62] + label.prefix(62) + [0]
    #expect(throws: HostError.self) { try read(Array(tooLong)) }
    #expect(throws: HostError.self) { try DNSName(String(repeating: "a", count: 64)) }
    #expect(throws: HostError.self) { try DNSName(Array(repeating: "abcdefg", count: 33).joined(separator: ".")) }
    #expect(throws: HostError.self) { try DNSName("a..b") }
    func chain(_ count: Int) -> [UInt8] {
      [0]
        + (0..<count).flatMap { index -> [UInt8] in
          let target = index == 0 ? 0 : 1 + 2 * (index - 1)
          return [0xC0 | UInt8(target >> 8), UInt8(target & 255)]
        }
    }
    #expect(try read(chain(64), at: 1 + 2 * 63) == .root)
    #expect(throws: HostError.self) { try read(chain(65), at: 1 + 2 * 64) }
  }

  @Test("are written with pointers, and read as what they were")
  func writing() throws {
    var writer = DNSWriter()
    let names = try ["api.example.com", "www.example.com", "example.com", "api.example.com"].map { try DNSName($0) }
    for name in names { writer.name(name) }
    #expect(writer.bytes.count == 17 + 6 + 2 + 2)
    var reader = DNSReader(writer.bytes)
    for name in names { #expect(try reader.name() == name) }
    #expect(reader.remaining == 0)
  }

  @Test("show bytes that are not letters as numbers")
  func text() throws {
    #expect(try read([3, 0x61, 0x2E, 0x62, 2, 0, 0x5C, 0]).description == "a\\046b.\\000\\092")
    #expect(DNSName.root.description == ".")
  }
}
