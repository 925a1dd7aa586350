import Foundation

/// A body in memory.
struct MemoryBody: StoredBody {
  let data: Data

  var length: Int64 { Int64(data.count) }
  var inMemory: Data? { data }
  var isMapped: Bool { false }

  func read(_ range: Range<Int64>) async throws -> Data {
    guard range.lowerBound >= 0, range.upperBound <= length else { throw ArchiveError.beyondTheEnd(range, length) }
    guard range.count < data.count else { return data }
    return data[data.startIndex + Int(range.lowerBound)..<data.startIndex + Int(range.upperBound)]
  }
}

extension ArchiveError {
  static func beyondTheEnd(_ range: Range<Int64>, _ length: Int64) -> ArchiveError {
    ArchiveError(.unreadable, "bytes \(range) were requested of a stored body of \(length): request a part of it.")
  }
}
