import Foundation

extension Reply {
  static func echo(_ request: TestOrigin.Request) -> Reply {
    let echo = Echo(
      method: request.method, target: request.target, head: request.head,
      body: String(decoding: request.body, as: UTF8.self))
    return Reply(200, [("Content-Type", "application/json")], .whole((try? JSONEncoder().encode(echo)) ?? Data()))
  }

  static func chunked(_ text: String) -> Reply {
    Reply(200, [("Content-Type", "text/plain")], .chunks([Data(text.utf8)], pause: 0))
  }

  static func chunks(_ count: Int, pause: Int) -> Reply {
    let chunks = (1...max(1, count)).map { Data("chunk \($0)\n".utf8) }
    return Reply(200, [("Content-Type", "text/plain")], .chunks(chunks, pause: pause))
  }

  static func events(_ count: Int) -> Reply {
    let events = (1...max(1, count)).map { Data("id: \($0)\ndata: event \($0)\n\n".utf8) }
    return Reply(200, [("Content-Type", "text/event-stream")], .chunks(events, pause: 1))
  }

  static func cookies(_ request: TestOrigin.Request) -> Reply {
    let items = URLComponents(string: request.target)?.queryItems ?? []
    return .text("set", fields: items.map { ("Set-Cookie", "\($0.name)=\($0.value ?? "")") })
  }

  static func gzip(isBroken: Bool) -> Reply {
    let body = isBroken ? Data("not gzip".utf8) : Data("hello".utf8).gzipped
    return Reply(200, [("Content-Type", "text/plain"), ("Content-Encoding", "gzip")], .whole(body))
  }
}

// MARK: - Ranges

extension Reply {
  /// Bytes of a pattern with an entity tag, whole or in part (RFC 9110, section 14). Several ranges at once are
  /// answered with the whole.
  static func range(_ request: TestOrigin.Request, count: Int) -> Reply {
    let tag = "\"pattern-\(count)\""
    let fields = [("Content-Type", "application/octet-stream"), ("Accept-Ranges", "bytes"), ("ETag", tag)]
    if request["If-None-Match"].contains(tag) { return Reply(304, fields) }

    let isCurrent = request["If-Range"].allSatisfy { $0 == tag }
    guard isCurrent, let header = request["Range"].first, let range = ByteRange(header, count: count) else {
      return Reply(200, fields, pattern(0..<count, of: request))
    }
    guard !range.bytes.isEmpty else { return Reply(416, fields + [("Content-Range", "bytes */\(count)")]) }
    let position = "bytes \(range.bytes.lowerBound)-\(range.bytes.upperBound - 1)/\(count)"
    return Reply(206, fields + [("Content-Range", position)], pattern(range.bytes, of: request))
  }

  private static func pattern(_ bytes: Range<Int>, of request: TestOrigin.Request) -> Body {
    let pattern = Data(bytes.map { UInt8($0 % 251) })
    guard let cut = request.query("cut").flatMap(Int.init) else { return .whole(pattern) }
    return .truncated(pattern.prefix(cut), declared: pattern.count)
  }
}

/// A `Range` field with one range of bytes.
private struct ByteRange {
  /// The bytes; empty when there are none of them.
  let bytes: Range<Int>

  /// `nil` when the field is to be ignored.
  init?(_ header: String, count: Int) {
    guard header.hasPrefix("bytes="), !header.contains(",") else { return nil }
    let bounds = header.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard bounds.count == 2 else { return nil }
    switch (Int(bounds[0]), Int(bounds[1])) {
    case (let first?, let last?) where first <= last: bytes = min(first, count)..<min(last + 1, count)
    case (let first?, nil) where bounds[1].isEmpty: bytes = min(first, count)..<count
    case (nil, let length?) where bounds[0].isEmpty: bytes = max(0, count - length)..<count
    default: return nil
    }
  }
}

/// What `/echo` answers, as JSON.
public struct Echo: Codable, Sendable {
  /// The method.
  public let method: String
  /// Path and query.
  public let target: String
  /// Request line and header fields.
  public let head: String
  /// The body as text.
  public let body: String
}
