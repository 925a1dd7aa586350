package import Foundation
import HTTPTypes
package import WaylayArchive
import WaylayCore

/// A response that says which one it is, in its URL, in a field and in its body, so that a wrong byte of it shows and its
/// remains are found.
package struct Planted: Hashable, Sendable {
  /// Whose it is: a host and a partition each.
  package var owner: Int
  package var key: Int
  package var version: Int

  package init(_ owner: Int, _ key: Int, _ version: Int) {
    self.owner = owner
    self.key = key
    self.version = version
  }

  /// What was found that should not be.
  package struct Fault: Error, CustomStringConvertible {
    package let description: String
  }

  package var host: String { "p\(owner).example" }
  package var request: URLRequest {
    guard let url = URL(string: "https://\(host)/wlU.\(owner).\(key).0.") else { preconditionFailure("no URL") }
    return URLRequest(url: url)
  }

  private var mark: String { "\(owner).\(key).\(version)." }

  /// Its length depends on all of it, so that a mixture of two shows; one in eight is larger than a chunk.
  package var body: Data {
    var state = UInt64(truncatingIfNeeded: (key &* 1_000_003 &+ version) &* 64 &+ owner) &* 0x9E37_79B9_7F4A_7C15 | 1
    let length = Int(state >> 40) % (state >> 13 & 7 == 0 ? 200_000 : 9000)
    let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
      for index in 0..<length {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        buffer[index] = UInt8(truncatingIfNeeded: state >> 24)
      }
      count = length
    }
    return Data("wlB.\(mark)".utf8) + bytes + Data("wlE.\(mark)".utf8)
  }

  /// Numbers in a name of this form, with other bytes behind them.
  private init?(_ text: some Sequence<UInt8>) {
    var numbers: [Int] = []
    var number: Int?
    for byte in text {
      if byte == UInt8(ascii: "."), let known = number {
        numbers.append(known)
        number = nil
        if numbers.count == 3 { break }
      } else if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte), number ?? 0 < 1 << 50 {
        number = (number ?? 0) * 10 + Int(byte - UInt8(ascii: "0"))
      } else {
        return nil
      }
    }
    guard numbers.count == 3 else { return nil }
    self.init(numbers[0], numbers[1], numbers[2])
  }

  // MARK: In an archive

  /// A configuration in which each owner has a partition, and all entries but those of the owner 0 are pinned.
  package static func configure(_ configuration: inout ArchiveCache.Configuration) {
    configuration.partition = { $0.url?.host }
    configuration.willStore = { $0.isPinned = $0.request.url?.host != Planted(0, 0, 0).host }
  }

  package func store(in archive: ArchiveCache) async throws {
    let fields = ["Cache-Control": "max-age=100000", "X-Planted": "wlF.\(mark)"]
    guard let url = request.url,
      let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields)
    else { preconditionFailure("no response") }
    try await archive.store(response, body: body, for: request)
  }

  /// The version that an archive has of this one; `nil` for none, or one that cannot be read any more.
  ///
  /// - Throws: ``Fault`` for anything that was not stored as it is, and what the archive throws.
  package func version(in archive: ArchiveCache) async throws -> Int? {
    guard let found = try await archive.response(for: request) else { return nil }
    return try await check(found)
  }

  package func check(_ found: ArchivedResponse) async throws -> Int? {
    let field = found.fields[HTTPField.Name("X-Planted")!] ?? ""
    guard field.hasPrefix("wlF."), let head = Planted(field.utf8.dropFirst(4)), (head.owner, head.key) == (owner, key)
    else { throw Fault(description: "\(self): a head that says \(field)") }
    let body: Data
    do {
      body = try await found.body().collect(upTo: 1 << 20)
    } catch let error as ArchiveError where error.code == .unreadable {
      return nil
    }
    guard body == head.body else { throw Fault(description: "\(head): a wrong body of \(body.count) bytes") }
    return head.version
  }

  // MARK: In a directory

  /// What the files of a directory say, of whatever age: nothing of a directory that is none.
  package static func remains(in directory: URL) -> Remains {
    var remains = Remains()
    guard let files = FileManager.default.enumerator(atPath: directory.path) else { return remains }
    for case let path as String in files {
      guard let data = try? Data(contentsOf: directory.appendingPathComponent(path)) else { continue }
      data.withUnsafeBytes { remains.add($0) }
    }
    return remains
  }

  /// The names found, by where each was planted.
  package struct Remains: Sendable {
    package private(set) var urls: Set<Planted> = []
    package private(set) var fields: Set<Planted> = []
    package private(set) var bodies: Set<Planted> = []

    /// All that is left of one response.
    package func parts(of planted: Planted) -> [String] {
      var url = planted
      url.version = 0
      return (urls.contains(url) ? ["URL"] : []) + (fields.contains(planted) ? ["field"] : [])
        + (bodies.contains(planted) ? ["body"] : [])
    }

    fileprivate mutating func add(_ bytes: UnsafeRawBufferPointer) {
      guard let start = bytes.baseAddress else { return }
      var place = 0
      while place + 10 < bytes.count,
        let found = memchr(start + place, Int32(UInt8(ascii: "w")), bytes.count - place - 10)
      {
        place = UnsafeRawPointer(found) - start + 1
        guard bytes[place] == UInt8(ascii: "l"), bytes[place + 2] == UInt8(ascii: "."),
          let planted = Planted(bytes[(place + 3)...].prefix(60))
        else { continue }
        switch bytes[place + 1] {
        case UInt8(ascii: "U"): urls.insert(planted)
        case UInt8(ascii: "F"): fields.insert(planted)
        case UInt8(ascii: "B"), UInt8(ascii: "E"): bodies.insert(planted)
        default: break
        }
      }
    }
  }
}
